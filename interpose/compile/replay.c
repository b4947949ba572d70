/* SPDX-License-Identifier: MIT */
/*
 * Before any call is performed, all deferred calls are described again and the dependencies of their entries are
 * checked. Only if all of them hold does the compiler see the same input as when the entries were stored.
 */
#include "interpose/compile/replay.h"

#include "interpose/compile/log.h"
#include "interpose/compile/request.h"
#include "interpose/compile/result.h"
#include "interpose/compile/runtime.h"
#include "interpose/watch/arithmetic.h"
#include "interpose/watch/environment.h"

#include <locale.h>
#include <pthread.h>
#include <string.h>

/*
 * Performs each deferred call in the rounding mode in which the host made it. The thread cannot be cancelled meanwhile.
 * A callback that the host has set since must not cancel these calls; it cannot be unset, only replaced. Returns false
 * if the real library returned another code than the cache.
 */
bool replay_all(struct handle *handle)
{
	const struct compiler *compiler = handle->library->compiler;
	char decimals[ENVIRONMENT_DECIMALS_MAX];
	uint64_t mode = arithmetic_mode();
	/*
	 * No step is served if the locale's decimal separator is not a dot, so every deferred step was made with a dot.
	 */
	locale_t dots = compiler->past == PAST_GROWS && environment_decimals(decimals)
	                    ? newlocale(LC_ALL_MASK, "C", (locale_t)0)
	                    : (locale_t)0;
	locale_t hosts = dots ? uselocale(dots) : (locale_t)0;
	int cancel_state = handle->cancel_state;
	bool replaced = false, as_told = true;

	handle->cancel_state = PTHREAD_CANCEL_DISABLE;
	for (size_t i = 0; i < handle->call_count; i++) {
		struct past_call *past = &handle->calls[i];
		int result;

		if (past->state != CALL_DEFERRED) {
			continue;
		}
		if (handle->asks_host && !replaced) {
			compiler->let_answer(handle, ANSWER_GO_ON);
			replaced = true;
		}
		arithmetic_restore(past->mode);
		result = handle_run(handle, &past->call);
		if (past->answer &&
		    result != result_value(past->answer, RESULT_TAG_RETURN_CODE, compiler->internal_error)) {
			as_told = false;
		}
		past->state = CALL_DONE;
	}
	handle->cancel_state = cancel_state;
	arithmetic_restore(mode);
	if (dots) {
		(void)uselocale(hosts);
		freelocale(dots);
	}
	if (replaced) {
		compiler->let_answer(handle, ANSWER_HOST);
	}
	handle->served = NULL;
	return as_told;
}

/*
 * Returns true if every compilation of the handle was a hit or was refused. Then held[] are the answers to the deferred
 * calls.
 */
static bool never_compiled(const struct handle *handle)
{
	size_t served = 0;

	for (size_t i = 0; i < handle->call_count; i++) {
		if (handle->calls[i].state == CALL_DONE) {
			return false;
		}
		served += handle->calls[i].state == CALL_DEFERRED;
	}
	return handle->held_count == served;
}

/*
 * Returns true if the call can be deferred. A step that is served may have to be performed later, with the same result
 * as now. That is not certain for a step that opens files: they may have changed or vanished by that time, or be
 * searched in another directory.
 */
static bool can_be_deferred(const struct handle *handle, const struct call *call, const struct entry *entry)
{
	return handle->library->compiler->past != PAST_GROWS || call->kind == 0 || !result_names_files(entry);
}

bool replay_allows(const struct handle *handle, const struct call *call, const struct entry *entry, struct event *event)
{
	const struct compiler *compiler = handle->library->compiler;
	enum outcome outcome = handle_outcome(compiler, result_value(entry, RESULT_TAG_RETURN_CODE, -1));
	const char *variable;

	/* such a result is never cached, so another program must have written the entry */
	if (outcome != OUTCOME_SUCCESS && outcome != OUTCOME_FAILURE) {
		event_explain_unfit(event, "the entry has a return code that is never cached");
	} else if (!can_be_deferred(handle, call, entry)) {
		event_explain_unfit(event, "steps of a link that open files are not served");
	} else if (compiler->reachable && !compiler->reachable(handle, entry)) {
		event_explain_unfit(event, "the program is linked with getters that bypass the cache");
	} else if (!runtime_get()->settings.verify && !never_compiled(handle) && result_names_files(entry)) {
		/* a handle that was compiled for real cannot become detached */
		event_explain_unfit(event,
		                    "an earlier compilation of the handle was not a hit, and this one reads files");
	} else if (result_applies(entry, runtime_get()->settings.tolerated, &variable)) {
		return true;
	} else if (variable) {
		event_explain_unfit(event, "the entry was stored while %s was not set, and it is set now", variable);
	} else {
		event_explain_unfit(event, "the entry is served only with NVRTCCACHE_SLOPPINESS=%s",
		                    result_sloppiness(entry) & SLOPPINESS_TIME_MACROS ? "time_macros" : "debug_paths");
	}
	return false;
}

/*
 * Returns true if the call, described again, has the same request (directory and environment matter too) and its entry
 * is still valid.
 */
static bool holds_still(struct handle *handle, size_t index)
{
	const struct past_call *past = &handle->calls[index];
	const struct entry *entry = past->answer;
	const char *variable;
	struct request now = {.library = NULL};
	bool same = request_describe(handle, index, &past->call, &now) == COUNTER_NONE &&
	            digest_half(&runtime_get()->secret, now.spans) == past->asked;

	same = same && (!entry || (result_applies(entry, runtime_get()->settings.tolerated, &variable) &&
	                           result_holds(entry, &now.roots)));
	request_clear(&now);
	return same;
}

static void change_states(struct handle *handle, enum call_state from, enum call_state to)
{
	for (size_t i = 0; i < handle->call_count; i++) {
		if (handle->calls[i].state == from) {
			handle->calls[i].state = to;
		}
	}
}

static void detach_handle(struct handle *handle)
{
	log_write(LOG_INFO, "detached the handle: its entry is no longer valid, so deferred calls are not replayed");
	change_states(handle, CALL_DEFERRED, CALL_DONE);
	handle->base = handle->served;
	handle->served = NULL;
}

void replay_take_back(struct handle *handle)
{
	change_states(handle, CALL_DONE, CALL_DEFERRED);
	handle->served = handle->base;
	handle->base = NULL;
}

static bool all_hold_still(struct handle *handle)
{
	for (size_t i = 0; i < handle->call_count; i++) {
		if (handle->calls[i].state == CALL_DEFERRED && !holds_still(handle, i)) {
			return false;
		}
	}
	return true;
}

bool replay_if_unchanged(struct handle *handle)
{
	return all_hold_still(handle) && replay_all(handle);
}

/*
 * Steps (PAST_GROWS) are performed even if something has changed, because the next step needs their results. A handle
 * whose past leaves its outputs behind (PAST_LEAVES) is replayed only if its inputs are still those of the stored
 * results; the state that the real handle has afterwards must be the one that the host was served.
 */
bool replay(struct handle *handle)
{
	struct key state;
	bool still;

	if (!handle->served) {
		return true;
	}
	switch (handle->library->compiler->past) {
	case PAST_IS_NOTHING:
		handle->served = NULL;
		return true;
	case PAST_GROWS:
		still = all_hold_still(handle);
		return replay_all(handle) && still;
	case PAST_LEAVES:
		break;
	}
	if (never_compiled(handle) && !all_hold_still(handle)) {
		detach_handle(handle);
		return false;
	}
	(void)replay_all(handle);
	return result_state(handle, &state) == 0 && memcmp(&state, &handle->state, sizeof(state)) == 0;
}
