/* SPDX-License-Identifier: MIT */
#include "interpose/compile/replay.h"

#include "interpose/compile/log.h"
#include "interpose/compile/result.h"
#include "interpose/compile/runtime.h"
#include "interpose/nvrtc/describe.h"
#include "interpose/nvrtc/sticky.h"
#include "keygen/conditions.h"

#include <string.h>

static int never_cancel(void *payload, void *reserved)
{
	(void)payload;
	(void)reserved;
	return 0;
}

/* A callback that the host has set meanwhile must not cancel what it did before; it cannot be unset, only replaced. */
void replay_all(struct program *program)
{
	typedef int compile_function(nvrtcProgram, int, const char *const *);
	typedef int flow_setter(nvrtcProgram, flow_callback *, void *);
	compile_function *compile = (compile_function *)program->library->real[FUNCTION_nvrtcCompileProgram];
	flow_setter *set = (flow_setter *)program->library->real[FUNCTION_nvrtcSetFlowCallback];
	bool replaced = false;

	for (size_t i = 0; i < program->call_count; i++) {
		struct compile_call *call = &program->calls[i];
		struct lingering lingering;
		int result;

		if (call->done) {
			continue;
		}
		if (program->callback && !replaced) {
			(void)set(program->handle, never_cancel, NULL);
			replaced = true;
		}
		lingering_begin(program->library, call->option_count, (const char *const *)call->options, &lingering);
		result = compile(program->handle, call->option_count, (const char *const *)call->options);
		lingering_end(&lingering, result);
		call->done = true;
	}
	if (replaced) {
		(void)set(program->handle, program->callback, program->payload);
	}
	program->served = NULL;
}

/* Was every compile of this handle a hit, or refused? Then held[] are the answers to those calls[] that are not done.
 */
static bool never_compiled(const struct program *program)
{
	size_t served = 0;

	for (size_t i = 0; i < program->call_count; i++) {
		if (program->calls[i].done && !program->calls[i].refused) {
			return false;
		}
		served += !program->calls[i].done;
	}
	return program->held_count == served;
}

bool replay_allows(const struct program *program, const struct entry *entry)
{
	size_t size;
	const void *conditions = entry_conditions(entry, &size);

	return never_compiled(program) || !conditions_name_files(conditions, size);
}

static bool holds_still(struct program *program, size_t index, const struct entry *entry)
{
	const struct compile_call *call = &program->calls[index];
	struct attempt now = {0};
	size_t size;
	const void *conditions = entry_conditions(entry, &size);
	bool same =
	    describe(program, index, call->option_count, (const char *const *)call->options, &now) == COUNTER_NONE;

	if (same) {
		same = digest_half(&runtime_get()->secret, now.spans) == call->asked &&
		       result_applies(entry, runtime_get()->settings.sloppy_time_macros) &&
		       conditions_hold(conditions, size, &now.roots, NULL, 0);
	}
	attempt_forget_request(&now);
	return same;
}

static void rest(struct program *program)
{
	log_write(LOG_INFO, "what was served has gone stale: the program is not compiled again for it");
	for (size_t i = 0; i < program->call_count; i++) {
		program->calls[i].done = true;
	}
	program->base = program->served;
	program->served = NULL;
}

void replay_take_back(struct program *program)
{
	for (size_t i = 0; i < program->call_count; i++) {
		program->calls[i].done = program->calls[i].refused;
	}
	program->served = program->base;
	program->base = NULL;
}

bool replay(struct program *program)
{
	struct key state;
	size_t held = 0;

	if (!program->served) {
		return true;
	}
	for (size_t i = 0; i < program->call_count && never_compiled(program); i++) {
		if (!program->calls[i].done && !holds_still(program, i, program->held[held++])) {
			rest(program);
			return false;
		}
	}
	replay_all(program);
	return result_state(program, &state) == 0 && memcmp(&state, &program->state, sizeof(state)) == 0;
}
