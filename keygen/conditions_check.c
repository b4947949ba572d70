/* SPDX-License-Identifier: MIT */
#include "keygen/conditions.h"
#include "keygen/conditions_read.h"
#include "keygen/conditions_state.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct check {
	const struct roots *roots;
	struct reader reader;
	char *why;
	size_t why_size;
	struct states states;
};

static _Atomic(bool (*)(void)) paths_agree;

void conditions_ask_paths(bool (*agree)(void))
{
	atomic_store_explicit(&paths_agree, agree, memory_order_relaxed);
}

static bool refuse(struct check *check, const char *what)
{
	if (check->why_size > 0) {
		(void)snprintf(check->why, check->why_size, "%s", what);
	}
	return false;
}

static bool damaged(struct check *check)
{
	return refuse(check, "the conditions are damaged");
}

static bool refuse_state(struct check *check, enum condition_state state)
{
	static const char *const words[] = {
	    [CONDITION_CHANGED] = "header changed",
	    [CONDITION_TOUCHED] = "size or time changed",
	    [CONDITION_GONE] = "file is gone",
	    [CONDITION_APPEARED] = "file appeared",
	    [CONDITION_UNREADABLE] = "header cannot be read",
	    [CONDITION_OTHER_KIND] = "no longer the same kind of file",
	    [CONDITION_OTHER_FILE] = "no longer the same file as another path",
	    [CONDITION_DOUBTFUL] = "cannot tell whether the file is there",
	};

	if (state == CONDITION_DAMAGED) {
		return damaged(check);
	}
	if (check->why_size > 0) {
		(void)snprintf(check->why, check->why_size, "%s: %s", words[state], check->states.place.path);
	}
	return false;
}

static bool item_holds(struct check *check)
{
	struct checked_item item;
	enum condition_state state;
	const char *name;
	size_t size;

	if (reader_item(&check->reader, &item, &name, &size) != READ_SOUND) {
		return damaged(check);
	}
	if (place_name(&check->states.place, name, size) != 0) {
		return refuse(check, "a path is too long");
	}
	state = states_ask(&check->states, &item);
	return state == CONDITION_UNCHANGED || refuse_state(check, state);
}

static bool group_holds(struct check *check)
{
	struct place_group group;
	uint32_t count = 0;
	bool holds;

	if (reader_group(&check->reader, &group, &count) != READ_SOUND) {
		return damaged(check);
	}
	if (group.base != BASE_CWD && group.base != BASE_LITERAL) {
		group.base_text = check->roots->root[group.base].text;
		group.base_size = check->roots->root[group.base].size;
	}
	holds = place_enter(&check->states.place, &group) == 0 || refuse(check, "a path is too long");
	content_enter(&check->states.content);
	for (uint32_t i = 0; holds && i < count; i++) {
		holds = item_holds(check);
	}
	place_leave(&check->states.place);
	return holds;
}

static bool arithmetic_holds(struct check *check)
{
	const uint8_t *then = reader_arithmetic(&check->reader);
	const struct key *now;

	if (!then) {
		return damaged(check);
	}
	now = roots_arithmetic(check->roots);
	return (now && memcmp(then, now->bytes, KEY_BYTES) == 0) || refuse(check, "another mathematics library");
}

static bool roots_hold(struct check *check)
{
	if (check->reader.roots != check->roots->count) {
		return refuse(check, "the number of roots differs");
	}
	for (uint32_t i = 0; i < check->reader.roots; i++) {
		const struct root *root = &check->roots->root[i];
		const char *text;
		size_t size;

		if (reader_root(&check->reader, &text, &size) != READ_SOUND) {
			return damaged(check);
		}
		if (text && (size != root->size || memcmp(text, root->text, size) != 0)) {
			if (check->why_size > 0) {
				(void)snprintf(check->why, check->why_size,
				               CONDITIONS_BOUND "%.*s" CONDITIONS_NOW "%.*s", size ? (int)size : 1,
				               size ? text : "/", root->size ? (int)root->size : 1,
				               root->size ? root->text : "/");
			}
			return false;
		}
	}
	return true;
}

/* Paths of different classes are different files. */
static bool classes_hold(struct check *check)
{
	if (!states_complete(&check->states)) {
		return damaged(check);
	}
	return states_distinct(&check->states) || refuse(check, "two paths that were different files are one file");
}

static bool all_hold(struct check *check, const void *conditions, size_t size)
{
	struct fixed_stamps stamps;
	enum read head = reader_head(&check->reader, conditions, size, &stamps);

	if (head == READ_OTHER_VERSION) {
		return refuse(check, "the conditions are of another version, or damaged");
	}
	if (head != READ_SOUND) {
		return damaged(check);
	}
	if (check->reader.items > 0) {
		bool (*agree)(void) = atomic_load_explicit(&paths_agree, memory_order_relaxed);

		if (agree && !agree()) {
			return refuse(
			    check, "another preloaded library redirects some functions that take paths, but not all");
		}
		content_taken(&check->states.content, &stamps);
	}
	if ((check->reader.flags & CONDITIONS_ARITHMETIC) && !arithmetic_holds(check)) {
		return false;
	}
	if (!roots_hold(check)) {
		return false;
	}
	if (states_expect(&check->states, (check->reader.flags & CONDITIONS_EXACT) != 0, check->reader.classes) != 0) {
		return refuse(check, "no memory");
	}
	for (uint32_t i = 0; i < check->reader.groups; i++) {
		if (!group_holds(check)) {
			return false;
		}
	}
	return reader_ends(&check->reader) ? classes_hold(check) : damaged(check);
}

bool conditions_hold_anew(const void *conditions, size_t size, const struct roots *roots, char *ret_why,
                          size_t why_size, void **ret_anew)
{
	struct check check;
	bool holds;

	if (ret_anew) {
		*ret_anew = NULL;
	}
	if (size == 0) {
		return true;
	}
	check.roots = roots;
	check.why = ret_why;
	check.why_size = ret_why ? why_size : 0;
	states_begin(&check.states, conditions, size, ret_anew ? CONTENT_ANEW : CONTENT_AS_IT_IS);
	holds = all_hold(&check, conditions, size);
	if (holds && ret_anew) {
		*ret_anew = content_anew(&check.states.content);
	}
	states_end(&check.states);
	return holds;
}

bool conditions_hold(const void *conditions, size_t size, const struct roots *roots, char *ret_why, size_t why_size)
{
	return conditions_hold_anew(conditions, size, roots, ret_why, why_size, NULL);
}

bool conditions_name_files(const void *conditions, size_t size)
{
	struct cursor cursor = cursor_over(conditions, size);
	uint32_t magic = cursor_u32(&cursor);
	uint32_t items;

	(void)cursor_u32(&cursor); /* flags, roots, groups */
	(void)cursor_u32(&cursor);
	(void)cursor_u32(&cursor);
	items = cursor_u32(&cursor);
	return size > 0 && (cursor.failed || magic != CONDITIONS_MAGIC || items > 0);
}
