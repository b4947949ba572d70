/* SPDX-License-Identifier: MIT */
/*
 * The items of two lists are matched: items with the same text first, then -I options with the same directory below a
 * root, then options with the same name. Matched items can be in another order; an item without a match is new or gone.
 */
#include "cli/explain/differences.h"

#include <stdlib.h>
#include <string.h>

struct item {
	const struct difference_part *part;
	struct request_option option; /* if it is not an option: the text that is printed */
	const uint8_t *digest;        /* NULL: the text is all there is */
	struct span name;             /* items with the same name are compared */
	struct item *partner;         /* the matching item of the other request */
	/* of a -I option below a root: the root's number, from 1, and the texts before and after the root */
	size_t root;
	struct span head, rest;
};

struct items {
	struct item *list; /* NULL: out of memory */
	size_t count;
};

typedef bool item_test(const struct item *now, const struct item *was);

static bool is_same_text(const struct item *now, const struct item *was)
{
	return now->part == was->part && span_equal(now->option.text, was->option.text) &&
	       span_equal(now->option.value, was->option.value);
}

static bool is_same_place(const struct item *now, const struct item *was)
{
	return now->root != 0 && now->root == was->root && span_equal(now->head, was->head) &&
	       span_equal(now->rest, was->rest) && !now->option.value.size == !was->option.value.size;
}

static bool is_same_name(const struct item *now, const struct item *was)
{
	return now->part == was->part && span_equal(now->name, was->name);
}

/* Finds the root that contains the directory of a -I option. */
static void find_root(struct item *item, const struct request *request)
{
	static const char *const heads[] = {"--include-path=", "--include-path", "-I=", "-I"};
	const struct span text = item->option.text;
	struct span path = {NULL, 0};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]) && path.size == 0; i++) {
		if (span_behind(text, span_text(heads[i]), &path)) {
			item->head = (struct span){text.bytes, text.size - path.size};
			path = path.size > 0 ? path : item->option.value;
		}
	}
	for (size_t i = 0; i < request->counts[ABOUT_ROOT] && path.size > 0 && item->root == 0; i++) {
		if (span_behind(path, span_of(&request->facts[ABOUT_ROOT][i]), &item->rest) &&
		    (item->rest.size == 0 || *(const char *)item->rest.bytes == '/')) {
			item->root = i + 1;
		}
	}
}

/* Returns the name of an option: "-DN" of "-DN=4", "-arch" of "-arch=sm_90", "-I" of every option that begins so. */
static struct span find_option_name(struct span option)
{
	const char *text = option.bytes, *end = memchr(text, '=', option.size);
	size_t size = end ? (size_t)(end - text) : option.size;

	return (struct span){text, option.size >= 2 && memcmp(text, "-I", 2) == 0 ? 2 : size};
}

/* Returns the facts of a kind that have no test of their own. The caller frees the list. */
static struct items take_items(const struct request *request, enum about_kind about)
{
	size_t count = about == ABOUT_OPTION ? request->option_count : request->counts[about];
	struct items items = {.list = calloc(count + 1, sizeof(*items.list))};

	for (size_t i = 0; i < count && items.list; i++) {
		const struct about_fact *fact = &request->facts[about][i];
		struct item *item = &items.list[items.count];

		*item = (struct item){.option.text = span_of(fact), .digest = fact->digest};
		if (about == ABOUT_OPTION) {
			item->option = request->options[i];
			find_root(item, request);
		}
		item->part = differences_part(about, item->option.text, &item->option.text);
		item->name = about == ABOUT_OPTION ? find_option_name(item->option.text) : item->option.text;
		items.count += item->part->test == NULL;
	}
	return items;
}

static void match_items(item_test *is_like, const struct items *now, const struct items *was)
{
	for (size_t i = 0; i < now->count; i++) {
		for (size_t j = 0; j < was->count && !now->list[i].partner; j++) {
			if (!was->list[j].partner && is_like(&now->list[i], &was->list[j])) {
				now->list[i].partner = &was->list[j];
				was->list[j].partner = &now->list[i];
			}
		}
	}
}

/* Adds a difference of two items, one of which may be NULL. */
static void add_items(struct comparison *comparison, enum difference_way way, const struct item *now,
                      const struct item *was)
{
	const struct item *item = now ? now : was;
	struct difference difference = {.name = NULL};

	if (item->digest && way != DIFFERENCE_ORDER) {
		difference.of = item->option.text;
	} else {
		difference.now = now ? now->option : difference.now;
		difference.was = was ? was->option : difference.was;
	}
	if (item->part->says[way]) {
		differences_add(comparison, item->part, way, difference);
	}
}

/* Adds the first position at which the matched items are in another order. */
static void compare_order(struct comparison *comparison, const struct items *now, const struct items *was)
{
	size_t j = 0;

	for (size_t i = 0; i < now->count; i++) {
		const struct item *item = &now->list[i];

		if (!item->partner || !item->part->says[DIFFERENCE_ORDER]) {
			continue;
		}
		while (!was->list[j].partner || !was->list[j].part->says[DIFFERENCE_ORDER]) {
			j++;
		}
		if (item->partner != &was->list[j]) {
			add_items(comparison, DIFFERENCE_ORDER, item, &was->list[j]);
			return;
		}
		j++;
	}
}

/* Returns whether two matched items differ: they are options with the same name, or have another digest. */
static bool is_changed(const struct item *now, const struct item *was)
{
	return now->digest ? memcmp(now->digest, was->digest, ABOUT_DIGEST_BYTES) != 0
	                   : !is_same_text(now, was) && !is_same_place(now, was);
}

static void compare_content(struct comparison *comparison, const struct items *now, const struct items *was)
{
	for (size_t i = 0; i < now->count; i++) {
		const struct item *item = &now->list[i];

		comparison->differences->present |= item->part->topic;
		if (!item->partner) {
			add_items(comparison, DIFFERENCE_NEW, item, NULL);
		} else if (is_changed(item, item->partner)) {
			add_items(comparison, DIFFERENCE_CHANGED, item, item->partner);
		}
	}
	/* a cut record does not have all facts, so a missing part does not mean that it is gone */
	for (size_t j = 0; j < was->count && !comparison->now->is_cut; j++) {
		if (!was->list[j].partner) {
			add_items(comparison, DIFFERENCE_GONE, NULL, &was->list[j]);
		}
	}
}

void items_compare(struct comparison *comparison, enum about_kind about)
{
	struct items now = take_items(comparison->now, about), was = take_items(comparison->was, about);

	if (now.list && was.list) {
		match_items(is_same_text, &now, &was);
		/* after equal options, so that a directory in both lists does not match a different one */
		match_items(is_same_place, &now, &was);
		if (about != ABOUT_PART) {
			/* before options with the same name are matched, because another value is no move */
			compare_order(comparison, &now, &was);
			match_items(is_same_name, &now, &was);
			compare_content(comparison, &now, &was);
		} else {
			compare_content(comparison, &now, &was);
			compare_order(comparison, &now, &was);
		}
	}
	free(now.list);
	free(was.list);
}
