/* SPDX-License-Identifier: MIT */
/*
 * There is one handler per function of NVVM_HANDLED: handle_X(door, the function's own parameters). The doors that lead
 * to the handlers are at the end; there are no exports (nodes.h). A call with an unknown program is forwarded
 * unchanged. errno is that of the real function, or, if it was not called, that of the host.
 */
#include "interpose/compile/compile.h"
#include "interpose/compile/host_call.h"
#include "interpose/compile/runtime.h"
#include "interpose/door/make.h"
#include "interpose/door/modules.h"
#include "interpose/nvvm/functions.h"
#include "interpose/nvvm/nodes.h"
#include "interpose/nvvm/program.h"

static int handle_nvvmCreateProgram(struct door *door, void **program)
{
	struct library *library;
	int result;

	modules_settle();
	result = HOST_CALL_NEW(nvvmCreateProgram, program);
	library = result == RESULT_SUCCESS ? host_call_made(door, *program, NULL) : NULL;
	if (library) {
		nvvm_program_add(*program, library);
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
	struct nvvm_program *known = nvvm_program_find(program);
	int result;

	if (known) {
		nvvm_program_settle(known);
	}
	result = HOST_CALL_AS(nvvmAddModuleToProgram_function, known ? known->handle.library : NULL, function, program,
	                      module->bytes, module->size, module->name);
	if (known && result == RESULT_SUCCESS) {
		nvvm_program_add_module(known, module);
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
	struct nvvm_program *known = nvvm_program_find(program);

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
