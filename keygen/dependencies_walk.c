/* SPDX-License-Identifier: MIT */
/*
 * Functions that run for each path of each hit are inline in this file: as calls between files they take an eighth of
 * the time of a hit with CUB. A visitor is called only for paths that changed, unless it asks for every path.
 */
#include "keygen/dependencies_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

/* Adds the file of a class to the set of files. If another class has it, two files have become one. */
static inline void take_file(struct walk *walk, uint32_t class)
{
	const struct seen *file = &walk->seen[class];
	uint64_t hash = (file->device * UINT64_C(0x9e3779b97f4a7c15) ^ file->inode) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t at = (uint32_t)(hash >> 32) & walk->taken_mask;

	for (; walk->taken[at] != 0; at = (at + 1) & walk->taken_mask) {
		const struct seen *other = &walk->seen[walk->taken[at] - 1];

		if (other->device == file->device && other->inode == file->inode) {
			walk->joined = true;
			return;
		}
	}
	walk->taken[at] = class + 1;
}

/* Records the file that the item's path names now; returns false if paths of one class are no longer one file. */
static inline bool note_file(struct walk *walk, const struct checked_item *item, const struct file_stamp *now)
{
	struct seen *seen = &walk->seen[item->class];

	if (!seen->set) {
		*seen = (struct seen){.device = now->device, .inode = now->inode, .set = true};
		take_file(walk, item->class);
		return true;
	}
	return seen->device == now->device && seen->inode == now->inode;
}

static inline enum dependency_state ask_present(struct walk *walk, const struct checked_item *item,
                                                const struct stat *stat, uint64_t number)
{
	struct file_stamp now;

	file_stamp_from(stat, &now);
	if ((now.mode & S_IFMT) != item->identity.type) {
		return DEPENDENCY_OTHER_KIND;
	}
	if (!note_file(walk, item, &now)) {
		return DEPENDENCY_OTHER_FILE;
	}
	if (S_ISDIR(now.mode)) {
		return item->kind == ITEM_IDENTITY ? DEPENDENCY_UNCHANGED : DEPENDENCY_DAMAGED;
	}
	if (walk->exact && (now.size != item->identity.size || now.mtime_ns != item->identity.mtime_ns)) {
		return DEPENDENCY_TOUCHED;
	}
	if (item->kind == ITEM_IDENTITY) {
		return DEPENDENCY_UNCHANGED;
	}
	if (!S_ISREG(now.mode)) {
		return DEPENDENCY_DAMAGED;
	}
	if (now.size != item->identity.size) {
		return DEPENDENCY_CHANGED;
	}
	return content_ask(&walk->content, item, stat, &now, number);
}

static inline enum dependency_state ask_path(struct walk *walk, const struct checked_item *item)
{
	struct stat stat;
	uint64_t number;
	int error;

	error = place_stat(&walk->place, &stat, &number);
	if (item->kind != ITEM_ABSENT) {
		return error == 0 ? ask_present(walk, item, &stat, number) : DEPENDENCY_GONE;
	}
	if (error == 0) {
		return DEPENDENCY_APPEARED;
	}
	/* An error that differs from the recorded one (EACCES, EIO) hides whether the file exists now. */
	return error == ENOENT || error == ENOTDIR || error == item->error ? DEPENDENCY_UNCHANGED : DEPENDENCY_DOUBTFUL;
}

/* Calls the visitor. Not inline: few hits call it, and inlined it would take registers from the loop of all hits. */
__attribute__((noinline, cold)) static int visit_item(struct walk *walk, const struct place_group *group,
                                                      const struct checked_item *item, enum dependency_state state)
{
	return state == DEPENDENCY_DAMAGED ? -EBADMSG : walk->visitor->item(walk, group, item, state);
}

__attribute__((always_inline)) static inline int read_item(struct walk *walk, struct checked_item *ret_item)
{
	const char *name;
	size_t size;
	int error = reader_item(&walk->reader, ret_item, &name, &size);

	return error ? error : place_name(&walk->place, name, size);
}

static inline int walk_items(struct walk *walk, const struct place_group *group, uint32_t items)
{
	int error = 0;

	for (; error == 0 && items > 0; items--) {
		struct checked_item item;
		enum dependency_state state;

		error = read_item(walk, &item);
		if (error == 0) {
			state = ask_path(walk, &item);
			if (state != DEPENDENCY_UNCHANGED || walk->every) {
				error = visit_item(walk, group, &item, state);
			}
		}
	}
	return error;
}

/* Reports the items of a group whose base is not known. */
__attribute__((noinline, cold)) static int pass_items(struct walk *walk, const struct place_group *group,
                                                      uint32_t items)
{
	int error = 0;

	for (; error == 0 && items > 0; items--) {
		struct checked_item item;

		error = read_item(walk, &item);
		if (error == 0) {
			error = visit_item(walk, group, &item, DEPENDENCY_NOT_ASKED);
		}
	}
	return error;
}

/* Returns false if the base of the group's paths is not known. */
static bool find_base(const struct walk *walk, struct place_group *group)
{
	if (group->base == BASE_LITERAL) {
		return walk->look;
	}
	if (group->base == BASE_CWD) {
		return walk->here;
	}
	if (!walk->root[group->base].text) {
		return false;
	}
	group->base_text = walk->root[group->base].text;
	group->base_size = walk->root[group->base].size;
	return walk->look;
}

static int64_t budget_clock(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void dependencies_budget_begin(struct dependencies_budget *ret_budget)
{
	*ret_budget = (struct dependencies_budget){.paths = DEPENDENCIES_PATHS_MAX, .bytes = DEPENDENCIES_BYTES_MAX};
}

/* Returns false if the paths of a group are beyond the budget. The time begins with the first group. */
static bool spend_budget(struct dependencies_budget *budget, uint32_t paths)
{
	int64_t now = budget_clock();

	if (budget->until_ns == 0) {
		budget->until_ns = now + DEPENDENCIES_NS_MAX;
	}
	if (paths > budget->paths || now > budget->until_ns) {
		budget->paths = 0;
		return false;
	}
	budget->paths -= paths;
	return true;
}

static int walk_group(struct walk *walk)
{
	struct place_group group;
	uint32_t items = 0;
	bool asked;
	int error = reader_group(&walk->reader, &group, &items);

	if (error != 0) {
		return error;
	}
	asked = find_base(walk, &group);
	if (!asked) {
		group.hints = 0; /* opens nothing */
	}
	error = spend_budget(walk->budget, items) ? place_enter(&walk->place, &group) : -E2BIG;
	walk->content.sampled = false;
	if (error == 0 && asked) {
		place_open_directory(&walk->place, &group);
		error = walk_items(walk, &group, items);
	} else if (error == 0) {
		error = pass_items(walk, &group, items);
	}
	place_leave(&walk->place);
	return error;
}

static int walk_roots(struct walk *walk)
{
	int error = 0;

	for (uint32_t i = 0; error == 0 && i < walk->reader.roots; i++) {
		const char *text;
		size_t size;

		error = reader_root(&walk->reader, &text, &size);
		if (error == 0) {
			error = walk->visitor->root(walk, i, text, size);
		}
	}
	return error;
}

static int walk_head(struct walk *walk, const void *dependencies, size_t size)
{
	int error = reader_head(&walk->reader, dependencies, size);

	if (error != 0) {
		return error;
	}
	walk->exact = (walk->reader.flags & DEPENDENCIES_EXACT) != 0;
	return walk->visitor->begin(walk);
}

/*
 * Makes the lists of files, with at most half of the set in use. A set and not a comparison with recorded device and
 * inode numbers, because these differ from node to node.
 */
static int make_lists(struct walk *walk)
{
	const size_t count = walk->reader.classes;
	size_t room = 2;

	while (room < 2 * count) {
		room *= 2;
	}
	walk->seen = calloc(1, count * sizeof(*walk->seen) + room * sizeof(*walk->taken));
	if (!walk->seen) {
		return -ENOMEM;
	}
	walk->taken = (uint32_t *)(walk->seen + count);
	walk->taken_mask = (uint32_t)room - 1;
	return 0;
}

int walk_dependencies(struct walk *walk, const void *dependencies, size_t size)
{
	int error;

	place_init(&walk->place);
	content_begin(&walk->content, walk->budget, &walk->place);
	walk->seen = NULL;
	walk->joined = false;
	error = walk_head(walk, dependencies, size);
	if (error == 0) {
		error = walk_roots(walk);
	}
	if (error == 0 && walk->reader.classes > 0) {
		error = make_lists(walk);
	}
	for (uint32_t i = 0; error == 0 && i < walk->reader.groups; i++) {
		error = walk_group(walk);
	}
	return error ? error : reader_ends(&walk->reader) ? 0 : -EBADMSG;
}

void walk_end(struct walk *walk)
{
	content_end(&walk->content);
	place_close(&walk->place);
	free(walk->seen);
}

bool walk_is_complete(const struct walk *walk)
{
	for (uint32_t i = 0; i < walk->reader.classes; i++) {
		if (!walk->seen[i].set) {
			return false;
		}
	}
	return true;
}
