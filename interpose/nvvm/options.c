/* SPDX-License-Identifier: MIT */
#include "interpose/nvvm/options.h"

#include "interpose/compile/handle.h"
#include "interpose/nvvm/functions.h"

#include <string.h>

#define LENGTH(list) (sizeof(list) / sizeof((list)[0]))

/*
 * These were run before plain compilations with 12.0, 12.4, 12.9, 13.0 and 13.5, and changed nothing
 * (tests/nvvm/options.py).
 */
static const char *const clear[] = {"-g",
                                    "-gen-lto",
                                    "-generate-line-info",
                                    "-inline-info",
                                    "-fast-math",
                                    "-numba-debug",
                                    "-nvvm-latest",
                                    "-arch=",
                                    "-opt=",
                                    "-ftz=",
                                    "-prec-sqrt=",
                                    "-prec-div=",
                                    "-fma=",
                                    "-maxreg=",
                                    "-jump-table-density=",
                                    "-opt-fdiv=",
                                    "-host-ref-ek=",
                                    "-nvvm-version=",
                                    "-Ofast-compile="};
static const char *const sticky[] = {"-restrict", "-Xopt", "-Xllc", "-split-compile="};

static bool is_among(const char *option, const char *const *list, size_t count)
{
	while (count > 0 && !compiler_option_is(option, list[count - 1])) {
		count--;
	}
	return count > 0;
}

uint32_t nvvm_options_tell(const struct call *call)
{
	uint32_t told = 0;

	if (call->option_count > 0 && !handle_call_sound(call)) {
		return TOLD_UNCLEARED;
	}
	for (int i = 0; i < call->option_count; i++) {
		const char *option = call->options[i];

		if (is_among(option, sticky, LENGTH(sticky))) {
			told |= TOLD_STICKY;
		} else if (!is_among(option, clear, LENGTH(clear))) {
			told |= TOLD_UNCLEARED;
		}
	}
	return told;
}

bool nvvm_options_may_write(const struct call *call)
{
	for (int i = 0; i < call->option_count; i++) {
		const char *option = call->options[i];

		if (!is_among(option, clear, LENGTH(clear)) && strcmp(option, "-restrict") != 0 &&
		    !compiler_option_is(option, "-split-compile=")) {
			return true;
		}
	}
	return false;
}

uint64_t nvvm_options_begin(struct library *library, const struct call *call)
{
	uint32_t told = nvvm_options_tell(call);

	if (told) {
		atomic_fetch_add(&library->uncleared_running, 1);
	}
	return told;
}

/* Rejected options have no effect, so they are not recorded. */
void nvvm_options_end(struct library *library, uint64_t told, int result)
{
	if (!told) {
		return;
	}
	if (result != RESULT_INVALID_OPTION) {
		atomic_fetch_or(&library->told, (uint32_t)told);
	}
	atomic_fetch_sub(&library->uncleared_running, 1);
}

enum counter nvvm_options_spoil(const struct library *library)
{
	/* read before `told`, to which a running call adds before it ends */
	bool running = atomic_load(&library->uncleared_running) != 0;
	uint32_t told = atomic_load(&library->told);

	if (told & TOLD_STICKY) {
		return COUNTER_BYPASSED_sticky_options;
	}
	return told || running ? COUNTER_BYPASSED_uncleared_options : COUNTER_NONE;
}
