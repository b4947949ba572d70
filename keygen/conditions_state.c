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
