/* SPDX-License-Identifier: MIT */
/*
 * recall: a table of digests that this process has computed
 *
 * Purpose: kernels share headers and libraries, so each is digested once in a process. A key contains everything that
 * decides whether the digest is still right (stamp, mount, credentials); the table compares whole keys.
 *
 * Calling sequence: a static struct with the number of its slots; recall_find(), recall_keep(). The slots are allocated
 * at the first recall_keep() and never freed; when they are used up, later digests replace earlier ones.
 *
 * Errors: a digest that cannot be stored or found is computed again. Threads: any; a slot that another thread is using
 * counts as empty, so no thread waits. Fork: a slot that a thread of the parent was using stays unusable in the child.
 * Signals: not from handlers.
 */
#ifndef KEYGEN_RECALL_H
#define KEYGEN_RECALL_H

#include "keygen/digest.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Unused words are 0. */
struct recall_key {
	uint64_t words[11];
};

struct recall_slot;

struct recall {
	size_t count; /* of slots: a multiple of four */
	_Atomic(struct recall_slot *) slots;
	_Atomic unsigned turn;
};

bool recall_find(struct recall *recall, const struct recall_key *key, struct key *ret_digest);
void recall_keep(struct recall *recall, const struct recall_key *key, const struct key *digest);

#endif
