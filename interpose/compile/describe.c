/* SPDX-License-Identifier: MIT */
#include "interpose/compile/describe.h"

#include "interpose/compile/result.h"
#include "interpose/compile/runtime.h"
#include "interpose/watch/arithmetic.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/*
 * A compile leaves the cubin and the lowered names of earlier ones, and those hang on more than their requests: on
 * headers, on the clock, on whatever kept them from being kept. So what the handle holds goes into the key.
 */
static int seal_history(struct handle *handle)
{
	struct span spans[2];
	struct key *last;
	int error;

	if (handle->sealed == handle->call_count || handle->library->compiler->past != PAST_LEAVES) {
		return 0;
	}
	error = result_state(handle, &handle->state);
	if (error == 0) {
		last = &handle->keys[handle->call_count - 1];
		spans[0] = (struct span){last->bytes, sizeof(last->bytes)};
		spans[1] = (struct span){handle->state.bytes, sizeof(handle->state.bytes)};
		digest_key(spans, 2, last);
		handle->sealed = handle->call_count;
	}
	return error;
}

/* `told`: what the process was at some moment; NULL: what it is. */
static enum counter describe_call(struct handle *handle, size_t earlier, const struct call *call,
                                  const struct snapshot *told, struct attempt *attempt)
{
	struct environment *environment = handle->library->compiler->environment;
	struct environment_value values[ENVIRONMENT_MAX];
	char cwd[PATH_MAX], decimals[ENVIRONMENT_DECIMALS_MAX];
	struct surroundings around = {
	    .namespace_name = runtime_get()->settings.namespace_name,
	    .environment = told ? told->values : values,
	    .floating_point = arithmetic_mode(),
	    .decimals = environment_decimals(decimals),
	    .history = handle->keys,
	    .history_count = handle->library->compiler->past == PAST_LEAVES ? earlier : 0,
	};
	enum counter reason;

	if (!library_prepare(handle->library, &reason)) {
		return reason;
	}
	if (seal_history(handle) != 0) {
		return COUNTER_ERRORS_memory;
	}
	around.environment_count = told ? told->count : environment_values(environment, values);
	if (!environment_unchanged(environment, around.environment, around.environment_count)) {
		return COUNTER_BYPASSED_environment;
	}
	if (identity_of(handle->library, &attempt->identity) != 0) {
		return COUNTER_BYPASSED_builtins;
	}
	around.identity = attempt->identity->bytes;
	around.identity_size = attempt->identity->size;
	around.cwd = told ? told->cwd : getcwd(cwd, sizeof(cwd));
	return handle->library->compiler->describe(handle, call, &around, told, attempt);
}

static const struct key *arithmetic_of(void *context)
{
	struct library *library = context;
	const struct arithmetic *arithmetic =
	    library_watched(library) ? watch_arithmetic(atomic_load(&library->watch)) : NULL;

	return arithmetic && arithmetic->knowledge != ARITHMETIC_UNKNOWN ? &arithmetic->digest : NULL;
}

enum counter describe(struct handle *handle, size_t earlier, const struct call *call, struct attempt *attempt)
{
	enum counter reason = describe_call(handle, earlier, call, NULL, attempt);

	attempt->roots.arithmetic = arithmetic_of;
	attempt->roots.context = handle->library;
	attempt->spans[0] = (struct span){attempt->run.bytes, attempt->run.size};
	attempt->spans[1] = (struct span){handle->creation.bytes, handle->creation.size};
	/* The keys of earlier compiles stand for the creation run. */
	attempt->span_count = earlier && handle->library->compiler->past == PAST_LEAVES ? 1 : 2;
	return reason;
}

static bool same_request(struct handle *handle, const struct call *call, const struct snapshot *told,
                         const struct attempt *attempt)
{
	struct attempt *now = attempt_new(handle->library, NULL);
	bool same = now && describe_call(handle, handle->call_count, call, told, now) == COUNTER_NONE &&
	            now->run.bytes && now->run.size == attempt->run.size &&
	            memcmp(now->run.bytes, attempt->run.bytes, now->run.size) == 0;

	attempt_free(now);
	return same;
}

/* By the snapshot, which all that the compiler was told agrees with; and now, for what no call tells (TZ, the locale).
 */
bool describes_still(struct handle *handle, const struct call *call, const struct attempt *attempt)
{
	char cwd[PATH_MAX];
	const char *here = getcwd(cwd, sizeof(cwd));

	return snapshot_agrees_directory(attempt->told, here) && same_request(handle, call, attempt->told, attempt) &&
	       same_request(handle, call, NULL, attempt);
}
