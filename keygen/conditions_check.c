/* SPDX-License-Identifier: MIT */
#include "keygen/conditions.h"
#include "keygen/conditions_content.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file that a class of paths names now. */
struct seen {
	uint64_t device;
	uint64_t inode;
	bool set;
};

struct check {
	const struct roots *roots;
	struct cursor cursor;
	char *why;
	size_t why_size;
	bool exact;
	uint32_t class_count;
	struct seen *seen;
	bool moved; /* a path is another file than it was: identity must be compared */
	struct content content;
	struct place place;
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

static bool refuse_path(struct check *check, const char *what)
{
	if (check->why_size > 0) {
		(void)snprintf(check->why, check->why_size, "%s: %s", what, check->place.path);
	}
	return false;
}

static bool damaged(struct check *check)
{
	return refuse(check, "the conditions are damaged");
}

/* Notes which file the item's path is now, and that paths of one class are one file. */
static bool identity_holds(struct check *check, const struct checked_item *item, const struct file_stamp *now)
{
	struct seen *seen = &check->seen[item->class];

	if (!seen->set) {
		*seen = (struct seen){.device = now->device, .inode = now->inode, .set = true};
	} else if (seen->device != now->device || seen->inode != now->inode) {
		return refuse_path(check, "no longer the same file as another path");
	}
	if (now->device != item->identity.device || now->inode != item->identity.inode) {
		check->moved = true;
		content_moved(&check->content, item, now);
	}
	return true;
}

static bool content_holds(struct check *check, const struct checked_item *item, const struct stat *stat,
                          const struct file_stamp *now, uint64_t number)
{
	switch (content_ask(&check->content, item, stat, now, number)) {
	case CONTENT_SAME:
		return true;
	case CONTENT_CHANGED:
		return refuse_path(check, "header changed");
	default:
		return refuse_path(check, "header cannot be read");
	}
}

static bool present_holds(struct check *check, const struct checked_item *item, const struct stat *stat,
                          uint64_t number)
{
	struct file_stamp now;

	file_stamp_from(stat, &now);
	if ((now.mode & S_IFMT) != item->identity.type) {
		return refuse_path(check, "no longer the same kind of file");
	}
	if (!identity_holds(check, item, &now)) {
		return false;
	}
	if (S_ISDIR(now.mode)) {
		return item->kind == ITEM_IDENTITY || damaged(check);
	}
	if (check->exact && (now.size != item->identity.size || now.mtime_ns != item->identity.mtime_ns)) {
		return refuse_path(check, "size or time changed");
	}
	if (item->kind == ITEM_IDENTITY) {
		return true;
	}
	if (!S_ISREG(now.mode)) {
		return damaged(check);
	}
	if (now.size != item->identity.size) {
		return refuse_path(check, "header changed");
	}
	return content_holds(check, item, stat, &now, number);
}

static bool item_holds(struct check *check, const struct checked_item *item)
{
	struct stat stat;
	uint64_t number;
	int error = place_stat(&check->place, &stat, &number);

	if (item->kind != ITEM_ABSENT) {
		return error == 0 ? present_holds(check, item, &stat, number) : refuse_path(check, "file is gone");
	}
	if (error == 0) {
		return refuse_path(check, "file appeared");
	}
	if (error == ENOENT || error == ENOTDIR || error == item->error) {
		return true;
	}
	return refuse_path(check, "cannot tell whether the file is there");
}

/* Text without a NUL, as long as a path may be. */
static const char *read_text(struct check *check, size_t size)
{
	const char *text = size < PATH_MAX ? cursor_bytes(&check->cursor, size) : NULL;

	return text && !memchr(text, '\0', size) ? text : NULL;
}

static bool read_fixed(struct check *check, void *ret_struct, size_t size)
{
	const void *bytes = cursor_bytes(&check->cursor, size);

	if (bytes) {
		memcpy(ret_struct, bytes, size);
	}
	return bytes != NULL;
}

static bool read_item(struct check *check, struct checked_item *ret_item)
{
	struct fixed_item head;
	const char *name;

	if (!read_fixed(check, &head, sizeof(head)) || !(name = read_text(check, head.size)) ||
	    memchr(name, '/', head.size)) {
		return damaged(check);
	}
	if (place_name(&check->place, name, head.size) != 0) {
		return refuse(check, "a path is too long");
	}
	ret_item->kind = head.kind;
	if (head.kind == ITEM_ABSENT) {
		ret_item->error = (int)head.number;
		return true;
	}
	ret_item->class = head.number;
	ret_item->at = (size_t)(check->cursor.at - check->content.bytes);
	if ((head.kind != ITEM_IDENTITY && head.kind != ITEM_CONTENT) || head.number >= check->class_count ||
	    !read_fixed(check, &ret_item->identity, sizeof(ret_item->identity)) ||
	    (head.kind == ITEM_CONTENT && !read_fixed(check, &ret_item->content, sizeof(ret_item->content)))) {
		return damaged(check);
	}
	return true;
}

/* Reads a group's head and goes there. */
static bool enter_group(struct check *check, uint32_t *ret_items)
{
	struct place_group group = {.base = cursor_u32(&check->cursor), .base_text = ""};
	bool free_base = group.base == BASE_CWD || group.base == BASE_LITERAL;
	bool absolute;

	group.hints = cursor_u32(&check->cursor);
	*ret_items = cursor_u32(&check->cursor);
	group.directory_size = cursor_u32(&check->cursor);
	group.directory = read_text(check, group.directory_size);
	if (!group.directory || check->cursor.failed || (!free_base && group.base >= check->roots->count)) {
		return damaged(check);
	}
	absolute = group.directory_size > 0 && group.directory[0] == '/';
	if (group.directory_size > 0 && group.directory[group.directory_size - 1] != '/') {
		return damaged(check);
	}
	/* Only a root itself has no directory, and only what is relative to the working directory no leading slash. */
	if (group.base == BASE_CWD ? absolute : !absolute && (free_base || group.directory_size > 0)) {
		return damaged(check);
	}
	if (!free_base) {
		group.base_text = check->roots->root[group.base].text;
		group.base_size = check->roots->root[group.base].size;
	}
	return place_enter(&check->place, &group) == 0 || refuse(check, "a path is too long");
}

static bool group_holds(struct check *check, uint32_t *items_left)
{
	uint32_t count;
	bool holds = enter_group(check, &count);

	content_enter(&check->content);
	if (holds && (count == 0 || count > *items_left)) {
		holds = damaged(check);
	}
	for (uint32_t i = 0; holds && i < count; i++) {
		struct checked_item item;

		holds = read_item(check, &item) && item_holds(check, &item);
	}
	*items_left -= holds ? count : 0;
	place_leave(&check->place);
	return holds;
}

static bool arithmetic_holds(struct check *check)
{
	const struct key *now;
	struct key then;

	if (!read_fixed(check, then.bytes, sizeof(then.bytes))) {
		return damaged(check);
	}
	now = roots_arithmetic(check->roots);
	return (now && memcmp(then.bytes, now->bytes, KEY_BYTES) == 0) || refuse(check, "another mathematics library");
}

static bool roots_hold(struct check *check, uint32_t count)
{
	if (count != check->roots->count) {
		return refuse(check, "the number of roots differs");
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct root *root = &check->roots->root[i];
		size_t size = cursor_u32(&check->cursor);
		const void *text;

		if (size == ROOT_FREE) {
			continue;
		}
		text = cursor_bytes(&check->cursor, size);
		if (!text) {
			return damaged(check);
		}
		if (size != root->size || memcmp(text, root->text, size) != 0) {
			if (check->why_size > 0) {
				(void)snprintf(check->why, check->why_size, "root %u is spelled otherwise", i);
			}
			return false;
		}
	}
	return true;
}

static int by_file(const void *left, const void *right)
{
	const struct seen *one = left;
	const struct seen *other = right;

	if (one->device != other->device) {
		return one->device < other->device ? -1 : 1;
	}
	return one->inode < other->inode ? -1 : one->inode > other->inode;
}

/* Paths of different classes are different files. Implied where every path is the file that it was. */
static bool classes_hold(struct check *check)
{
	for (uint32_t i = 0; i < check->class_count; i++) {
		if (!check->seen[i].set) {
			return damaged(check);
		}
	}
	if (!check->moved || check->class_count < 2) {
		return true;
	}
	qsort(check->seen, check->class_count, sizeof(*check->seen), by_file);
	for (uint32_t i = 1; i < check->class_count; i++) {
		if (by_file(&check->seen[i - 1], &check->seen[i]) == 0) {
			return refuse(check, "two paths that were different files are one file");
		}
	}
	return true;
}

static bool all_hold(struct check *check, size_t size)
{
	uint32_t magic = cursor_u32(&check->cursor);
	uint32_t flags = cursor_u32(&check->cursor);
	uint32_t roots = cursor_u32(&check->cursor);
	uint32_t groups = cursor_u32(&check->cursor);
	uint32_t items = cursor_u32(&check->cursor);
	struct fixed_stamps stamps;

	check->class_count = cursor_u32(&check->cursor);
	if (!check->cursor.failed && magic != CONDITIONS_MAGIC) {
		return refuse(check, "the conditions are of another version, or damaged");
	}
	if (!read_fixed(check, &stamps, sizeof(stamps)) || (flags & ~(CONDITIONS_EXACT | CONDITIONS_ARITHMETIC)) != 0 ||
	    items > size / sizeof(struct fixed_item) || check->class_count > items) {
		return damaged(check);
	}
	if (items > 0) {
		bool (*agree)(void) = atomic_load_explicit(&paths_agree, memory_order_relaxed);

		if (agree && !agree()) {
			return refuse(
			    check, "another preloaded library redirects some functions that take paths, but not all");
		}
		content_taken(&check->content, &stamps);
	}
	check->exact = (flags & CONDITIONS_EXACT) != 0;
	if ((flags & CONDITIONS_ARITHMETIC) && !arithmetic_holds(check)) {
		return false;
	}
	if (!roots_hold(check, roots)) {
		return false;
	}
	check->seen = calloc((size_t)check->class_count + 1, sizeof(*check->seen));
	if (!check->seen) {
		return refuse(check, "no memory");
	}
	for (uint32_t i = 0; i < groups; i++) {
		if (!group_holds(check, &items)) {
			return false;
		}
	}
	if (items != 0 || !cursor_at_end(&check->cursor)) {
		return damaged(check);
	}
	return classes_hold(check);
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
	check.cursor = cursor_over(conditions, size);
	check.why = ret_why;
	check.why_size = ret_why ? why_size : 0;
	check.exact = false;
	check.class_count = 0;
	check.seen = NULL;
	check.moved = false;
	place_init(&check.place);
	content_begin(&check.content, conditions, size, ret_anew ? CONTENT_ANEW : CONTENT_AS_IT_IS, &check.place);
	holds = all_hold(&check, size);
	if (holds && ret_anew) {
		*ret_anew = content_anew(&check.content);
	}
	content_end(&check.content);
	place_close(&check.place);
	free(check.seen);
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
