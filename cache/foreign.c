/* SPDX-License-Identifier: MIT */
#include "cache/foreign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int foreign_neutral(const struct entry *entry, foreign_forget *forget, struct entry **ret_entry)
{
	size_t size;
	const void *conditions = entry_conditions(entry, &size);
	void *neutral = malloc(size + 1);
	int rc;

	if (!neutral) {
		return -ENOMEM;
	}
	memcpy(neutral, conditions, size);
	forget(neutral, size);
	rc = entry_amend(entry, neutral, size, ret_entry);
	free(neutral);
	return rc;
}

struct asked {
	store_same *same;
	const void *conditions;
	size_t size;
};

static bool ask_the_same(void *context, const void *conditions, size_t size)
{
	const struct asked *asked = context;

	return asked->same(conditions, size, asked->conditions, asked->size);
}

static bool equal(const struct entry *one, const struct entry *other)
{
	size_t one_size;
	size_t other_size;
	const void *one_bytes = entry_bytes(one, &one_size);
	const void *other_bytes = entry_bytes(other, &other_size);

	return one_size == other_size && memcmp(one_bytes, other_bytes, one_size) == 0;
}

/* Is this very result there, whatever its stamps are by now? */
static bool is_known(struct store *store, const struct entry *neutral, foreign_forget *forget, store_same *same)
{
	struct asked asked = {.same = same};
	struct entry *found;
	struct entry *plain = NULL;
	bool known;

	asked.conditions = entry_conditions(neutral, &asked.size);
	if (store_get(store, entry_info(neutral)->key, ask_the_same, &asked, &found) != 0) {
		return false;
	}
	known = foreign_neutral(found, forget, &plain) == 0 && equal(plain, neutral);
	entry_unref(plain);
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
	}
	entry_unref(neutral);
	if (rc == 0) {
		*ret_put = known ? FOREIGN_KNOWN : FOREIGN_STORED;
	}
	return rc;
}
