/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/describe.h"

#include "interpose/compile/binding.h"
#include "interpose/compile/runtime.h"
#include "interpose/nvrtc/pch.h"
#include "interpose/nvrtc/program.h"
#include "interpose/nvrtc/runs.h"
#include "interpose/nvrtc/versions.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/*
 * NVRTC searches the headers of its builtins in every compilation, so a compilation without file accesses was not
 * watched. Split compilation for new architectures (seen with 12.9 and 13.0, sm_100) makes one of two PTX. Which one
 * depends on the addresses that the loader and malloc choose: it is the same throughout a process, and the same in all
 * processes without address randomisation.
 */
static unsigned traits_of(const struct options *options)
{
	return REQUEST_OPENS_FILES | (options_bind(options) ? REQUEST_BOUND : 0) |
	       (options_exact(options) ? REQUEST_EXACT : 0) | (options_do(options, OPTION_SPLIT) ? REQUEST_VARIES : 0) |
	       (options_do(options, OPTION_LOOSE) ? REQUEST_LOOSE : 0) |
	       (options_do(options, OPTION_IR) ? REQUEST_SEALED : 0);
}

/* This process used a directory in which the headers had to be unpacked. */
static _Atomic bool unpacked;

bool describe_unpacked_here(const struct options *options)
{
	return atomic_load(&unpacked) && binding_temporary(options->bundle, strlen(options->bundle));
}

/*
 * With --use-bundled-headers (13.3), NVRTC creates the directory and a lock file in it, takes the lock, and unpacks its
 * headers unless a marker says that they exist; without the lock it fails. So a request that could take the lock
 * depends only on the marker and the headers, and the watch sees NVRTC read those.
 */
static enum counter find_bundle(const struct options *options, struct request *request)
{
	static const char name[] = "/.nvrtc_install.lock";
	size_t size;
	int descriptor;
	bool busy;

	if (!options->bundle) {
		return COUNTER_NONE;
	}
	size = strlen(options->bundle);
	request->lock = malloc(size + sizeof(name));
	if (!request->lock) {
		return COUNTER_ERRORS_memory;
	}
	memcpy(request->lock, options->bundle, size);
	memcpy(request->lock + size, name, sizeof(name));
	descriptor = open(request->lock, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (descriptor < 0) {
		atomic_store(&unpacked, true);
		return COUNTER_BYPASSED_bundled_headers;
	}
	/*
	 * NVRTC would wait for a process that unpacks. The lock is shared, so that processes that look up do not
	 * exclude each other.
	 */
	busy = flock(descriptor, LOCK_SH | LOCK_NB) != 0;
	(void)close(descriptor);
	return busy ? COUNTER_BYPASSED_bundled_headers : COUNTER_NONE;
}

static int read_options(const struct library *library, const struct call *call, struct options *ret_options)
{
	int error = options_read(call->options, call->option_count, ret_options);

	if (!options_do(ret_options, OPTION_DEBUG | OPTION_LTO) &&
	    !nvrtc_differs(DIFFERENCE_OPTIX_SPELLS_PATHS, library->major, library->minor)) {
		ret_options->effects &= ~(uint32_t)OPTION_SPELLS;
	}
	if (options_do(ret_options, OPTION_SPELLS) && (runtime_get()->settings.tolerated & SLOPPINESS_DEBUG_PATHS)) {
		ret_options->effects |= OPTION_LOOSE;
	}
	/* NVRTC may take the output of ptxas from a cache of the driver, and then the log lacks its messages */
	if (nvrtc_differs(DIFFERENCE_OWN_CACHE, library->major, library->minor) &&
	    (ret_options->effects & (OPTION_SPEAKS | OPTION_NO_CACHE)) == OPTION_SPEAKS) {
		ret_options->effects |= OPTION_TELLS;
	}
	return error;
}

enum counter describe_compile(struct handle *handle, const struct call *call, struct surroundings *around,
                              const struct snapshot *told, struct request *ret_request)
{
	const struct library *library = handle->library;
	const struct program *program = program_of(handle);
	struct options *options = (struct options *)ret_request->own;

	if (nvrtc_differs(DIFFERENCE_ASKS_LOCALE, library->major, library->minor) && environment_has_letters()) {
		return COUNTER_BYPASSED_environment;
	}
	if (read_options(library, call, options) != 0) {
		return COUNTER_ERRORS_memory;
	}
	if (options_do(options, OPTION_PCH) && ((atomic_load(&library->told) & PCH_TOLD_HEAP) || !pch_has_place())) {
		return COUNTER_BYPASSED_precompiled_header;
	}
	/* PWD is looked up only for path-dependent requests, because that takes two stats */
	if (options_bind(options)) {
		around->pwd = told ? snapshot_pwd(told) : environment_pwd();
	}
	if (runs_call(program, call, options, around, &ret_request->run, &ret_request->roots) != 0) {
		return COUNTER_ERRORS_memory;
	}
	ret_request->traits = traits_of(options) | (program->has_memory_headers ? REQUEST_LOOKS_COUNT : 0);
	ret_request->scratch = options_do(options, OPTION_PCH) ? pch_scratch : NULL;
	return find_bundle(options, ret_request);
}

void describe_free(struct request *request)
{
	options_free((struct options *)request->own);
	free(request->lock);
	request->lock = NULL;
}
