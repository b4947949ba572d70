/* SPDX-License-Identifier: MIT */
/*
 * conditions_state: what has become of the paths of conditions, one after the other
 *
 * Calling sequence: states_begin(), content_taken() on its content, place_enter() and content_enter() per group,
 * place_name() and states_ask() per item, states_distinct(), states_end().
 * Errors: states_begin(): -ENOMEM. Memory: a few words per distinct file.
 */
#ifndef KEYGEN_CONDITIONS_STATE_H
#define KEYGEN_CONDITIONS_STATE_H

#include "keygen/conditions_content.h"
#include "keygen/conditions_tell.h"

#include <errno.h>

/* The file that a class of paths names now. */
struct seen {
	uint64_t device;
	uint64_t inode;
	bool set;
};

struct states {
	bool exact;
	uint32_t class_count;
	struct seen *seen;
	bool moved; /* a path is another file than it was: identity must be compared */
	struct content content;
	struct place place;
};

void states_begin(struct states *states, const void *bytes, size_t size, enum content_want want);
/* What the head of the conditions says. */
int states_expect(struct states *states, bool exact, uint32_t class_count);
void states_end(struct states *states);

/* Was every class named by a path? */
bool states_complete(const struct states *states);
/* Are paths of different classes different files, as far as they were seen? */
bool states_distinct(struct states *states);

/* ---- inline, as each path of each hit goes through it (conditions_read.h) ---- */

/* Notes which file the item's path is now, and that paths of one class are one file. */
static inline bool states_same_file(struct states *states, const struct checked_item *item,
                                    const struct file_stamp *now)
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

static inline enum condition_state states_ask_content(struct states *states, const struct checked_item *item,
                                                      const struct stat *stat, const struct file_stamp *now,
                                                      uint64_t number)
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

static inline enum condition_state states_ask_present(struct states *states, const struct checked_item *item,
                                                      const struct stat *stat, uint64_t number)
{
	struct file_stamp now;

	file_stamp_from(stat, &now);
	if ((now.mode & S_IFMT) != item->identity.type) {
		return CONDITION_OTHER_KIND;
	}
	if (!states_same_file(states, item, &now)) {
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
	return states_ask_content(states, item, stat, &now, number);
}

static inline enum condition_state states_ask(struct states *states, const struct checked_item *item)
{
	struct stat stat;
	uint64_t number;
	int error = place_stat(&states->place, &stat, &number);

	if (item->kind != ITEM_ABSENT) {
		return error == 0 ? states_ask_present(states, item, &stat, number) : CONDITION_GONE;
	}
	if (error == 0) {
		return CONDITION_APPEARED;
	}
	return error == ENOENT || error == ENOTDIR || error == item->error ? CONDITION_UNCHANGED : CONDITION_DOUBTFUL;
}

#endif
