/* SPDX-License-Identifier: MIT */
/*
 * The creation run: CREATION format, (MODULE kind, NAME?, BYTES or DIGEST)*.
 *
 * There is one handler per function of NVVM_HANDLED: handle_X(door, the function's own parameters). The doors that lead
 * to the handlers are at the end; there are no exports (nodes.h). A call with an unknown program is forwarded
 * unchanged. errno is that of the real function, or, if it was not called, that of the host.
 */
#include "interpose/compile/compile.h"
#include "interpose/compile/host_call.h"
#include "interpose/compile/recorder.h"
#include "interpose/compile/replay.h"
#include "interpose/compile/result.h"
#include "interpose/compile/runtime.h"
#include "interpose/door/make.h"
#include "interpose/door/modules.h"
#include "interpose/nvvm/functions.h"
#include "interpose/nvvm/nodes.h"
#include "interpose/nvvm/program.h"
#include "keygen/about.h"
#include "keygen/stream.h"
#include "keygen/surroundings.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum own_tag { TAG_CREATION = 1, TAG_MODULE, TAG_NAME, TAG_BYTES, TAG_DIGEST };

enum nvvm_module_kind { MODULE_NEEDED, MODULE_LAZY };

struct nvvm_module {
	enum nvvm_module_kind kind;
	const char *bytes;
	size_t size;
	const char *name; /* may be NULL */
};

_Static_assert(offsetof(struct nvvm_program, handle) == 0, "a handle's record is a program's");

static struct nvvm_program *find_program(void *value)
{
	return nvvm_program_of(handle_find_of(&nvvm_compiler, value));
}

/* Returns true if the entry has a log that is not empty. */
static bool has_log(const struct entry *entry)
{
	struct section section;

	return !entry_section(entry, RESULT_TAG_OWN + ARTIFACT_LOG, &section) || section.value != RESULT_SUCCESS ||
	       section.size > 1;
}

/*
 * Returns true if the absence of the deferred call cannot be observed: a verification without findings leaves an empty
 * log, as a new program has one. (numba verifies a program, and then adds libdevice.)
 */
static bool lacks_nothing(const struct nvvm_program *program)
{
	return !program->latest && !program->result && program->log && !has_log(program->log);
}

/*
 * Afterwards the getters still answer from the entries, even if the deferred calls would have other results in the
 * present environment.
 */
static void settle_program(struct nvvm_program *program)
{
	struct handle *handle = &program->handle;
	const struct entry *result = program->result, *log = program->log;

	if (!handle_has_deferred(handle)) {
		return;
	}
	if (lacks_nothing(program) || !replay_if_unchanged(handle)) {
		handle_forget_calls(handle, WORK_COMPILE);
		handle->served = NULL;
	}
	program->result = result;
	program->log = log;
}

static void record_module(struct nvvm_program *program, const struct nvvm_module *module)
{
	static const struct content_tags tags = {TAG_BYTES, TAG_DIGEST};
	const struct runtime *runtime = runtime_get();
	struct handle *handle = &program->handle;

	if (!handle->keyed) {
		return;
	}
	stream_number(&handle->creation, TAG_MODULE, module->kind);
	if (module->name) {
		stream_string(&handle->creation, TAG_NAME, module->name);
	}
	(void)content_put(&handle->creation, tags, runtime->memory ? &runtime->secret : NULL, module->bytes,
	                  module->size);
	recorder_text(handle, RECORDING_NAME, module->name);
	recorder_data(handle, RECORDING_BYTES, module->bytes, module->size);
	recorder_number(handle, RECORDING_TYPE, module->kind);
	if (!handle->name && module->name && module->name[0]) {
		handle->name = strdup(module->name);
	}
}

const struct shown_field nvvm_shown[OWN_TAGS] = {
    [TAG_NAME] = {ABOUT_PART, NULL},
    [TAG_BYTES] = {ABOUT_PART, "module "},
    [TAG_DIGEST] = {ABOUT_PART, "module "},
};

static int handle_nvvmCreateProgram(struct door *door, void **program)
{
	struct library *library;
	struct nvvm_program *known;
	int result;

	modules_settle();
	result = HOST_CALL_NEW(nvvmCreateProgram, program);
	library = result == RESULT_SUCCESS ? host_call_made(door, *program, NULL) : NULL;
	known = library ? handle_add(sizeof(*known), *program, library, REACH_THUNK) : NULL;
	if (known) {
		stream_number(&known->handle.creation, TAG_CREATION, REQUEST_FORMAT);
	}
	return result;
}

static int handle_nvvmDestroyProgram(struct door *door, void **program)
{
	return host_call_destroy(door, FUNCTION_nvvmDestroyProgram, program ? *program : NULL, program);
}

/*
 * The real program gets every module immediately: adding a module only copies it, and a miss then has nothing to
 * repeat.
 */
static int add_module(struct door *door, enum nvvm_function function, void *program, const struct nvvm_module *module)
{
	struct nvvm_program *known = find_program(program);
	int result;

	if (known) {
		settle_program(known);
	}
	result = HOST_CALL_AS(nvvmAddModuleToProgram_function, known ? known->handle.library : NULL, function, program,
	                      module->bytes, module->size, module->name);
	if (known && result == RESULT_SUCCESS) {
		record_module(known, module);
	}
	return result;
}

static int handle_nvvmAddModuleToProgram(struct door *door, void *program, const char *bytes, size_t size,
                                         const char *name)
{
	return add_module(door, FUNCTION_nvvmAddModuleToProgram, program,
	                  &(struct nvvm_module){MODULE_NEEDED, bytes, size, name});
}

static int handle_nvvmLazyAddModuleToProgram(struct door *door, void *program, const char *bytes, size_t size,
                                             const char *name)
{
	return add_module(door, FUNCTION_nvvmLazyAddModuleToProgram, program,
	                  &(struct nvvm_module){MODULE_LAZY, bytes, size, name});
}

static int do_work(struct door *door, enum nvvm_function function, void *program, const struct call *call)
{
	struct nvvm_program *known = find_program(program);

	modules_settle();
	return known ? compile_call(&known->handle, call) : host_call_unrecorded(door, function, program, call);
}

static int handle_nvvmVerifyProgram(struct door *door, void *program, int option_count, const char *const *options)
{
	return do_work(door, FUNCTION_nvvmVerifyProgram, program, &(struct call){option_count, options, WORK_VERIFY});
}

static int handle_nvvmCompileProgram(struct door *door, void *program, int option_count, const char *const *options)
{
	return do_work(door, FUNCTION_nvvmCompileProgram, program, &(struct call){option_count, options, WORK_COMPILE});
}

HOST_CALL_GETTERS(nvvmGetCompiledResult, ARTIFACT_RESULT, void *, char *)
HOST_CALL_GETTERS(nvvmGetProgramLog, ARTIFACT_LOG, void *, char *)

/* ---- the doors ---- */

NVVM_HANDLED(DOOR_ENTRY)

NVVM_HANDLED(DOOR_THUNKS)

const struct compiler_function nvvm_functions[FUNCTION_COUNT] = {NVVM_HANDLED(DOOR_ROW)};
