/* SPDX-License-Identifier: MIT */
/*
 * The table `parts` has a row for each part of a request: where its facts are, and how to say a difference. The facts
 * of both requests become items, which are matched: items with the same text first, then -I options with the same
 * directory below a root, then items with the same name. Matched items can differ in content; an item without
 * a match is new or gone.
 */
#include "cli/explain/differences.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NEW: only the request `now` has the item. GONE: only the request `was` has it. */
enum way { CHANGED, NEW, GONE, WAYS };

struct part {
	enum about_kind about;
	/* "": all facts of the kind. If it ends with a blank, the name of a header, variable or input follows. */
	const char *fact;
	enum about_kind shown; /* the first fact of this kind is the value; 0: only a digest is known */
	const char *with;      /* reported only if this part is the same in both requests; NULL: always */
	enum difference_topic topic;
	unsigned weight;  /* in the distance of two requests */
	const char *name; /* in messages; "": that of the fact */
	/*
	 * %n and %w are the values now and before, %t is the compiler's title, and %b is the option that makes the
	 * result path-dependent. NULL: such a difference is not reported.
	 */
	const char *says[WAYS];
};

/* The texts for a changed, new and gone part. */
#define VALUE    "%n   was %w", "%n   is new", "%w   is gone"
#define CONTENT  "has changed", "is new", "is gone"
#define CONTENTS "have changed", "are new", "are gone"
#define SETTING  "has another value", "is set, and was not", "is not set, and was"
#define GIVEN    "has changed (given in memory)", "is new (given in memory)", "is gone (given in memory)"
#define ROUNDING \
	"the thread's rounding mode, or its flushing of denormal numbers, differs; constants are folded with it"
#define SOURCE "has changed (source text is not stored, so the lines are not known)"
#define PLACE  "bound to %w%b; now it is %n"
#define PWD    "$PWD is spelled differently, and the entry is bound to it%b"

#define PART(fact, ...) {ABOUT_PART, fact, 0, NULL, __VA_ARGS__}

static const struct part parts[] = {
    {ABOUT_PART, "compiler", ABOUT_RELEASE, NULL, DIFFERENCE_COMPILER, 30, "compiler", {"%t %n   was %w"}},
    /* compare_program() */
    PART("program name", DIFFERENCE_PATHS, 0, "program name", {NULL}),
    /* a source that only one request has: the other recorded an earlier compilation of the handle instead */
    PART("source", DIFFERENCE_SOURCE, 60, "source", {SOURCE}),
    PART("input ", DIFFERENCE_SOURCE, 10, "", {CONTENT}),
    PART("module ", DIFFERENCE_SOURCE, 10, "", {CONTENT}),
    PART("header ", DIFFERENCE_REST, 8, "header", {GIVEN}),
    PART("variable ", DIFFERENCE_REST, 4, "variable", {SETTING}),
    PART("rounding mode", DIFFERENCE_REST, 4, "arithmetic mode", {ROUNDING, ROUNDING, ROUNDING}),
    PART("decimals", DIFFERENCE_REST, 4, "decimals of the locale", {CONTENTS}),
    PART("namespace", DIFFERENCE_REST, 6, "namespace", {SETTING}),
    PART("earlier compiles", DIFFERENCE_EARLIER, 8, "earlier compiles of the handle", {CONTENTS}),
    PART("earlier inputs", DIFFERENCE_EARLIER, 8, "earlier inputs", {CONTENTS}),
    /* only path-dependent requests have these two, and $PWD matters only in the same directory */
    {ABOUT_PART, "working directory", ABOUT_BOUND, NULL, DIFFERENCE_PATHS, 3, "bound path", {PLACE}},
    {ABOUT_PART, "PWD", 0, "working directory", DIFFERENCE_PATHS, 3, "bound path", {PWD, PWD, PWD}},
    /* that a newer version of the library has recorded, and that this version does not know */
    PART("", DIFFERENCE_REST, 8, "part", {CONTENT}),
    {ABOUT_OPTION, "", 0, NULL, DIFFERENCE_REST, 4, "option", {VALUE}},
    {ABOUT_EXPRESSION, "", 0, NULL, DIFFERENCE_REST, 5, "name expression", {VALUE}},
};

/* Another name, and another directory of the same name. */
static const struct part renamed = {0, "", 0, NULL, DIFFERENCE_REST, 40, "program name", {VALUE}};
static const struct part moved = {0, "", 0, NULL, DIFFERENCE_PATHS, 3, "program name", {VALUE}};

struct item {
	const struct part *part;
	struct span text;      /* of the fact */
	const uint8_t *digest; /* NULL: the text is all there is */
	struct span value;     /* that is printed; empty if only a digest is known */
	struct span name;      /* items with the same name are compared */
	struct item *partner;  /* the matching item of the other request */
	/* of a directory of -I below a root: the option, the root's number, from 1, and the text behind the root */
	const char *head;
	size_t root;
	struct span rest;
};

struct items {
	struct item *list; /* NULL: out of memory */
	size_t count;
};

struct comparison {
	const struct request *now, *was;
	struct differences *differences;
};

/* In the order in which items are matched: equal texts first, so that no moved directory takes the partner of one. */
enum likeness { SAME_TEXT, SAME_PLACE, SAME_NAME, LIKENESSES };

/* Returns the row of a fact, and the part of the fact's text that is printed. */
static const struct part *find_part(enum about_kind about, struct span fact, struct span *ret_of)
{
	const struct part *part = parts;

	/* ends, because the last row of each kind is for all facts */
	for (;; part++) {
		const char *end = strchr(part->fact, '\0');
		bool is_head = end == part->fact || end[-1] == ' ';

		if (part->about == about && span_behind(fact, span_text(part->fact), ret_of) &&
		    (is_head || ret_of->size == 0)) {
			*ret_of = *part->name ? *ret_of : fact;
			return part;
		}
	}
}

/* Returns whether both requests have a digest of a part, and whether they are equal. */
static bool compare_digests(const struct request *now, const struct request *was, const char *name, bool *ret_equal)
{
	const uint8_t *now_part = request_part(now, name), *was_part = request_part(was, name);

	*ret_equal = now_part && was_part && memcmp(now_part, was_part, ABOUT_DIGEST_BYTES) == 0;
	return now_part && was_part;
}

/* Adds a difference of two items, one of which may be NULL. */
static void add(struct comparison *comparison, const struct part *part, enum way way, const struct item *now,
                const struct item *was)
{
	struct differences *differences = comparison->differences;
	const struct item *item = now ? now : was;
	struct difference difference = {.name = part->name, .saying = part->says[way]};
	struct difference *grown;
	bool is_equal;

	if (!part->says[way] ||
	    (part->with && !(compare_digests(comparison->now, comparison->was, part->with, &is_equal) && is_equal))) {
		return;
	}
	difference.of = item->digest ? item->text : difference.of;
	difference.now = now ? now->value : difference.now;
	difference.was = was ? was->value : difference.was;
	if (part->shown == ABOUT_RELEASE && span_equal(difference.now, difference.was)) {
		difference.saying = "%t %n is another build";
	}
	/* also without memory for the difference, so that the choice of the closest entry does not depend on memory */
	differences->weight += part->weight;
	differences->topics |= part->topic;
	grown = realloc(differences->list, (differences->count + 1) * sizeof(*grown));
	if (grown) {
		differences->list = grown;
		grown[differences->count++] = difference;
	}
}

static bool is_like(enum likeness likeness, const struct item *now, const struct item *was)
{
	if (now->part != was->part) {
		return false;
	}
	switch (likeness) {
	case SAME_TEXT:
		return span_equal(now->text, was->text);
	case SAME_PLACE:
		return now->root != 0 && now->root == was->root && now->head == was->head &&
		       span_equal(now->rest, was->rest);
	default:
		return span_equal(now->name, was->name);
	}
}

/* Finds the root that contains the directory of -I, which may be a string of its own. */
static void find_root(struct item *item, const struct request *request)
{
	static const char *const heads[] = {"--include-path=", "--include-path", "-I=", "-I", ""};
	struct span path;
	const char *const *head = heads;

	/* ends, because every text begins with the last head */
	while (!span_behind(item->text, span_text(*head), &path)) {
		head++;
	}
	item->head = *head;
	for (size_t i = 0; i < request->counts[ABOUT_ROOT] && item->root == 0; i++) {
		if (span_behind(path, span_of(&request->facts[ABOUT_ROOT][i]), &item->rest) &&
		    (item->rest.size == 0 || *(const char *)item->rest.bytes == '/')) {
			item->root = i + 1;
		}
	}
}

/*
 * Returns the name of an option: "-DN" of "-DN=4", "-arch" of "-arch=sm_90", "-I" of every option that begins so. A
 * text without a dash is the value of the option before it: it has no name.
 */
static struct span find_option_name(struct span option)
{
	const char *text = option.bytes, *end = memchr(text, '=', option.size);
	size_t size = end ? (size_t)(end - text) : option.size;

	if (option.size > 0 && *text != '-') {
		return (struct span){text, 0};
	}
	return (struct span){text, option.size >= 2 && memcmp(text, "-I", 2) == 0 ? 2 : size};
}

/* Returns what is printed of a part: the full release, if its request has it. */
static struct span find_value(const struct request *request, enum about_kind shown)
{
	return request_text(request, shown == ABOUT_RELEASE && request->counts[ABOUT_BUILD] ? ABOUT_BUILD : shown);
}

/* Returns the facts of a kind. The caller frees the list. */
static struct items take_items(const struct request *request, enum about_kind about)
{
	struct items items = {.count = request->counts[about]};

	items.list = calloc(items.count + 1, sizeof(*items.list));
	for (size_t i = 0; i < items.count && items.list; i++) {
		const struct about_fact *fact = &request->facts[about][i];
		struct item *item = &items.list[i];

		item->digest = fact->digest;
		item->part = find_part(about, span_of(fact), &item->text);
		item->name = item->text;
		item->value = fact->digest ? find_value(request, item->part->shown) : item->text;
		if (about == ABOUT_OPTION) {
			find_root(item, request);
			item->name = find_option_name(item->text);
		}
	}
	return items;
}

static void match_items(enum likeness likeness, const struct items *now, const struct items *was)
{
	for (size_t i = 0; i < now->count; i++) {
		for (size_t j = 0; j < was->count && !now->list[i].partner; j++) {
			if (!was->list[j].partner && is_like(likeness, &now->list[i], &was->list[j])) {
				now->list[i].partner = &was->list[j];
				was->list[j].partner = &now->list[i];
			}
		}
	}
}

/* Returns whether two matched items differ: they are options with the same name, or have another digest. */
static bool is_changed(const struct item *now, const struct item *was)
{
	return now->digest ? memcmp(now->digest, was->digest, ABOUT_DIGEST_BYTES) != 0
	                   : !is_like(SAME_TEXT, now, was) && !is_like(SAME_PLACE, now, was);
}

static void compare_items(struct comparison *comparison, enum about_kind about)
{
	struct items now = take_items(comparison->now, about), was = take_items(comparison->was, about);

	if (!now.list || !was.list) {
		now.count = was.count = 0;
	}
	for (int likeness = 0; likeness < LIKENESSES; likeness++) {
		match_items((enum likeness)likeness, &now, &was);
	}
	for (struct item *item = now.list; item < now.list + now.count; item++) {
		if (!item->partner) {
			add(comparison, item->part, NEW, item, NULL);
		} else if (is_changed(item, item->partner)) {
			add(comparison, item->part, CHANGED, item, item->partner);
		}
	}
	/* a cut record does not have all facts, so a missing part does not mean that it is gone */
	for (struct item *item = was.list; item < was.list + was.count && !comparison->now->is_cut; item++) {
		if (!item->partner) {
			add(comparison, item->part, GONE, NULL, item);
		}
	}
	free(now.list);
	free(was.list);
}

/*
 * Returns what of the directory of a program's name is in the key of an NVRTC request that is not path-dependent: 0: it
 * has none, 1: it is relative, 2: it is absolute.
 */
static int find_name_place(struct span program)
{
	bool has_directory = span_base(program).size < program.size;

	return has_directory && *(const char *)program.bytes == '/' ? 2 : has_directory;
}

/*
 * Compares the directory of the name only if it is in the key: the request is path-dependent, or the name is relative.
 * The directory of an absolute name is a root, and any two roots are equal. A name with a root differs from a name
 * without one.
 */
static void compare_program(struct comparison *comparison)
{
	const struct request *now = comparison->now, *was = comparison->was;
	const struct item name = {.value = request_text(now, ABOUT_PROGRAM)},
	                  before = {.value = request_text(was, ABOUT_PROGRAM)};
	bool is_equal, is_known = compare_digests(now, was, "program name", &is_equal);

	if (!span_equal(span_base(name.value), span_base(before.value))) {
		add(comparison, &renamed, CHANGED, &name, &before);
	} else if ((is_known && !is_equal) || (request_is(now, ABOUT_COMPILER, "nvrtc") &&
	                                       find_name_place(name.value) != find_name_place(before.value))) {
		add(comparison, &moved, CHANGED, &name, &before);
	}
}

void differences_find(const struct request *now, const struct request *was, struct differences *ret_differences)
{
	static const enum about_kind lists[] = {ABOUT_PART, ABOUT_OPTION, ABOUT_EXPRESSION};
	struct comparison comparison = {now, was, ret_differences};

	*ret_differences = (struct differences){.count = 0};
	compare_program(&comparison);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		compare_items(&comparison, lists[i]);
	}
}

void differences_free(struct differences *differences)
{
	free(differences->list);
	*differences = (struct differences){.count = 0};
}

bool differences_are_paths(const struct differences *differences, const struct request *now)
{
	struct span binder = request_binder(now);

	return differences->topics == DIFFERENCE_PATHS && binder.size > 0 && !span_is(binder, "-pch") &&
	       !span_is(binder, "--pch");
}

static bool share_source(const struct request *now, const struct request *was)
{
	for (size_t i = 0; i < now->counts[ABOUT_PART]; i++) {
		const struct about_fact *part = &now->facts[ABOUT_PART][i], *before = request_find(was, span_of(part));
		struct span of;

		if (before && find_part(ABOUT_PART, span_of(part), &of)->topic == DIFFERENCE_SOURCE &&
		    memcmp(before->digest, part->digest, ABOUT_DIGEST_BYTES) == 0) {
			return true;
		}
	}
	return false;
}

bool differences_related(const struct request *now, const struct request *was)
{
	struct span program = request_text(now, ABOUT_PROGRAM);
	/* these two names are defaults for programs without a name */
	bool is_named = program.size > 0 && !span_is(program, "default_program") && !span_is(program, "<unnamed>");

	/* an input that is added first to a link is not compared with one that is added later */
	if (!span_equal(request_text(now, ABOUT_COMPILER), request_text(was, ABOUT_COMPILER)) ||
	    !span_equal(request_text(now, ABOUT_STEP), request_text(was, ABOUT_STEP)) ||
	    !request_part(now, "earlier inputs") != !request_part(was, "earlier inputs")) {
		return false;
	}
	return (is_named && span_equal(span_base(program), span_base(request_text(was, ABOUT_PROGRAM)))) ||
	       share_source(now, was);
}

/* ---- in words ---- */

void differences_spell(const struct difference *difference, const struct request *now,
                       struct difference_words *ret_words)
{
	FILE *out = fmemopen(ret_words->words, sizeof(ret_words->words) - 1, "w");
	struct span binder = request_binder(now);
	const char *saying = difference->saying;

	memset(ret_words->words, 0, sizeof(ret_words->words));
	snprintf(ret_words->what, sizeof(ret_words->what), "%s%s%.*s", difference->name,
	         *difference->name && difference->of.size ? " " : "", SPAN(difference->of));
	for (const char *mark; out && (mark = strchr(saying, '%')) != NULL; saying = mark + 2) {
		struct span text = mark[1] == 'n'   ? difference->now
		                   : mark[1] == 'w' ? difference->was
		                   : mark[1] == 't' ? request_text(now, ABOUT_TITLE)
		                                    : binder;
		bool is_value = mark[1] == 'n' || mark[1] == 'w';

		fprintf(out, "%.*s%s%.*s%s", (int)(mark - saying), saying, mark[1] == 'b' && binder.size ? " by " : "",
		        SPAN(text), is_value && text.size == 0 ? "\"\"" : "");
	}
	if (out) {
		fputs(saying, out);
		fclose(out);
	}
}
