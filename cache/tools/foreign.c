/* SPDX-License-Identifier: MIT */
#include "cache/tools/foreign.h"

#include "cache/counters.h"

#include <errno.h>
#include <string.h>

static bool ask_the_same(void *context, const void *dependencies, size_t size)
{
	size_t wanted_size;
	const void *wanted = entry_dependencies(context, &wanted_size);

	return size == wanted_size && memcmp(dependencies, wanted, size) == 0;
}

static bool is_known(struct store *store, const struct entry *entry)
{
	size_t size, other_size;
	const void *bytes = entry_bytes(entry, &size);
	struct entry *found;
	bool known;

	if (store_get(store, entry_info(entry)->key, ask_the_same, (void *)entry, &found) != 0) {
		return false;
	}
	known = memcmp(entry_bytes(found, &other_size), bytes, size < other_size ? size : other_size) == 0 &&
	        size == other_size;
	entry_unref(found);
	return known;
}

int foreign_put(struct store *store, const struct entry *entry, enum foreign_put *ret_put)
{
	bool known = is_known(store, entry);
	int rc = known ? 0 : store_put(store, entry);

	counters_add(COUNTER_TOTAL_evictions, store_take_evictions(store));
	if (rc == 0) {
		*ret_put = known ? FOREIGN_KNOWN : FOREIGN_STORED;
	}
	return rc;
}
