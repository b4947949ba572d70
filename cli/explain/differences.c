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

struct part {
	enum about_kind about;
	/* "": all facts of the kind. If it ends with a blank, the name of a header, variable or input follows. */
	const char *fact;
	enum about_kind shown; /* the first fact of this kind is the value; 0: only a digest is known */
	enum difference_topic topic;
	unsigned weight;  /* in the distance of two requests; 0: such a difference is not reported */
	const char *name; /* in messages; "": that of the fact */
	bool is_shared;   /* reported only if both requests have it */
};

#define PART(fact, topic, weight, name) {ABOUT_PART, fact, 0, topic, weight, name, false}

static const struct part parts[] = {
    {ABOUT_PART, "compiler", ABOUT_RELEASE, DIFFERENCE_REST, 30, "", false}, /* the title follows */
    PART("program name", DIFFERENCE_PATHS, 0, ""),                           /* compare_program() */
    /* a request without a source records an earlier compilation of the handle instead */
    {ABOUT_PART, "source", 0, DIFFERENCE_SOURCE, 60, "source", true},
    PART("input ", DIFFERENCE_SOURCE, 10, ""),
    PART("module ", DIFFERENCE_SOURCE, 10, ""),
    PART("header ", DIFFERENCE_REST, 8, "header in memory"),
    PART("variable ", DIFFERENCE_REST, 4, "variable"),
    PART("rounding mode", DIFFERENCE_REST, 4, "rounding mode or flushing of denormals"),
    PART("decimals", DIFFERENCE_REST, 4, "decimal point of the locale"),
    PART("namespace", DIFFERENCE_REST, 6, "namespace"),
    PART("earlier compiles", DIFFERENCE_REST, 8, "history of the handle"),
    PART("earlier inputs", DIFFERENCE_REST, 8, "earlier input"),
    /* only path-dependent requests have these two; the option that makes them so follows */
    {ABOUT_PART, "working directory", ABOUT_BOUND, DIFFERENCE_PATHS, 3, "path bound by", true},
    PART("PWD", DIFFERENCE_PATHS, 3, "variable PWD"),
    /* that a newer version of the library has recorded, and that this version does not know */
    PART("", DIFFERENCE_REST, 8, "part"),
    {ABOUT_OPTION, "", 0, DIFFERENCE_REST, 4, "option", false},
    {ABOUT_EXPRESSION, "", 0, DIFFERENCE_REST, 5, "name expression", false},
};

/* Another name, and another directory of the same name. */
static const struct part renamed = {0, "", 0, DIFFERENCE_REST, 40, "program name", false};
static const struct part moved = {0, "", 0, DIFFERENCE_PATHS, 3, "program name", false};

struct item {
	const struct part *part;
	struct span text;      /* of the fact */
	struct span of;        /* what follows the part's name in messages */
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

/* In the order in which items are matched: equal texts first, so that no moved directory takes the partner of one. */
enum likeness { SAME_TEXT, SAME_PLACE, SAME_NAME };

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

/* Adds a difference of two items, one of which may be NULL. */
static void add(struct differences *differences, const struct item *now, const struct item *was)
{
	const struct item *item = now ? now : was;
	const struct part *part = item->part;
	struct difference *grown;

	if (part->weight == 0 || (part->is_shared && !(now && was))) {
		return;
	}
	/* also without memory for the difference, so that the choice of the closest entry does not depend on memory */
	differences->weight += part->weight;
	differences->topics |= part->topic;
	grown = realloc(differences->list, (differences->count + 1) * sizeof(*grown));
	if (grown) {
		differences->list = grown;
		grown[differences->count++] = (struct difference){
		    .name = part->name,
		    .of = item->of,
		    .way = !now  ? DIFFERENCE_GONE
		           : was ? DIFFERENCE_CHANGED
		                 : DIFFERENCE_NEW,
		    .now = now ? now->value : (struct span){NULL, 0},
		    .was = was ? was->value : (struct span){NULL, 0},
		};
	}
}

static bool is_like(enum likeness likeness, const struct item *now, const struct item *was)
{
	bool is_place = now->root != 0 && now->root == was->root && now->head == was->head;

	return now->part == was->part && (likeness == SAME_TEXT    ? span_equal(now->text, was->text)
	                                  : likeness == SAME_PLACE ? is_place && span_equal(now->rest, was->rest)
	                                                           : span_equal(now->name, was->name));
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

/* Finds what is printed of a part. Of the compiler it is the full release, if its request has it. */
static void find_value(const struct request *request, struct item *item)
{
	struct span binder = request_binder(request);

	item->of = item->text;
	if (item->part->shown == ABOUT_RELEASE) {
		item->of = request_text(request, ABOUT_TITLE);
		item->value = request_text(request, request->counts[ABOUT_BUILD] ? ABOUT_BUILD : ABOUT_RELEASE);
	} else if (item->part->shown == ABOUT_BOUND) {
		item->of = binder.size ? binder : span_text("the request");
		item->value = request_text(request, ABOUT_BOUND);
	}
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
		item->value = fact->digest ? item->value : item->text;
		if (fact->digest) {
			find_value(request, item);
		} else if (about == ABOUT_OPTION) {
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

static void compare_items(const struct request *request, const struct request *before, enum about_kind about,
                          struct differences *differences)
{
	struct items now = take_items(request, about), was = take_items(before, about);

	if (!now.list || !was.list) {
		now.count = was.count = 0;
	}
	for (enum likeness likeness = SAME_TEXT; likeness <= SAME_NAME; likeness++) {
		match_items(likeness, &now, &was);
	}
	for (struct item *item = now.list; item < now.list + now.count; item++) {
		if (!item->partner || is_changed(item, item->partner)) {
			add(differences, item, item->partner);
		}
	}
	/* a cut record does not have all facts, so a missing part does not mean that it is gone */
	for (struct item *item = was.list; item < was.list + was.count && !request->is_cut; item++) {
		if (!item->partner) {
			add(differences, NULL, item);
		}
	}
	free(now.list);
	free(was.list);
}

static bool has_directory(struct span program)
{
	return span_base(program).size < program.size;
}

/*
 * Compares the directory of the name only if it is in the key: that part of the request differs, or one name has a
 * directory, which is a root, and the other has none. Any two roots are equal.
 */
static void compare_program(const struct request *now, const struct request *was, struct differences *differences)
{
	struct span name = request_text(now, ABOUT_PROGRAM), before = request_text(was, ABOUT_PROGRAM);
	const uint8_t *digest = request_part(now, "program name"), *other = request_part(was, "program name");
	bool is_renamed = !span_equal(span_base(name), span_base(before));
	bool is_in_key = digest && other ? memcmp(digest, other, ABOUT_DIGEST_BYTES) != 0 : digest || other;
	const struct part *part = is_renamed ? &renamed : &moved;

	is_in_key |= request_is(now, ABOUT_COMPILER, "nvrtc") && has_directory(name) != has_directory(before);
	if (is_renamed || (is_in_key && !span_equal(name, before))) {
		add(differences, &(struct item){.part = part, .value = name},
		    &(struct item){.part = part, .value = before});
	}
}

void differences_find(const struct request *now, const struct request *was, struct differences *ret_differences)
{
	*ret_differences = (struct differences){.count = 0};
	compare_program(now, was, ret_differences);
	compare_items(now, was, ABOUT_PART, ret_differences);
	compare_items(now, was, ABOUT_OPTION, ret_differences);
	compare_items(now, was, ABOUT_EXPRESSION, ret_differences);
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

void differences_spell(const struct difference *difference, struct difference_words *ret_words)
{
	static const char *const ways[] = {
	    [DIFFERENCE_CHANGED] = "has changed", [DIFFERENCE_NEW] = "is new", [DIFFERENCE_GONE] = "is gone"};
	struct span now = difference->now, was = difference->was, value = now.bytes ? now : was;

	snprintf(ret_words->what, sizeof(ret_words->what), "%s%s%.*s", difference->name,
	         *difference->name && difference->of.size ? " " : "", SPAN(difference->of));
	if (difference->way == DIFFERENCE_CHANGED && !span_equal(now, was)) {
		snprintf(ret_words->words, sizeof(ret_words->words), "%.*s   was %.*s", SPAN(now), SPAN(was));
	} else {
		snprintf(ret_words->words, sizeof(ret_words->words), "%.*s%s%s", SPAN(value), value.bytes ? "   " : "",
		         ways[difference->way]);
	}
}
