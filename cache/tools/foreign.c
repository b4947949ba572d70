/* SPDX-License-Identifier: MIT */
/*
 * Without stamps, equal results of two nodes consist of equal bytes. That is how a received entry is compared with a
 * stored one.
 */
#include "cache/tools/foreign.h"

#include "cache/counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Makes a copy, because entries are shared by reference and immutable. */
int foreign_neutral(const struct entry *entry, foreign_forget *forget, struct entry **ret_entry)
{
	size_t size;
	const void *dependencies = entry_dependencies(entry, &size);
	void *neutral = malloc(size + 1);
	int rc;

	if (!neutral) {
		return -ENOMEM;
	}
	memcpy(neutral, dependencies, size);
	forget(neutral, size);
	rc = entry_amend(entry, neutral, size, ret_entry);
	free(neutral);
	return rc;
}

struct asked {
	store_same *same;
	const void *dependencies;
	size_t size;
};

static bool ask_the_same(void *context, const void *dependencies, size_t size)
{
	const struct asked *asked = context;

	return asked->same(dependencies, size, asked->dependencies, asked->size);
}

/* Compares without stamps, because the stored entry has those of this node. */
static bool is_alike(const struct entry *there, const struct entry *comes, foreign_forget *forget)
{
	size_t one_size;
	size_t other_size;
	const void *one;
	const void *other = entry_bytes(comes, &other_size);
	struct entry *plain = NULL;
	bool alike;

	if (foreign_neutral(there, forget, &plain) != 0) {
		return false;
	}
	one = entry_bytes(plain, &one_size);
	alike = one_size == other_size && memcmp(one, other, one_size) == 0;
	entry_unref(plain);
	return alike;
}

/* Returns true if the same result is stored, with any stamps. */
static bool is_known(struct store *store, const struct entry *neutral, foreign_forget *forget, store_same *same)
{
	struct asked asked = {.same = same};
	struct entry *found;
	bool known;

	asked.dependencies = entry_dependencies(neutral, &asked.size);
	if (store_get(store, entry_info(neutral)->key, ask_the_same, &asked, &found) != 0) {
		return false;
	}
	known = is_alike(found, neutral, forget);
	entry_unref(found);
	return known;
}

int foreign_put(struct store *store, const struct entry *entry, foreign_forget *forget, store_same *same,
                enum foreign_put *ret_put)
{
	struct entry *neutral = NULL;
	int rc = foreign_neutral(entry, forget, &neutral);
	bool known = rc == 0 && is_known(store, neutral, forget, same);

	if (rc == 0 && !known) {
		rc = store_put(store, neutral);
		counters_add(COUNTER_TOTAL_evictions, store_take_evictions(store));
	}
	entry_unref(neutral);
	if (rc == 0) {
		*ret_put = known ? FOREIGN_KNOWN : FOREIGN_STORED;
	}
	return rc;
}
