/* SPDX-License-Identifier: MIT */
#include "interpose/compile/request.h"

#include "interpose/compile/companion.h"
#include "interpose/compile/library_steps.h"
#include "interpose/compile/result.h"
#include "interpose/compile/runtime.h"
#include "interpose/watch/arithmetic.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Adds a digest of the handle's state to the key of the last call. A compilation leaves the cubin and the lowered names
 * of earlier ones in place, and those depend on more than their requests: on headers, on the clock, on anything that
 * made them uncacheable.
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

/* Describes a call. `told`: a recorded state of the process; NULL: its present state. */
static enum counter describe_call(struct handle *handle, size_t earlier, const struct call *call,
                                  const struct snapshot *told, struct request *request)
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
	enum counter reason = library_prepare(handle->library);

	request->library = handle->library;
	if (reason != COUNTER_NONE) {
		return reason;
	}
	/* nothing before this looks whether there was memory for the whole creation run */
	if (handle->creation.failed || seal_history(handle) != 0) {
		return COUNTER_ERRORS_memory;
	}
	around.environment_count = told ? told->count : environment_values(environment, values);
	if (!environment_unchanged(environment, around.environment, around.environment_count)) {
		return COUNTER_BYPASSED_environment;
	}
	around.identity = handle->library->identity;
	around.identity_size = handle->library->identity_size;
	around.cwd = told ? told->cwd : getcwd(cwd, sizeof(cwd));
	return handle->library->compiler->describe(handle, call, &around, told, request);
}

void request_begin_run(struct request *request, const struct surroundings *around)
{
	const struct request_name name = {"", NAME_WITHOUT_DIRECTORY};
	const struct directories none = {.count = 0};

	surroundings_begin(&request->run, around, &name, around->cwd ? &none : NULL);
	surroundings_compute(&request->run, around);
	request->traits = around->cwd ? 0 : REQUEST_BOUND;
}

enum counter request_end_run(struct request *request, const struct surroundings *around)
{
	surroundings_end(&request->run, around);
	return request->run.failed ? COUNTER_ERRORS_memory : COUNTER_NONE;
}

/* For roots: returns the digest of the host's libm, on which folded constants depend; NULL: it is not known. */
static const struct key *arithmetic_of(void *context)
{
	struct library *library = context;
	const struct arithmetic *arithmetic =
	    library_patch(library) ? watch_arithmetic(atomic_load(&library->watch)) : NULL;

	return arithmetic && arithmetic->knowledge != ARITHMETIC_UNKNOWN ? &arithmetic->digest : NULL;
}

enum counter request_describe(struct handle *handle, size_t earlier, const struct call *call,
                              struct request *ret_request)
{
	enum counter reason = describe_call(handle, earlier, call, NULL, ret_request);

	ret_request->roots.arithmetic = arithmetic_of;
	ret_request->roots.companion = companion_find;
	ret_request->roots.context = handle->library;
	ret_request->spans[0] = (struct span){ret_request->run.bytes, ret_request->run.size};
	ret_request->spans[1] = (struct span){handle->creation.bytes, handle->creation.size};
	/* The keys of earlier compilations cover the creation run. */
	ret_request->span_count = earlier && handle->library->compiler->past == PAST_LEAVES ? 1 : 2;
	return reason;
}

void request_clear(struct request *request)
{
	stream_free(&request->run);
	roots_free(&request->roots);
	if (request->library && request->library->compiler->free_request) {
		request->library->compiler->free_request(request);
	}
}

static bool same_request(struct handle *handle, const struct call *call, const struct snapshot *told,
                         const struct stream *run)
{
	struct request now = {.library = NULL};
	bool same = describe_call(handle, handle->call_count, call, told, &now) == COUNTER_NONE && now.run.bytes &&
	            now.run.size == run->size && memcmp(now.run.bytes, run->bytes, run->size) == 0;

	request_clear(&now);
	return same;
}

/*
 * Describes the call with the snapshot, with which every answer to the compiler agreed, and with the present state,
 * because no watched call shows the rest (TZ, the locale).
 */
bool request_unchanged(struct handle *handle, const struct call *call, const struct request *request,
                       const struct snapshot *told)
{
	char cwd[PATH_MAX];
	const char *here = getcwd(cwd, sizeof(cwd));

	return snapshot_agrees(told, NULL, here) && same_request(handle, call, told, &request->run) &&
	       same_request(handle, call, NULL, &request->run);
}
