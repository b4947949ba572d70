/* SPDX-License-Identifier: MIT */
#include "interpose/compile/replay.h"

#include "interpose/compile/describe.h"
#include "interpose/compile/log.h"
#include "interpose/compile/result.h"
#include "interpose/compile/runtime.h"
#include "keygen/conditions.h"

#include <string.h>

/* A callback that the host has set meanwhile must not cancel what it did before; it cannot be unset, only replaced. */
void replay_all(struct handle *handle)
{
	const struct compiler *compiler = handle->library->compiler;
	bool replaced = false;

	for (size_t i = 0; i < handle->call_count; i++) {
		struct past_call *past = &handle->calls[i];
		const struct call call = {past->option_count, (const char *const *)past->options};

		if (past->state != CALL_OWED) {
			continue;
		}
		if (handle->asks_host && !replaced) {
			compiler->let_answer(handle, ANSWER_GO_ON);
			replaced = true;
		}
		(void)compiler->run(handle, &call, CANCELLATION_OFF);
		past->state = CALL_DONE;
	}
	if (replaced) {
		compiler->let_answer(handle, ANSWER_HOST);
	}
	handle->served = NULL;
}

/* Was every compile of this handle a hit, or refused? Then held[] are the answers to those calls[] that are not done.
 */
static bool never_compiled(const struct handle *handle)
{
	size_t served = 0;

	for (size_t i = 0; i < handle->call_count; i++) {
		if (handle->calls[i].state == CALL_DONE) {
			return false;
		}
		served += handle->calls[i].state == CALL_OWED;
	}
	return handle->held_count == served;
}

bool replay_allows(const struct handle *handle, const struct entry *entry)
{
	size_t size;
	const void *conditions = entry_conditions(entry, &size);

	return never_compiled(handle) || !conditions_name_files(conditions, size);
}

static bool holds_still(struct handle *handle, size_t index, const struct entry *entry)
{
	const struct past_call *past = &handle->calls[index];
	const struct call call = {past->option_count, (const char *const *)past->options};
	struct attempt *now = attempt_new(handle->library);
	size_t size;
	const void *conditions = entry_conditions(entry, &size);
	bool same = now && describe(handle, index, &call, now) == COUNTER_NONE;

	if (same) {
		same = digest_half(&runtime_get()->secret, now->spans) == past->asked &&
		       result_applies(entry, runtime_sloppiness()) &&
		       conditions_hold(conditions, size, &now->roots, NULL, 0);
	}
	attempt_free(now);
	return same;
}

static void detach(struct handle *handle)
{
	log_write(LOG_INFO, "what was served has gone stale: the program is not compiled again for it");
	for (size_t i = 0; i < handle->call_count; i++) {
		if (handle->calls[i].state == CALL_OWED) {
			handle->calls[i].state = CALL_DONE;
		}
	}
	handle->base = handle->served;
	handle->served = NULL;
}

void replay_take_back(struct handle *handle)
{
	for (size_t i = 0; i < handle->call_count; i++) {
		if (handle->calls[i].state == CALL_DONE) {
			handle->calls[i].state = CALL_OWED;
		}
	}
	handle->served = handle->base;
	handle->base = NULL;
}

bool replay(struct handle *handle)
{
	struct key state;
	size_t held = 0;

	if (!handle->served) {
		return true;
	}
	for (size_t i = 0; i < handle->call_count && never_compiled(handle); i++) {
		if (handle->calls[i].state == CALL_OWED && !holds_still(handle, i, handle->held[held++])) {
			detach(handle);
			return false;
		}
	}
	replay_all(handle);
	return result_state(handle, &state) == 0 && memcmp(&state, &handle->state, sizeof(state)) == 0;
}
