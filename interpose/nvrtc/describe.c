/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/describe.h"

#include "interpose/nvrtc/compilation.h"
#include "interpose/nvrtc/pch.h"
#include "interpose/nvrtc/program.h"
#include "interpose/nvrtc/request.h"
#include "interpose/nvrtc/versions.h"

#include <stdlib.h>
#include <string.h>

enum counter describe_compile(struct handle *handle, const struct call *call, struct surroundings *around,
                              const struct snapshot *told, struct attempt *attempt)
{
	const struct library *library = handle->library;
	const struct program *program = program_of(handle);
	struct options *options = &compilation_of(attempt)->options;
	struct request request = {
	    .around = *around,
	    .program_name = handle->name,
	    .has_memory_headers = program->has_memory_headers,
	    .options = call->options,
	    .option_count = call->option_count,
	    .name_expressions = (const char *const *)program->names,
	    .name_count = program->name_count,
	};

	if (nvrtc_differs(DIFFERENCE_ASKS_LOCALE, library->major, library->minor) && environment_has_letters()) {
		return COUNTER_BYPASSED_environment;
	}
	if (request_call(&request, &attempt->run, &attempt->roots, options) != 0) {
		return COUNTER_ERRORS_memory;
	}
	if (options->pch && pch_heap_was_set(library)) {
		return COUNTER_BYPASSED_precompiled_header;
	}
	if (options_bind(options) && (request.around.pwd = told ? snapshot_pwd(told) : environment_pwd())) {
		attempt_forget_request(attempt);
		if (request_call(&request, &attempt->run, &attempt->roots, options) != 0) {
			return COUNTER_ERRORS_memory;
		}
	}
	attempt->bound = options_bind(options);
	attempt->exact = options_exact(options);
	attempt->looks_count = program->has_memory_headers;
	return COUNTER_NONE;
}

/*
 * From 12.9 on NVRTC takes what ptxas makes from a cache of the driver's, and then has nothing of what ptxas said: a
 * log that was asked for would be kept without it. So such a compile goes past that cache. In front: the host's last
 * option may lack its value, and would take ours.
 */
bool describe_prepare(const struct handle *handle, const struct call *call, struct attempt *attempt)
{
	static const char no_cache[] = "--no-cache";
	struct compilation *compilation = compilation_of(attempt);
	const struct library *library = handle->library;

	if (!compilation->options.ptxas_speaks ||
	    !nvrtc_differs(DIFFERENCE_OWN_CACHE, library->major, library->minor)) {
		return true;
	}
	for (int i = 0; i < call->option_count; i++) {
		if (strcmp(call->options[i], no_cache) == 0 || strcmp(call->options[i], no_cache + 1) == 0) {
			return true;
		}
	}
	compilation->more = calloc((size_t)call->option_count + 1, sizeof(char *));
	if (!compilation->more) {
		return false;
	}
	compilation->more[0] = no_cache;
	memcpy(compilation->more + 1, call->options, (size_t)call->option_count * sizeof(char *));
	attempt->instead = (struct call){call->option_count + 1, compilation->more, 0};
	return true;
}

void describe_free(struct attempt *attempt)
{
	struct compilation *compilation = compilation_of(attempt);

	options_free(&compilation->options);
	compilation->options = (struct options){0};
	free(compilation->more);
	compilation->more = NULL;
}
