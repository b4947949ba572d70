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

enum condition_state states_ask(struct states *states, const struct checked_item *item);
/* Was every class named by a path? */
bool states_complete(const struct states *states);
/* Are paths of different classes different files, as far as they were seen? */
bool states_distinct(struct states *states);

#endif
