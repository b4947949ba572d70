/* SPDX-License-Identifier: MIT */
/*
 * The facts of two requests are matched: those with the same text first, then -I options with the same directory below
 * a root, then facts with the same name. Those that only the name matches have changed; a fact without a match is new
 * or gone.
 */
#include "cli/explain/differences.h"

#include <stdlib.h>
#include <string.h>

/* In the order in which facts are matched: equal texts first, so that no moved directory takes the partner of one. */
enum likeness { SAME_TEXT, SAME_PLACE, SAME_NAME };

static bool is_source(struct span part)
{
	struct span rest;

	return span_is(part, "source") || span_behind(part, span_text("input "), &rest) ||
	       span_behind(part, span_text("module "), &rest);
}

static bool is_same_digest(const uint8_t *one, const uint8_t *other)
{
	return one && other ? memcmp(one, other, ABOUT_DIGEST_BYTES) == 0 : one == other;
}

/*
 * Returns the name of a fact: "-DN" of the option -DN=4, "-arch" of -arch=sm_90, "-I" of every option that begins so. A
 * text without a dash is the value of the option before it: it has no name.
 */
static struct span name_of(const struct about_fact *fact)
{
	const char *end = memchr(fact->text, '=', fact->size);

	if (fact->digest) {
		return span_of(fact);
	}
	if (fact->size == 0 || *fact->text != '-') {
		return (struct span){fact->text, 0};
	}
	return (struct span){fact->text, fact->size >= 2 && fact->text[1] == 'I' ? 2
	                                 : end                                   ? (size_t)(end - fact->text)
	                                                                         : fact->size};
}

/* Returns the number, from 1, of the root that contains the directory of -I, which may be a string of its own. */
static size_t find_root(const struct request *request, const struct about_fact *fact, struct span *ret_rest)
{
	struct span name = name_of(fact), path = span_of(fact);
	bool is_include = name.size == 0 || span_is(name, "-I") || span_is(name, "--include-path");

	(void)span_behind(path, name, &path);
	(void)span_behind(path, span_text("="), &path);
	for (size_t i = 0; is_include && i < request->counts[ABOUT_ROOT]; i++) {
		if (span_behind(path, span_of(&request->facts[ABOUT_ROOT][i]), ret_rest) &&
		    (ret_rest->size == 0 || *(const char *)ret_rest->bytes == '/')) {
			return i + 1;
		}
	}
	return 0;
}

static bool is_like(enum likeness likeness, const struct request *now, const struct about_fact *ours,
                    const struct request *was, const struct about_fact *theirs)
{
	struct span rest, other;
	size_t root;

	if (likeness == SAME_TEXT) {
		return span_equal(span_of(ours), span_of(theirs)) && is_same_digest(ours->digest, theirs->digest);
	}
	if (!span_equal(name_of(ours), name_of(theirs))) {
		return false;
	}
	root = likeness == SAME_PLACE && !ours->digest ? find_root(now, ours, &rest) : 0;
	return likeness == SAME_NAME ||
	       (root != 0 && root == find_root(was, theirs, &other) && span_equal(rest, other));
}

/* Returns what is printed of a fact; without bytes if only a digest is known. */
static struct span value_of(const struct request *request, const struct about_fact *fact)
{
	if (fact && !fact->digest) {
		return span_of(fact);
	}
	if (fact && span_is(span_of(fact), "compiler")) {
		return request_text(request, request->counts[ABOUT_BUILD] ? ABOUT_BUILD : ABOUT_RELEASE);
	}
	return fact && span_is(span_of(fact), "working directory") ? request_text(request, ABOUT_BOUND)
	                                                           : (struct span){NULL, 0};
}

/* Adds a difference of two facts, one of which may be NULL. The program's name is compared apart. */
static void add(struct differences *differences, const struct request *now, const struct about_fact *ours,
                const struct request *was, const struct about_fact *theirs)
{
	const struct about_fact *fact = ours ? ours : theirs;
	struct difference difference = {.what = span_of(fact),
	                                .now = value_of(now, ours),
	                                .was = value_of(was, theirs),
	                                .way = !theirs ? "is new"
	                                       : ours  ? "has changed"
	                                               : "is gone"};

	if (fact->digest && span_is(difference.what, "program name")) {
		return;
	}
	differences->paths += span_is(difference.what, "PWD") || span_is(difference.what, "working directory");
	differences->weight += !fact->digest ? 1 : is_source(difference.what) ? 16 : 2;
	if (fact->kind == ABOUT_PROGRAM) {
		difference.what = span_text("program name");
	} else if (!fact->digest) {
		difference.what = span_text(fact->kind == ABOUT_OPTION ? "option" : "name expression");
	} else if (span_is(difference.what, "compiler")) {
		difference.what = request_text(now, ABOUT_TITLE);
	}
	if (differences->count < DIFFERENCES_MAX) {
		differences->list[differences->count] = difference;
	}
	differences->count++;
}

static void compare_facts(const struct request *now, const struct request *was, enum about_kind kind,
                          struct differences *differences)
{
	const struct about_fact *ours = now->facts[kind], *theirs = was->facts[kind];
	size_t count = now->counts[kind], other_count = was->counts[kind];
	bool *matched = calloc(count + other_count + 1, sizeof(*matched)), *taken = matched + count;

	for (enum likeness likeness = SAME_TEXT; matched && likeness <= SAME_NAME; likeness++) {
		for (size_t i = 0; i < count; i++) {
			for (size_t j = 0; j < other_count && !matched[i]; j++) {
				if (taken[j] || !is_like(likeness, now, &ours[i], was, &theirs[j])) {
					continue;
				}
				matched[i] = taken[j] = true;
				if (likeness == SAME_NAME) {
					add(differences, now, &ours[i], was, &theirs[j]);
				}
			}
		}
	}
	for (size_t i = 0; matched && i < count; i++) {
		if (!matched[i]) {
			add(differences, now, &ours[i], was, NULL);
		}
	}
	/* a cut record does not have all facts, so a missing part does not mean that it is gone */
	for (size_t j = 0; matched && j < other_count && !now->is_cut; j++) {
		if (!taken[j]) {
			add(differences, now, NULL, was, &theirs[j]);
		}
	}
	free(matched);
}

/* Compares the directory of the name only if it is in the key: then it is a part of the request. */
static void compare_program(const struct request *now, const struct request *was, struct differences *differences)
{
	struct span name = request_text(now, ABOUT_PROGRAM), before = request_text(was, ABOUT_PROGRAM);
	bool is_renamed = !span_equal(span_base(name), span_base(before));
	bool is_moved =
	    !is_same_digest(request_part(now, span_text("program name")), request_part(was, span_text("program name")));

	if (is_renamed || (is_moved && !span_equal(name, before))) {
		add(differences, now, now->facts[ABOUT_PROGRAM], was, was->facts[ABOUT_PROGRAM]);
		differences->paths += !is_renamed;
	}
}

void differences_find(const struct request *now, const struct request *was, struct differences *ret_differences)
{
	*ret_differences = (struct differences){.count = 0};
	compare_program(now, was, ret_differences);
	compare_facts(now, was, ABOUT_PART, ret_differences);
	compare_facts(now, was, ABOUT_OPTION, ret_differences);
	compare_facts(now, was, ABOUT_EXPRESSION, ret_differences);
}

bool differences_related(const struct request *now, const struct request *was)
{
	struct span program = request_text(now, ABOUT_PROGRAM);
	/* these two names are defaults for programs without a name */
	bool is_named = program.size > 0 && !span_is(program, "default_program") && !span_is(program, "<unnamed>");
	bool is_related = is_named && span_equal(span_base(program), span_base(request_text(was, ABOUT_PROGRAM)));

	/* links have several inputs of one name */
	for (size_t i = 0; i < now->counts[ABOUT_PART]; i++) {
		const struct about_fact *ours = &now->facts[ABOUT_PART][i];

		for (size_t j = 0; j < was->counts[ABOUT_PART] && !is_related && is_source(span_of(ours)); j++) {
			is_related = is_like(SAME_TEXT, now, ours, was, &was->facts[ABOUT_PART][j]);
		}
	}
	return is_related && span_equal(request_text(now, ABOUT_COMPILER), request_text(was, ABOUT_COMPILER)) &&
	       span_equal(request_text(now, ABOUT_STEP), request_text(was, ABOUT_STEP));
}
