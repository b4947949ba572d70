/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/describe.h"

#include "interpose/compile/identity.h"
#include "interpose/compile/result.h"
#include "interpose/compile/runtime.h"
#include "interpose/nvrtc/versions.h"
#include "interpose/watch/environment.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/*
 * A compile leaves the cubin and the lowered names of earlier ones, and those hang on more than their requests: on
 * headers, on the clock, on whatever kept them from being kept. So what the handle holds goes into the key.
 */
static int seal_history(struct program *program)
{
	struct span spans[2];
	struct key *last;
	int error;

	if (program->sealed == program->call_count) {
		return 0;
	}
	error = result_state(program, &program->state);
	if (error == 0) {
		last = &program->keys[program->call_count - 1];
		spans[0] = (struct span){last->bytes, sizeof(last->bytes)};
		spans[1] = (struct span){program->state.bytes, sizeof(program->state.bytes)};
		digest_key(spans, 2, last);
		program->sealed = program->call_count;
	}
	return error;
}

/* `told`: what the process was at some moment; NULL: what it is. */
static enum counter describe_call(struct program *program, size_t earlier, int option_count, const char *const *options,
                                  const struct snapshot *told, struct attempt *attempt)
{
	struct environment_value values[ENVIRONMENT_COUNT];
	char cwd[PATH_MAX], decimals[ENVIRONMENT_DECIMALS_MAX];
	const struct runtime *runtime = runtime_get();
	struct request request = {
	    .program_name = program->name,
	    .has_memory_headers = program->has_memory_headers,
	    .namespace_name = runtime->settings.namespace_name,
	    .options = options,
	    .option_count = option_count,
	    .name_expressions = (const char *const *)program->names,
	    .name_count = program->name_count,
	    .environment = values,
	    .floating_point = arithmetic_mode(),
	    .decimals = environment_decimals(decimals),
	    .history = program->keys,
	    .history_count = earlier,
	};
	enum counter reason;

	if (!library_prepare(program->library, &reason)) {
		return reason;
	}
	if (nvrtc_differs(DIFFERENCE_ASKS_LOCALE, program->library->major, program->library->minor) &&
	    environment_has_letters()) {
		return COUNTER_BYPASSED_environment;
	}
	if (seal_history(program) != 0) {
		return COUNTER_ERRORS_memory;
	}
	if (told) {
		request.environment = told->values;
		request.environment_count = told->count;
	} else {
		request.environment_count = environment_values(values);
	}
	if (!environment_unchanged(request.environment, request.environment_count)) {
		return COUNTER_BYPASSED_environment;
	}
	if (identity_of(program->library, &attempt->identity) != 0) {
		return COUNTER_BYPASSED_builtins;
	}
	request.identity = attempt->identity->bytes;
	request.identity_size = attempt->identity->size;
	request.cwd = told ? told->cwd : getcwd(cwd, sizeof(cwd));
	if (request_call(&request, &attempt->call, &attempt->roots, &attempt->options) != 0) {
		return COUNTER_ERRORS_memory;
	}
	if (attempt->options.pch && atomic_load(&program->library->heap_was_set)) {
		return COUNTER_BYPASSED_precompiled_header;
	}
	if (options_bind(&attempt->options) && (request.pwd = told ? snapshot_pwd(told) : environment_pwd())) {
		attempt_forget_request(attempt);
		if (request_call(&request, &attempt->call, &attempt->roots, &attempt->options) != 0) {
			return COUNTER_ERRORS_memory;
		}
	}
	return COUNTER_NONE;
}

static const struct key *arithmetic_of(void *context)
{
	struct library *library = context;
	const struct arithmetic *arithmetic =
	    library_watched(library) ? watch_arithmetic(atomic_load(&library->watch)) : NULL;

	return arithmetic && arithmetic->knowledge != ARITHMETIC_UNKNOWN ? &arithmetic->digest : NULL;
}

enum counter describe(struct program *program, size_t earlier, int option_count, const char *const *options,
                      struct attempt *attempt)
{
	enum counter reason = describe_call(program, earlier, option_count, options, NULL, attempt);

	attempt->roots.arithmetic = arithmetic_of;
	attempt->roots.context = program->library;
	attempt->spans[0] = (struct span){attempt->call.bytes, attempt->call.size};
	attempt->spans[1] = (struct span){program->creation.bytes, program->creation.size};
	/* The keys of earlier compiles stand for the creation run. */
	attempt->span_count = earlier ? 1 : 2;
	return reason;
}

static bool same_call(struct program *program, int option_count, const char *const *options,
                      const struct snapshot *told, const struct attempt *attempt)
{
	struct attempt now = {0};
	bool same = describe_call(program, program->call_count, option_count, options, told, &now) == COUNTER_NONE &&
	            now.call.bytes && now.call.size == attempt->call.size &&
	            memcmp(now.call.bytes, attempt->call.bytes, now.call.size) == 0;

	attempt_forget_request(&now);
	return same;
}

/* By the snapshot, which all that the compiler was told agrees with; and now, for what no call tells (TZ, the locale).
 */
bool still_asked(struct program *program, int option_count, const char *const *options, const struct attempt *attempt)
{
	char cwd[PATH_MAX];
	const char *here = getcwd(cwd, sizeof(cwd));

	return snapshot_agrees_directory(attempt->told, here) &&
	       same_call(program, option_count, options, attempt->told, attempt) &&
	       same_call(program, option_count, options, NULL, attempt);
}
