/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/again.h"

#include "interpose/compile/result.h"
#include "interpose/nvrtc/functions.h"
#include "interpose/nvrtc/program.h"
#include "interpose/nvrtc/request.h"

typedef int create_function(nvrtcProgram *program, const char *source, const char *name, int header_count,
                            const char *const *texts, const char *const *names);
typedef int compile_function(nvrtcProgram program, int option_count, const char *const *options);
typedef int destroy_function(nvrtcProgram *program);
typedef int name_function(nvrtcProgram program, const char *expression);

static int create(const struct program *program, nvrtcProgram *ret_handle)
{
	create_function *make = (create_function *)program->handle.library->real[FUNCTION_nvrtcCreateProgram];
	struct request_texts texts;
	int result;

	if (request_texts(&program->handle.creation, &texts) != 0) {
		return RESULT_OUT_OF_MEMORY;
	}
	result = make(ret_handle, texts.source, program->handle.name, (int)texts.count, texts.headers, texts.names);
	request_texts_free(&texts);
	return result;
}

static int compile(const struct program *again, const struct call *call)
{
	name_function *add_name = (name_function *)again->handle.library->real[FUNCTION_nvrtcAddNameExpression];

	for (size_t i = 0; i < again->name_count; i++) {
		int result = add_name(again->handle.value, again->names[i]);

		if (result != RESULT_SUCCESS) {
			return result;
		}
	}
	return ((compile_function *)again->handle.library->real[FUNCTION_nvrtcCompileProgram])(
	    again->handle.value, call->option_count, call->options);
}

static struct entry *entry_of(const struct program *again, int return_code, const struct entry *first)
{
	struct result result = {.count = 0};
	struct entry *entry = NULL;

	if (result_collect(&again->handle, return_code, &result) == 0) {
		(void)entry_build(entry_info(first)->key, 0, NULL, 0, result.sections, result.count, &entry);
	}
	result_free(&result);
	return entry;
}

struct entry *again_compile(const struct handle *handle, const struct call *call, const struct entry *first)
{
	const struct program *program = program_of(handle);
	struct program again = {
	    .handle = {.library = handle->library}, .names = program->names, .name_count = program->name_count};
	nvrtcProgram made;
	struct entry *entry;

	if (create(program, &made) != RESULT_SUCCESS) {
		return NULL;
	}
	again.handle.value = made;
	entry = entry_of(&again, compile(&again, call), first);
	(void)((destroy_function *)handle->library->real[FUNCTION_nvrtcDestroyProgram])(&made);
	return entry;
}
