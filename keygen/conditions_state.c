/* SPDX-License-Identifier: MIT */
#include "keygen/conditions_state.h"

#include <errno.h>
#include <stdlib.h>

void states_begin(struct states *states, const void *bytes, size_t size, enum content_want want)
{
	states->exact = false;
	states->class_count = 0;
	states->seen = NULL;
	states->moved = false;
	place_init(&states->place);
	content_begin(&states->content, bytes, size, want, &states->place);
}

int states_expect(struct states *states, bool exact, uint32_t class_count)
{
	states->exact = exact;
	states->class_count = class_count;
	states->seen = calloc((size_t)class_count + 1, sizeof(*states->seen));
	return states->seen ? 0 : -ENOMEM;
}

void states_end(struct states *states)
{
	content_end(&states->content);
	place_close(&states->place);
	free(states->seen);
}

/* Notes which file the item's path is now, and that paths of one class are one file. */
static bool is_same_file(struct states *states, const struct checked_item *item, const struct file_stamp *now)
{
	struct seen *seen = &states->seen[item->class];

	if (!seen->set) {
		*seen = (struct seen){.device = now->device, .inode = now->inode, .set = true};
	} else if (seen->device != now->device || seen->inode != now->inode) {
		return false;
	}
	if (now->device != item->identity.device || now->inode != item->identity.inode) {
		states->moved = true;
		content_moved(&states->content, item, now);
	}
	return true;
}

static enum condition_state ask_content(struct states *states, const struct checked_item *item, const struct stat *stat,
                                        const struct file_stamp *now, uint64_t number)
{
	switch (content_ask(&states->content, item, stat, now, number)) {
	case CONTENT_SAME:
		return CONDITION_UNCHANGED;
	case CONTENT_CHANGED:
		return CONDITION_CHANGED;
	default:
		return CONDITION_UNREADABLE;
	}
}

static enum condition_state ask_present(struct states *states, const struct checked_item *item, const struct stat *stat,
                                        uint64_t number)
{
	struct file_stamp now;

	file_stamp_from(stat, &now);
	if ((now.mode & S_IFMT) != item->identity.type) {
		return CONDITION_OTHER_KIND;
	}
	if (!is_same_file(states, item, &now)) {
		return CONDITION_OTHER_FILE;
	}
	if (S_ISDIR(now.mode)) {
		return item->kind == ITEM_IDENTITY ? CONDITION_UNCHANGED : CONDITION_DAMAGED;
	}
	if (states->exact && (now.size != item->identity.size || now.mtime_ns != item->identity.mtime_ns)) {
		return CONDITION_TOUCHED;
	}
	if (item->kind == ITEM_IDENTITY) {
		return CONDITION_UNCHANGED;
	}
	if (!S_ISREG(now.mode)) {
		return CONDITION_DAMAGED;
	}
	if (now.size != item->identity.size) {
		return CONDITION_CHANGED;
	}
	return ask_content(states, item, stat, &now, number);
}

enum condition_state states_ask(struct states *states, const struct checked_item *item)
{
	struct stat stat;
	uint64_t number;
	int error = place_stat(&states->place, &stat, &number);

	if (item->kind != ITEM_ABSENT) {
		return error == 0 ? ask_present(states, item, &stat, number) : CONDITION_GONE;
	}
	if (error == 0) {
		return CONDITION_APPEARED;
	}
	return error == ENOENT || error == ENOTDIR || error == item->error ? CONDITION_UNCHANGED : CONDITION_DOUBTFUL;
}

bool states_complete(const struct states *states)
{
	for (uint32_t i = 0; i < states->class_count; i++) {
		if (!states->seen[i].set) {
			return false;
		}
	}
	return true;
}

static int by_file(const void *left, const void *right)
{
	const struct seen *one = left;
	const struct seen *other = right;

	if (one->set != other->set) {
		return one->set ? -1 : 1;
	}
	if (one->device != other->device) {
		return one->device < other->device ? -1 : 1;
	}
	return one->inode < other->inode ? -1 : one->inode > other->inode;
}

/* Implied where every path is the file that it was. */
bool states_distinct(struct states *states)
{
	if (!states->moved || states->class_count < 2) {
		return true;
	}
	qsort(states->seen, states->class_count, sizeof(*states->seen), by_file);
	for (uint32_t i = 1; i < states->class_count && states->seen[i].set; i++) {
		if (by_file(&states->seen[i - 1], &states->seen[i]) == 0) {
			return false;
		}
	}
	return true;
}
