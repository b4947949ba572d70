/* SPDX-License-Identifier: MIT */
/* The creation run: CREATION format, (MODULE kind, NAME?, BYTES or DIGEST)*. */
#include "interpose/nvvm/program.h"

#include "interpose/compile/recorder.h"
#include "interpose/compile/replay.h"
#include "interpose/compile/result.h"
#include "interpose/compile/runtime.h"
#include "interpose/nvvm/nodes.h"
#include "keygen/about.h"
#include "keygen/stream.h"
#include "keygen/surroundings.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum own_tag { TAG_CREATION = 1, TAG_MODULE, TAG_NAME, TAG_BYTES, TAG_DIGEST };

_Static_assert(offsetof(struct nvvm_program, handle) == 0, "a handle's record is a program's");

void nvvm_program_add(void *value, struct library *library)
{
	struct nvvm_program *program = handle_add(sizeof(*program), value, library, REACH_THUNK);

	if (program) {
		stream_number(&program->handle.creation, TAG_CREATION, REQUEST_FORMAT);
	}
}

struct nvvm_program *nvvm_program_find(void *value)
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
	return !program->has_worked && !program->result && program->log && !has_log(program->log);
}

/*
 * Afterwards the getters still answer from the entries, even if the deferred calls would have other results in the
 * present environment.
 */
void nvvm_program_settle(struct nvvm_program *program)
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

void nvvm_program_add_module(struct nvvm_program *program, const struct nvvm_module *module)
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

/*
 * The fields are set before the call, because a signal handler of the host may jump out of it, and then the entry must
 * not answer.
 */
void nvvm_program_works(struct nvvm_program *program, enum nvvm_work work)
{
	program->has_worked = true;
	program->latest = work;
	program->log = NULL;
	if (work == WORK_COMPILE) {
		program->result = NULL;
	}
}

void nvvm_program_served(struct handle *handle, const struct entry *entry)
{
	struct nvvm_program *program = nvvm_program_of(handle);

	program->log = entry;
	if (handle->calls[handle->call_count - 1].call.kind == WORK_COMPILE) {
		program->result = entry;
	}
}

const struct entry *nvvm_program_answer(struct handle *handle, size_t artifact)
{
	const struct nvvm_program *program = nvvm_program_of(handle);

	return artifact == ARTIFACT_LOG ? program->log : program->result;
}

void nvvm_program_about(const struct handle *handle, const struct call *call, struct stream *about)
{
	struct cursor cursor = cursor_over(handle->creation.bytes, handle->creation.size);
	struct span name = {0}, field;
	unsigned number = 0;
	char text[32];
	uint8_t tag;

	about_text(about, ABOUT_STEP, call->kind == WORK_COMPILE ? "compile" : "verify");
	while (cursor_next(&cursor, &tag, &field)) {
		if (tag == TAG_MODULE) {
			name = (struct span){0};
		} else if (tag == TAG_NAME) {
			name = field;
		} else if (tag == TAG_BYTES || tag == TAG_DIGEST) {
			(void)snprintf(text, sizeof(text), "module %u", ++number);
			about_part_of(about, text, &name, &field);
		}
	}
}
