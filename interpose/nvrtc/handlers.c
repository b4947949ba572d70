/* SPDX-License-Identifier: MIT */
/*
 * There is one handler per function of NVRTC_HANDLED: handle_X(door, the function's own parameters).
 * The doors that lead to the handlers are at the end (interpose/door/doors.h lists the kinds). A call with an unknown
 * program is forwarded unchanged. errno is that of the real function, or, if it was not called, that of the host.
 */
#include "interpose/compile/compile.h"
#include "interpose/compile/host_call.h"
#include "interpose/compile/library_steps.h"
#include "interpose/compile/recorder.h"
#include "interpose/compile/runtime.h"
#include "interpose/door/make.h"
#include "interpose/door/modules.h"
#include "interpose/nvrtc/artifacts.h"
#include "interpose/nvrtc/decoder.h"
#include "interpose/nvrtc/functions.h"
#include "interpose/nvrtc/nodes.h"
#include "interpose/nvrtc/pch.h"
#include "interpose/nvrtc/program.h"
#include "interpose/nvrtc/runs.h"
#include "interpose/nvrtc/scan.h"
#include "interpose/nvrtc/versions.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(offsetof(struct program, handle) == 0, "a handle's record is a program's");

static struct program *find_program(nvrtcProgram value)
{
	return program_of(handle_find_of(&nvrtc_compiler, value));
}

static int add_name(struct program *program, const char *expression)
{
	char **names = realloc(program->names, (program->name_count + 1) * sizeof(char *));
	char *copy = strdup(expression);

	if (names) {
		program->names = names;
	}
	if (!names || !copy) {
		free(copy);
		return -ENOMEM;
	}
	program->names[program->name_count++] = copy;
	return 0;
}

static struct program *add_record(const struct door *door, nvrtcProgram handle, const char *name)
{
	struct library *library = host_call_made(door, handle, name);
	struct program *program = library ? handle_add(sizeof(*program), handle, library, door_reach(door)) : NULL;

	if (program) {
		/* before the texts are scanned, they are assumed to be path-dependent */
		program->findings = SCAN_PATH | SCAN_PLACE;
	}
	return program;
}

/* Records the creation run. The texts of large in-memory headers are not copied. `headers` NULL: there is no memory. */
static void record_texts(struct program *program, const char *source, const char *name,
                         const struct memory_header *headers, size_t count)
{
	const struct runtime *runtime = runtime_get();
	int error = headers ? 0 : -ENOMEM;

	program->has_memory_headers = count > 0;
	if (error == 0 && lent_digests_headers(headers, count)) {
		error = lent_take(headers, count, runtime->memory ? &runtime->secret : NULL, &program->lent);
	}
	if (error == 0) {
		runs_creation(source, name, headers, count, program->lent ? &program->lent->digest : NULL,
		              &program->handle.creation);
	}
	if (error == 0 && name && !(program->handle.name = strdup(name))) {
		error = -ENOMEM;
	}
	if (error != 0) {
		handle_unkey(&program->handle, COUNTER_ERRORS_memory);
	}
}

static void record_program(struct program *program, const char *source, const char *name, int header_count,
                           const char *const *headers, const char *const *include_names)
{
	struct memory_header *list = calloc((size_t)header_count + 1, sizeof(*list));

	for (int i = 0; list && i < header_count; i++) {
		list[i] = (struct memory_header){include_names[i], headers[i], strlen(headers[i])};
	}
	record_texts(program, source, name, list, (size_t)header_count);
	recorder_text(&program->handle, RECORDING_SOURCE, source);
	recorder_text(&program->handle, RECORDING_NAME, name);
	for (int i = 0; i < header_count; i++) {
		recorder_text(&program->handle, RECORDING_HEADER_NAME, include_names[i]);
		recorder_text(&program->handle, RECORDING_HEADER_TEXT, headers[i]);
	}
	free(list);
}

static int handle_nvrtcCreateProgram(struct door *door, nvrtcProgram *program, const char *source, const char *name,
                                     int header_count, const char *const *headers, const char *const *include_names)
{
	struct program *known;
	int result;

	modules_settle();
	result = HOST_CALL_NEW(nvrtcCreateProgram, program, source, name, header_count, headers, include_names);
	known = result == RESULT_SUCCESS ? add_record(door, *program, name) : NULL;
	if (known) {
		record_program(known, source, name, header_count, headers, include_names);
	}
	return result;
}

/* Records a program with encoded texts. Its record also owns the decoder, which the real program refers to. */
static void record_encoded(struct program *program, const char *name, struct decoder *decoder,
                           const char *const *include_names)
{
	const size_t count = decoder->header_count;
	struct memory_header *list = calloc(count + 1, sizeof(*list));

	program->decoder = decoder;
	program->handle.hides_options = true;
	recorder_refuse(&program->handle);
	for (size_t i = 0; list && i < count; i++) {
		list[i] = decoder->texts[i];
		list[i].name = include_names[i];
	}
	record_texts(program, decoder->texts[count].text, name, list, count);
	runs_mark_decoded(&program->handle.creation);
	for (size_t i = 0; program->lent && i < count; i++) {
		program->lent->headers[i].text = decoder->texts[i].name; /* the host's */
	}
	free(list);
}

/* Returns true if the release is known to decode as decoder.h says. */
static bool decodes_in_order(struct library *library)
{
	return library_prepare(library) == COUNTER_NONE &&
	       nvrtc_differs(DIFFERENCE_DECODES_IN_ORDER, library->major, library->minor);
}

/* NVRTC gets a decoder of ours in place of the host's. */
static int create_encoded(struct door *door, nvrtcProgram *program, const char *source, const char *name,
                          const char *const *include_names, struct decoder *decoder)
{
	const int kinds[] = {EXTENSION_DECODE, EXTENSION_PAYLOAD};
	void *const values[] = {(void *)decoder_callback, decoder};
	int result = HOST_CALL_NEW(__nvrtcCPEx, program, source, name, (int)decoder->header_count, decoder->headers,
	                           include_names, 2, (uintptr_t)kinds, (uintptr_t)values, 0, 0);
	struct program *known = result == RESULT_SUCCESS ? add_record(door, *program, name) : NULL;

	if (result != RESULT_SUCCESS) {
		decoder_free(decoder);
		return result;
	}
	/* without a record the decoder leaks, because the real program still refers to it */
	if (decoder_created(decoder) && known) {
		record_encoded(known, name, decoder, include_names);
	} else if (known) {
		known->decoder = decoder;
		known->handle.hides_options = true;
		handle_unkey(&known->handle, COUNTER_BYPASSED_extensions);
	}
	decoder_forget(decoder);
	return result;
}

/*
 * Without extensions this is nvrtcCreateProgram. With a decoder as the only extension, the program is recorded. With
 * any other the source may be encoded and its length unknown.
 */
static int handle___nvrtcCPEx(struct door *door, nvrtcProgram *program, const char *source, const char *name,
                              int header_count, const char *const *headers, const char *const *include_names,
                              int extension_count, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	struct library *library;
	struct decoder *decoder = NULL;
	struct event event;
	int result;

	if (extension_count == 0) {
		return handle_nvrtcCreateProgram(door, program, source, name, header_count, headers, include_names);
	}
	library = library_of_door(door);
	if (program && library && !runtime_get()->off_reason && decodes_in_order(library)) {
		decoder = decoder_new(extension_count, (const int *)a, (void *const *)b, source, header_count, headers);
	}
	if (decoder) {
		return create_encoded(door, program, source, name, include_names, decoder);
	}
	host_call_begin_bypass(door, name, COUNTER_BYPASSED_extensions, &event);
	result = HOST_CALL_NEW(__nvrtcCPEx, program, source, name, header_count, headers, include_names,
	                       extension_count, a, b, c, d);
	host_call_end_bypass(NULL, result, &event);
	if (result == RESULT_SUCCESS && program) {
		handle_free(handle_take(*program));
	}
	return result;
}

static int handle_nvrtcDestroyProgram(struct door *door, nvrtcProgram *program)
{
	return host_call_destroy(door, FUNCTION_nvrtcDestroyProgram, program ? *program : NULL, program);
}

/* The host's callback sees what NVRTC would show it; from there on the options are decoded ones. */
static int compile_encoded(struct program *program, const struct call *call, int host_errno)
{
	struct call decoded;
	char **block;
	int result;

	errno = host_errno;
	block = decoder_options(program->decoder, call, &decoded);
	if (program->decoder->odd && program->handle.keyed) {
		handle_unkey(&program->handle, COUNTER_BYPASSED_extensions);
	}
	result = compile_call(&program->handle, &decoded);
	free(block);
	return result;
}

static int handle_nvrtcCompileProgram(struct door *door, nvrtcProgram program, int option_count,
                                      const char *const *options)
{
	const struct call call = {option_count, options, 0};
	struct program *known = find_program(program);

	modules_settle();
	if (!known) {
		return host_call_unrecorded(door, FUNCTION_nvrtcCompileProgram, program, &call);
	}
	return known->decoder ? compile_encoded(known, &call, door->host_errno) : compile_call(&known->handle, &call);
}

/* Early releases check first whether the program was compiled, and only then crash at a null expression. */
static bool looks_late_at_null(const struct program *program)
{
	return nvrtc_differs(DIFFERENCE_NULL_EXPRESSION_CRASHES, program->handle.library->major,
	                     program->handle.library->minor);
}

static int handle_nvrtcAddNameExpression(struct door *door, nvrtcProgram program, const char *expression)
{
	struct program *known = find_program(program);
	int result;

	if (known && (known->handle.served || known->handle.base || known->going_on)) {
		return expression || looks_late_at_null(known) ? RESULT_NO_NAME_EXPRESSIONS_AFTER_COMPILATION
		                                               : RESULT_INVALID_INPUT;
	}
	result = HOST_CALL(nvrtcAddNameExpression, known, program, expression);
	if (known && result == RESULT_SUCCESS && add_name(known, expression) != 0) {
		handle_unkey(&known->handle, COUNTER_ERRORS_memory);
	}
	if (known && result == RESULT_SUCCESS) {
		recorder_text(&known->handle, RECORDING_EXPRESSION, expression);
	}
	return result;
}

static int handle_nvrtcGetLoweredName(struct door *door, nvrtcProgram program, const char *expression,
                                      const char **name)
{
	struct program *known = find_program(program);
	const struct entry *entry = artifacts_names_from(known);

	/* after a failure, early releases return this code without reading the expression */
	if (entry && !expression && name && looks_late_at_null(known) &&
	    result_value(entry, RESULT_TAG_RETURN_CODE, RESULT_INTERNAL_ERROR) != RESULT_SUCCESS) {
		*name = NULL;
		return RESULT_NO_LOWERED_NAMES_BEFORE_COMPILATION;
	}
	if (entry) {
		return artifacts_lowered_name(known, entry, expression, name);
	}
	return HOST_CALL(nvrtcGetLoweredName, known, program, expression, name);
}

/* handle_nvrtcGetPTX(), handle_nvrtcGetPTXSize() and the other getters */
#define GETTERS(product, ...) HOST_CALL_GETTERS(nvrtcGet##product, PRODUCT_##product, nvrtcProgram, char *)
NVRTC_PRODUCTS(GETTERS, )

static int handle_nvrtcGetPCHCreateStatus(struct door *door, nvrtcProgram program)
{
	struct program *known = find_program(program);

	if (known && known->handle.served) {
		return artifacts_pch_status(known->handle.served);
	}
	return HOST_CALL(nvrtcGetPCHCreateStatus, known, program);
}

static int handle_nvrtcGetPCHHeapSizeRequired(struct door *door, nvrtcProgram program, size_t *size)
{
	struct program *known = find_program(program);

	if (known && known->handle.served) {
		return artifacts_pch_heap(known->handle.served, size);
	}
	return HOST_CALL(nvrtcGetPCHHeapSizeRequired, known, program, size);
}

static int handle_nvrtcSetPCHHeapSize(struct door *door, size_t size)
{
	struct library *library = library_of_door(door);

	if (library) {
		atomic_fetch_or(&library->told, PCH_TOLD_HEAP);
	}
	return HOST_CALL_NEW(nvrtcSetPCHHeapSize, size);
}

static int handle_nvrtcSetFlowCallback(struct door *door, nvrtcProgram program, flow_callback *callback, void *payload)
{
	struct program *known = find_program(program);
	int result = HOST_CALL(nvrtcSetFlowCallback, known, program, callback, payload);

	if (known && result == RESULT_SUCCESS) {
		known->callback = callback;
		known->payload = payload;
		known->handle.asks_host = callback != NULL;
	}
	return result;
}

/* ---- the doors ---- */

NVRTC_HANDLED(DOOR_ENTRY)

#define DOOR_NODE(id) &nvrtc_nodes[NVRTC_NODE_##id]

#define EXPORT(name, ...) NVRTC_EXPORTED(DOOR_EXPORT, name, __VA_ARGS__)
NVRTC_HANDLED(EXPORT)

NVRTC_HANDLED(DOOR_THUNKS)

const struct compiler_function nvrtc_functions[FUNCTION_COUNT] = {NVRTC_HANDLED(DOOR_ROW)};
