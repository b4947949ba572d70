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
static const char *const clear[] = {"-g",         "-gen-lto",     "-generate-line-info", "-inline-info",
                                    "-fast-math", "-numba-debug", "-nvvm-latest"};
static const char *const clear_beginnings[] = {
    "-arch=",   "-opt=",      "-ftz=",         "-prec-sqrt=",    "-prec-div=",     "-fma=", "-jump-table-density=",
    "-maxreg=", "-opt-fdiv=", "-host-ref-ek=", "-nvvm-version=", "-Ofast-compile="};
static const char *const sticky[] = {"-restrict", "-Xopt", "-Xllc"};
static const char *const sticky_beginnings[] = {"-split-compile="};

static bool is_one(const char *option, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(option, list[i]) == 0) {
			return true;
		}
	}
	return false;
}

static bool begins_as_one(const char *option, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strncmp(option, list[i], strlen(list[i])) == 0) {
			return true;
		}
	}
	return false;
}

uint32_t nvvm_options_tell(const struct call *call)
{
	uint32_t told = 0;

	if (call->option_count > 0 && !handle_call_sound(call)) {
		return TOLD_UNCLEARED;
	}
	for (int i = 0; i < call->option_count; i++) {
		const char *option = call->options[i];

		if (is_one(option, sticky, LENGTH(sticky)) ||
		    begins_as_one(option, sticky_beginnings, LENGTH(sticky_beginnings))) {
			told |= TOLD_STICKY;
		} else if (!is_one(option, clear, LENGTH(clear)) &&
		           !begins_as_one(option, clear_beginnings, LENGTH(clear_beginnings))) {
			told |= TOLD_UNCLEARED;
		}
	}
	return told;
}

uint32_t nvvm_options_begin(struct library *library, const struct call *call)
{
	uint32_t told = nvvm_options_tell(call);

	if (told) {
		atomic_fetch_add(&library->uncleared_running, 1);
	}
	return told;
}

/* Rejected options have no effect, so they are not recorded. */
void nvvm_options_end(struct library *library, uint32_t told, int result)
{
	if (!told) {
		return;
	}
	if (result != RESULT_INVALID_OPTION) {
		atomic_fetch_or(&library->told, told);
	}
	atomic_fetch_sub(&library->uncleared_running, 1);
}

enum counter nvvm_options_spoil(const struct library *library)
{
	bool running = atomic_load(&library->uncleared_running) !=
	               0; /* read before `told`, to which a running call adds before it ends */
	uint32_t told = atomic_load(&library->told);

	if (told & TOLD_STICKY) {
		return COUNTER_BYPASSED_sticky_options;
	}
	return told || running ? COUNTER_BYPASSED_uncleared_options : COUNTER_NONE;
}
