/* SPDX-License-Identifier: MIT */
/*
 * neighbour: of all that a cache directory holds, what is nearest to a request
 *
 * Calling sequence: a list of what is sought, neighbours_find(), look, neighbours_free(). Every result is read once,
 * however many are sought. Errors: as of cache/inventory.h; results that are damaged or say nothing of themselves are
 * passed over. Threads: one. Ownership: what was found is the list's.
 */
#ifndef CLI_NEIGHBOUR_H
#define CLI_NEIGHBOUR_H

#include "cache/entry.h"
#include "cache/settings.h"
#include "cli/request.h"

struct neighbour {
	bool is_there;
	uint8_t key[ENTRY_KEY_BYTES];
	uint64_t created_ns;
	unsigned weight; /* differences_weight() */
	void *about;
	size_t about_size;
};

struct sought {
	const struct request *request; /* NULL: nothing is sought */
	const uint8_t *key;            /* of the request; NULL: it has none */
	uint64_t before_ns;            /* only what was kept before that */
	struct neighbour nearest;      /* of equal ones the newest */
	bool is_kept;                  /* by now its own key has a result */
};

int neighbours_find(const struct settings *settings, struct sought *list, size_t count);
void neighbours_free(struct sought *list, size_t count);

#endif
