/* SPDX-License-Identifier: MIT */
#include "interpose/compile/look_up.h"

#include "cache/error_text.h"
#include "interpose/compile/event.h"
#include "interpose/compile/log.h"
#include "interpose/compile/renew.h"
#include "interpose/compile/runtime.h"
#include "keygen/conditions.h"
#include "keygen/conditions_tell.h"

#include <errno.h>
#include <limits.h>
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
	attempt->refused++;
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

#define NEAREST_NS (INT64_C(100) * 1000000) /* for all of them: past that, no other is looked at */

struct nearest {
	const struct attempt *attempt;
	unsigned least; /* so many of its conditions do not hold */
	int64_t until_ns;
};

static void count_failing(const struct condition *condition, void *context)
{
	unsigned *failing = context;

	*failing += condition->state != CONDITION_UNCHANGED && condition->state != CONDITION_NOT_ASKED;
}

static unsigned roots_elsewhere(const struct roots *roots, const void *conditions, size_t size)
{
	unsigned count = 0;
	const char *text;
	size_t text_size;

	for (size_t i = 0; i < roots->count; i++) {
		const struct root *root = &roots->root[i];

		count += conditions_bound_root(conditions, size, (uint32_t)i, &text, &text_size) &&
		         (text_size != root->size || memcmp(text, root->text, text_size) != 0);
	}
	return count;
}

/* Never true: what does not hold is what is looked for. */
static bool note_if_nearest(void *context, const void *conditions, size_t size)
{
	struct nearest *nearest = context;
	const struct roots *roots = &nearest->attempt->roots;
	const struct condition_places places = {.root = roots->root, .root_count = roots->count, .here = true};
	struct conditions_told told;
	char why[EVENT_DETAIL_BYTES];
	unsigned failing = 0;

	if (runtime_clock() > nearest->until_ns ||
	    conditions_tell(conditions, size, &places, count_failing, &failing, &told) != 0) {
		return false;
	}
	failing += roots_elsewhere(roots, conditions, size) + told.joined;
	if (failing < nearest->least && !conditions_hold(conditions, size, roots, why, sizeof(why))) {
		nearest->least = failing;
		memcpy(nearest->attempt->event->detail, why, sizeof(why));
	}
	return false;
}

static void look_for_nearest(struct store *store, struct nearest *nearest)
{
	struct entry *entry = NULL;

	/* one without conditions holds unasked: it came in between */
	if (store_get(store, nearest->attempt->key.bytes, note_if_nearest, nearest, &entry) == 0) {
		entry_unref(entry);
	}
}

/*
 * Several results of the request were there, as of several branches of a checkout: people are told of the one of which
 * the least has changed, the newest of equal ones. That costs another look at all of them, where a compile follows; on
 * a file system where it takes long, the rest is left.
 */
static void explain_by_nearest(struct attempt *attempt)
{
	const struct runtime *runtime = runtime_get();
	struct nearest nearest = {attempt, UINT_MAX, runtime_clock() + NEAREST_NS};

	if (runtime->store) {
		look_for_nearest(runtime->store, &nearest);
	}
	for (int i = 0; i < runtime->lower_count; i++) {
		look_for_nearest(runtime->lower[i], &nearest);
	}
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
	attempt->refused = 0;
	error = look_on_disk(attempt, &entry, &origin);
	attempt->stale = error == -ESTALE;
	if (attempt->stale && attempt->refused > 1) {
		explain_by_nearest(attempt);
	}
	if (error != 0) {
		return NULL;
	}
	entry = renew(attempt, entry, origin);
	remember(attempt, entry);
	return entry;
}
