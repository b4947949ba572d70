/* SPDX-License-Identifier: MIT */
#include "interpose/compile/look_up.h"

#include "cache/error_text.h"
#include "interpose/compile/event.h"
#include "interpose/compile/log.h"
#include "interpose/compile/renew.h"
#include "interpose/compile/runtime.h"
#include "keygen/conditions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool conditions_still_hold(void *context, const void *conditions, size_t size)
{
	struct attempt *attempt = context;
	char other[EVENT_DETAIL_BYTES]; /* the newest comes first, and why that does not hold is what people ask */
	char *why = attempt->event->detail[0] == '\0' ? attempt->event->detail : other;

	free(attempt->anew);
	attempt->anew = NULL;
	if (conditions_hold_anew(conditions, size, &attempt->roots, why, EVENT_DETAIL_BYTES, &attempt->anew)) {
		attempt->event->detail[0] = '\0';
		return true;
	}
	log_write(LOG_DEBUG, "a result does not hold: %s", why);
	return false;
}

/* The directory, then the read-only ones below it, in order (C6). What one of them has is enough. */
static int look_on_disk(struct attempt *attempt, struct entry **ret_entry, enum origin *ret_origin)
{
	const struct runtime *runtime = runtime_get();
	int error = runtime->store
	                ? store_get(runtime->store, attempt->key.bytes, conditions_still_hold, attempt, ret_entry)
	                : -ENOENT;

	*ret_origin = ORIGIN_DIRECTORY;
	if (error != 0 && error != -ENOENT && error != -ESTALE) {
		char text[ERROR_TEXT_BYTES];

		log_write(LOG_WARNING, "look-up failed: %s: %s", runtime->settings.directory, error_text(error, text));
		runtime_count(runtime_error_counter(error, COUNTER_ERRORS_read), 1);
	}
	for (int i = 0; i < runtime->lower_count && error != 0; i++) {
		int below = store_get(runtime->lower[i], attempt->key.bytes, conditions_still_hold, attempt, ret_entry);

		error = below == 0 || below == -ESTALE ? below : error;
		*ret_origin = ORIGIN_BELOW;
	}
	return error;
}

static void remember(const struct attempt *attempt, struct entry *entry)
{
	const struct runtime *runtime = runtime_get();

	if (runtime->memory) {
		memory_put(runtime->memory, attempt->fingerprint.low, attempt->fingerprint.high, entry);
	}
}

struct entry *look_up(struct attempt *attempt)
{
	const struct runtime *runtime = runtime_get();
	struct entry *entry = NULL;
	enum origin origin = ORIGIN_DIRECTORY;
	int error;

	attempt->event->detail[0] = '\0';
	digest_fingerprint(&runtime->secret, attempt->spans, attempt->span_count, &attempt->fingerprint);
	if (runtime->settings.recache) {
		event_explain_unfit(attempt->event, "NVRTCCACHE_RECACHE is set, so nothing was looked up");
		digest_key(attempt->spans, attempt->span_count, &attempt->key);
		return NULL;
	}
	if (runtime->memory) {
		entry = memory_get(runtime->memory, attempt->fingerprint.low, attempt->fingerprint.high,
		                   conditions_still_hold, attempt);
	}
	if (entry && entry_reader(entry) != ENTRY_ANYBODY && entry_reader(entry) != geteuid()) {
		entry_unref(entry);
		entry = NULL;
	}
	if (entry) {
		memcpy(attempt->key.bytes, entry_info(entry)->key, sizeof(attempt->key.bytes));
		attempt->from_memory = true;
		if (attempt->anew) {
			entry = renew(attempt, entry, origin);
			remember(attempt, entry);
		}
		return entry;
	}
	digest_key(attempt->spans, attempt->span_count, &attempt->key);
	error = look_on_disk(attempt, &entry, &origin);
	attempt->stale = error == -ESTALE;
	if (error != 0) {
		return NULL;
	}
	entry = renew(attempt, entry, origin);
	remember(attempt, entry);
	return entry;
}
