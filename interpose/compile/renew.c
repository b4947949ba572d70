/* SPDX-License-Identifier: MIT */
#include "interpose/compile/renew.h"

#include "cache/error_text.h"
#include "interpose/compile/log.h"
#include "interpose/compile/runtime.h"
#include "keygen/conditions.h"

#include <stdlib.h>

/* A cache below the directory is never written: what is found there comes to lie in the directory too. */
static void write_anew(const struct entry *entry, const struct entry *anew, enum origin origin)
{
	const struct runtime *runtime = runtime_get();
	size_t size;
	const void *before = entry_conditions(entry, &size);
	const void *after = entry_conditions(anew, &size);
	char text[ERROR_TEXT_BYTES];
	int error;

	if (!runtime->store || runtime->settings.read_only || conditions_lately_elsewhere(before, after, size)) {
		return;
	}
	error = origin == ORIGIN_BELOW ? store_put(runtime->store, anew) : store_amend(runtime->store, entry, anew);
	if (error != 0) {
		log_write(LOG_INFO, "not stamped anew: %s: %s", runtime->settings.directory, error_text(error, text));
		return;
	}
	log_write(LOG_INFO, "stamped anew");
	runtime_count(COUNTER_TOTAL_evictions, store_take_evictions(runtime->store));
}

struct entry *renew(struct attempt *attempt, struct entry *entry, enum origin origin)
{
	struct entry *anew;
	size_t size;

	(void)entry_conditions(entry, &size);
	if (!attempt->anew || entry_amend(entry, attempt->anew, size, &anew) != 0) {
		return entry;
	}
	free(attempt->anew);
	attempt->anew = NULL;
	write_anew(entry, anew, origin);
	entry_unref(entry);
	return anew;
}
