/* SPDX-License-Identifier: MIT */
/*
 * neighbour: of all that was kept before a request, what is nearest to it
 *
 * That is what the cache directory holds, what the directories below it hold (NVRTCCACHE_LOWER), and what the journal says
 * was stored, though it be gone by now: so that the answer is the same tomorrow.
 *
 * Calling sequence: a list of what is sought, neighbours_find(), look, neighbours_free(). Every result is read once,
 * however many are sought. Errors: as of cache/tools/inventory.h; a directory below that cannot be read holds nothing; results
 * that are damaged or say nothing of themselves are passed over. Threads: one. Ownership: what was found is the list's.
 */
#ifndef CLI_NEIGHBOUR_H
#define CLI_NEIGHBOUR_H

#include "cache/entry.h"
#include "cache/journal.h"
#include "cache/settings.h"
#include "cli/explain/request.h"

/* X(NAME, for machines): where it is now. Of equal ones the first of these is taken. */
#define NEIGHBOURS(X)          \
	X(NOWHERE, "")         \
	X(KEPT, "kept")        \
	X(BELOW, "kept_below") \
	X(GONE, "gone")

enum neighbour_place {
#define NEIGHBOUR_ENUM(name, text) NEIGHBOUR_##name,
	NEIGHBOURS(NEIGHBOUR_ENUM)
#undef NEIGHBOUR_ENUM
};

struct neighbour {
	enum neighbour_place place;
	uint8_t key[ENTRY_KEY_BYTES];
	uint64_t created_ns;
	unsigned weight; /* differences_weight() */
	unsigned moved;  /* of one of the same key: so many -I lead elsewhere; else 0 */
	void *about;
	size_t about_size;
};

struct sought {
	const struct request *request; /* NULL: nothing is sought */
	const uint8_t *key;            /* of the request; NULL: it has none */
	uint64_t before_ns;            /* only what was kept before that */
	struct neighbour nearest;      /* of equal ones in one place the newest */
};

int neighbours_find(const struct settings *settings, const struct journal *journal, struct sought *list, size_t count);
const char *neighbour_name(enum neighbour_place place);
void neighbours_free(struct sought *list, size_t count);

#endif
