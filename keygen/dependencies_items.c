/* SPDX-License-Identifier: MIT */
/*
 * Events become items, items are sorted by path, items of one path are merged, and the distinct files are numbered in
 * sorted order. The result does not depend on the order of the compiler's queries, so equal compilations give equal
 * bytes.
 */
#include "keygen/dependencies_items.h"
#include "keygen/dependencies_format.h"

#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

uint32_t item_kind(const struct item *item)
{
	return item->event->error != 0 ? ITEM_ABSENT : item->event->kind == TRACE_OPEN ? ITEM_CONTENT : ITEM_IDENTITY;
}

int item_absence(int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
	case EACCES:
	case ELOOP:
	case ENAMETOOLONG:
		return error;
	default:
		return 0;
	}
}

/* Returns true if a hit can compare what the event found. The kernel rejects a path of PATH_MAX bytes. */
static bool is_expressible(const struct trace_event *event)
{
	if (event->error != 0) {
		return item_absence(event->error) != 0 && strlen(event->path) < PATH_MAX;
	}
	return strlen(event->path) < PATH_MAX && (event->kind != TRACE_OPEN || S_ISREG(event->stamp.mode));
}

/* Splits the path after the base at its last slash: the names of a directory form a group. */
static void add_item(struct items *items, const struct trace_event *event, uint32_t base, const char *rest)
{
	const char *slash = strrchr(rest, '/');
	size_t size = slash ? (size_t)(slash - rest) + 1 : 0;

	items->item[items->count++] =
	    (struct item){.event = event, .base = base, .directory = rest, .directory_size = size, .name = rest + size};
}

/* Finds the root of the path, or BASE_LITERAL. Returns -EINVAL for two such roots: the choice would be a guess. */
static int find_root(const struct roots *roots, const char *path, uint32_t *ret_base)
{
	uint32_t base = BASE_LITERAL;

	for (size_t i = 0; i < roots->count; i++) {
		const struct root *root = &roots->root[i];

		if (strncmp(path, root->text, root->size) == 0 &&
		    (path[root->size] == '/' || path[root->size] == '\0')) {
			if (base != BASE_LITERAL) {
				return -EINVAL;
			}
			base = (uint32_t)i;
		}
	}
	*ret_base = base;
	return 0;
}

/*
 * Returns the path relative to the working directory, or NULL if it is not inside it or need not be stored so
 * (`cwd_spelled` and `cwd_looked_at` of the input). NVRTC also puts the directory, with a slash, before absolute paths.
 */
static const char *path_in_cwd(const struct dependencies_input *input, const struct trace_event *event, uint32_t base)
{
	const char *path = event->path;
	bool debug = input->cwd_looked_at && event->kind == TRACE_PROBE && base == BASE_LITERAL;
	bool counts = input->cwd_spelled || debug;
	size_t size = input->cwd && counts ? strlen(input->cwd) : 0;

	if (size <= 1 || strncmp(path, input->cwd, size) != 0 || path[size] != '/') {
		return NULL;
	}
	path += size + strspn(path + size, "/");
	return *path ? path : NULL;
}

static int add_event(const struct dependencies_input *input, const struct trace_event *event, struct items *items)
{
	const char *path = event->path;
	bool is_place = event->kind == TRACE_PROBE && event->error == 0 && S_ISDIR(event->stamp.mode);
	bool is_cwd = is_place && input->cwd && strcmp(path, input->cwd) == 0;
	bool is_pwd = is_place && input->pwd && strcmp(path, input->pwd) == 0;
	const char *inside;
	uint32_t base;
	int error;

	if (event->kind != TRACE_PROBE && event->kind != TRACE_OPEN) {
		return 0;
	}
	if (!is_expressible(event)) {
		return -EINVAL;
	}
	if (path[0] != '/') {
		add_item(items, event, BASE_CWD, path);
		return 0;
	}
	error = find_root(input->roots, path, &base);
	if (error != 0) {
		return error;
	}
	/*
	 * The trace does not show whether the compiler meant the working directory or the root, so the path is
	 * stored twice, relative to each.
	 */
	if (is_cwd) {
		add_item(items, event, BASE_CWD, ".");
	} else if ((inside = path_in_cwd(input, event, base))) {
		add_item(items, event, BASE_CWD, inside);
		is_cwd = true;
	}
	if (base != BASE_LITERAL) {
		add_item(items, event, base, path + input->roots->root[base].size);
	} else if (!is_cwd && !is_pwd) {
		add_item(items, event, BASE_LITERAL, path);
	}
	return 0;
}

static int collect_events(const struct dependencies_input *input, struct items *ret_items)
{
	const struct trace *trace = input->trace;
	struct items items = {
	    .item = calloc(trace->count * 2 + 1, sizeof(*items.item))}; /* an event adds at most two items */

	if (!items.item) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < trace->count; i++) {
		int error = add_event(input, &trace->events[i], &items);

		if (error != 0) {
			free(items.item);
			return error;
		}
	}
	*ret_items = items;
	return 0;
}

int items_by_directory(const struct item *one, const struct item *other)
{
	size_t shared = one->directory_size < other->directory_size ? one->directory_size : other->directory_size;
	int order;

	if (one->base != other->base) {
		return one->base < other->base ? -1 : 1;
	}
	order = memcmp(one->directory, other->directory, shared);
	if (order != 0 || one->directory_size == other->directory_size) {
		return order;
	}
	return one->directory_size < other->directory_size ? -1 : 1;
}

/* Sorting makes equal paths neighbours, and the bytes independent of the order of the queries. */
static int by_path(const void *left, const void *right)
{
	const struct item *one = left;
	const struct item *other = right;
	int order = items_by_directory(one, other);

	return order != 0 ? order : strcmp(one->name, other->name);
}

/* Merges two items of one path. If they disagree, the file system changed during the compilation: -EINVAL. */
static int merge_sights(struct item *into, const struct item *other)
{
	const struct trace_event *one = into->event, *two = other->event;

	if (!trace_same_answer(one, two) ||
	    (one->kind == two->kind && memcmp(&one->digest, &two->digest, sizeof(one->digest)) != 0)) {
		return -EINVAL;
	}
	if (two->kind == TRACE_OPEN) {
		into->event = two;
	}
	return 0;
}

/* A path is one item, however often and in whatever way it was looked at. */
static int merge_all(struct items *items)
{
	size_t kept = 0;

	if (items->count == 0) {
		return 0;
	}
	qsort(items->item, items->count, sizeof(*items->item), by_path);
	for (size_t i = 1; i < items->count; i++) {
		if (by_path(&items->item[kept], &items->item[i]) == 0) {
			int error = merge_sights(&items->item[kept], &items->item[i]);

			if (error != 0) {
				return error;
			}
		} else {
			items->item[++kept] = items->item[i];
		}
	}
	items->count = kept + 1;
	return 0;
}

static int by_file(const void *left, const void *right)
{
	const struct file_stamp *one = &((const struct item *)left)->event->stamp;
	const struct file_stamp *other = &((const struct item *)right)->event->stamp;

	if (one->device != other->device) {
		return one->device < other->device ? -1 : 1;
	}
	return one->inode < other->inode ? -1 : one->inode > other->inode;
}

static void keep_item(void *item)
{
	(void)item;
}

/* Numbers the distinct files in the order in which the items first name them. */
static int number_files(struct items *items)
{
	void *files = NULL; /* tree of the first item of each file */
	int error = 0;

	for (size_t i = 0; error == 0 && i < items->count; i++) {
		struct item *item = &items->item[i];

		if (item->event->error == 0) {
			struct item **first = tsearch(item, &files, by_file);

			error = first ? 0 : -ENOMEM;
			item->class = first && *first != item ? (*first)->class : items->classes++;
		}
	}
	tdestroy(files, keep_item);
	return error;
}

int items_collect(const struct dependencies_input *input, struct items *ret_items)
{
	struct items items = {0};
	int error = collect_events(input, &items);

	if (error == 0) {
		error = merge_all(&items);
	}
	if (error == 0) {
		error = number_files(&items);
	}
	if (error != 0) {
		items_free(&items);
		return error;
	}
	*ret_items = items;
	return 0;
}

void items_free(struct items *items)
{
	free(items->item);
	*items = (struct items){0};
}
