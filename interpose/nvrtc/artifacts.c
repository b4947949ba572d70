/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/artifacts.h"

#include "keygen/about.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum tag { TAG_NAMES = LOWERED_SECTION, TAG_NO_NAME, TAG_PCH_STATUS, TAG_PCH_HEAP };

#define NO_EXPRESSION "nvrtccache asks what an unknown expression gets"

const struct compiler_artifact nvrtc_products[PRODUCT_COUNT] = {
#define PRODUCT_ROW(name, ...) [PRODUCT_##name] = {#name, FUNCTION_nvrtcGet##name##Size, FUNCTION_nvrtcGet##name},
    NVRTC_PRODUCTS(PRODUCT_ROW, )
#undef PRODUCT_ROW
};

static int collect_names(const struct program *program, struct result *result)
{
	nvrtcGetLoweredName_function *get = LIBRARY_REAL(program->handle.library, nvrtcGetLoweredName);
	struct stream stream = STREAM_EMPTY;
	const char *name = NULL;

	if (!get) {
		return 0;
	}
	for (size_t i = 0; i < program->name_count; i++) {
		int code;

		name = NULL;
		code = get(program->handle.value, program->names[i], &name);
		lowered_put(&stream, program->names[i], code, name);
	}
	if (stream.failed) {
		stream_free(&stream);
		return -ENOMEM;
	}
	result_add(result, TAG_NAMES, 0, stream.bytes, stream.size);
	result_add(result, TAG_NO_NAME, get(program->handle.value, NO_EXPRESSION, &name), NULL, 0);
	return 0;
}

static int collect_pch(const struct handle *handle, struct result *result)
{
	nvrtcGetPCHCreateStatus_function *status = LIBRARY_REAL(handle->library, nvrtcGetPCHCreateStatus);
	nvrtcGetPCHHeapSizeRequired_function *heap = LIBRARY_REAL(handle->library, nvrtcGetPCHHeapSizeRequired);
	struct stream stream = STREAM_EMPTY;
	size_t size = 0;
	int code;

	if (!status || !heap) {
		return 0;
	}
	result_add(result, TAG_PCH_STATUS, status(handle->value), NULL, 0);
	code = heap(handle->value, &size);
	stream_u64(&stream, size);
	if (stream.failed) {
		return -ENOMEM;
	}
	result_add(result, TAG_PCH_HEAP, code, stream.bytes, stream.size);
	return 0;
}

bool artifacts_omit(const struct handle *handle, size_t product)
{
	return program_of(handle)->decoder &&
	       (product == PRODUCT_PTX || product == PRODUCT_NVVM || product == PRODUCT_TileIR);
}

int artifacts_collect(const struct handle *handle, struct result *result)
{
	int error = 0;

	for (size_t i = 0; i < PRODUCT_COUNT && error == 0; i++) {
		error = artifacts_omit(handle, i) ? 0 : artifact_collect(handle, i, result);
	}
	if (error == 0) {
		error = collect_names(program_of(handle), result);
	}
	return error ? error : collect_pch(handle, result);
}

bool artifacts_explain_failure(const struct handle *handle, const struct result *result)
{
	static const char *const errors[] = {
	    "error:", "Error:", "error   :", "fatal   :", "error detected", "errors detected"};
	static const char *const full[] = {"while writing PCH file"};
	const struct section *log = result_section(result, RESULT_TAG_OWN + PRODUCT_ProgramLog);

	(void)handle;
	return log && !result_says_shortage(log) && !RESULT_SAYS(log, full) && RESULT_SAYS(log, errors);
}

struct entry *artifacts_while_compiling(void)
{
	static const uint8_t key[ENTRY_KEY_BYTES];
	const struct section sections[] = {
	    {.tag = RESULT_TAG_OWN + PRODUCT_PTX, .bytes = "", .size = 1},
	    {.tag = RESULT_TAG_OWN + PRODUCT_ProgramLog, .bytes = "", .size = 1},
	};
	struct entry *entry = NULL;

	(void)entry_build(key, 0, NULL, 0, sections, sizeof(sections) / sizeof(sections[0]), &entry);
	return entry;
}

const struct entry *artifacts_product_from(const struct handle *handle, size_t product)
{
	const struct entry *going_on = program_of(handle)->going_on;
	nvrtcGetPTXSize_function *get_size;
	size_t size = 0;

	if (going_on && (product == PRODUCT_PTX || product == PRODUCT_ProgramLog)) {
		return going_on;
	}
	/* PTX and log do not outlast a later compile, so a detached handle's entry does not answer for them */
	if (handle->served || !handle->base || product == PRODUCT_PTX || product == PRODUCT_ProgramLog) {
		return handle->served;
	}
	get_size = (nvrtcGetPTXSize_function *)library_real(handle->library, nvrtc_products[product].size);
	return get_size && get_size(handle->value, &size) == RESULT_SUCCESS && size == 0 ? handle->base : NULL;
}

int artifacts_no_room(const struct handle *handle)
{
	(void)handle;
	return RESULT_INVALID_INPUT;
}

const struct entry *artifacts_names_from(const struct program *program)
{
	nvrtcGetLoweredName_function *get;
	const char *name;

	if (!program || program->handle.served || !program->handle.base) {
		return program ? program->handle.served : NULL;
	}
	get = LIBRARY_REAL(program->handle.library, nvrtcGetLoweredName);
	return get && get(program->handle.value, NO_EXPRESSION, &name) == RESULT_NO_LOWERED_NAMES_BEFORE_COMPILATION
	           ? program->handle.base
	           : NULL;
}

/* Finds the expression, and the place `ret_at` of what is said of it. */
static bool find_name(const uint8_t *from, const uint8_t *end, const char *expression, const uint8_t **ret_at,
                      struct lowered *ret_lowered)
{
	struct cursor cursor = cursor_over(from, (size_t)(end - from));

	do {
		*ret_at = cursor.at;
	} while (lowered_next(&cursor, ret_lowered) && strcmp(ret_lowered->expression, expression) != 0);
	return !cursor.failed && cursor.at > *ret_at;
}

/*
 * Begins at the name that was asked for before, because hosts ask for thousands of names in the order in which they
 * added them. That place is in another entry after another compilation; the handle holds all its entries.
 */
static bool find_in_order(struct program *program, const struct section *section, const char *expression,
                          struct lowered *ret_lowered)
{
	const uint8_t *begin = section->bytes, *end = begin + section->size;
	const uint8_t *last = atomic_load(&program->last_name), *at;

	if (last < begin || last >= end) {
		last = begin;
	}
	if (!find_name(last, end, expression, &at, ret_lowered) &&
	    (last == begin || !find_name(begin, end, expression, &at, ret_lowered))) {
		return false;
	}
	atomic_store(&program->last_name, at);
	return true;
}

int artifacts_lowered_name(struct program *program, const struct entry *entry, const char *expression,
                           const char **name)
{
	struct section section;
	struct lowered lowered;

	if (!expression || !name) {
		return RESULT_INVALID_INPUT;
	}
	*name = NULL;
	if (!entry_section(entry, TAG_NAMES, &section)) {
		return RESULT_INTERNAL_ERROR;
	}
	if (!find_in_order(program, &section, expression, &lowered)) {
		return result_value(entry, TAG_NO_NAME, RESULT_INTERNAL_ERROR);
	}
	*name = lowered.name;
	return lowered.code;
}

int artifacts_pch_status(const struct entry *entry)
{
	return result_value(entry, TAG_PCH_STATUS, RESULT_INTERNAL_ERROR);
}

int artifacts_pch_heap(const struct entry *entry, size_t *size)
{
	struct section section;
	struct cursor cursor;

	if (!size) {
		return RESULT_INVALID_INPUT;
	}
	if (!entry_section(entry, TAG_PCH_HEAP, &section)) {
		return RESULT_INTERNAL_ERROR;
	}
	cursor = cursor_over(section.bytes, section.size);
	if (section.value == RESULT_SUCCESS) {
		*size = (size_t)cursor_u64(&cursor);
	}
	return section.value;
}

/* Returns true for a log about automatic precompiled headers, which depends on earlier compilations of the process. */
static bool speaks_of_pch(const struct section *section)
{
	return section->tag == RESULT_TAG_OWN + PRODUCT_ProgramLog &&
	       memmem(section->bytes, section->size, "/__nvrtc_auto_pch_", 18);
}

bool artifacts_comparable(const struct section *section)
{
	return section->tag != TAG_PCH_STATUS && section->tag != TAG_PCH_HEAP && !speaks_of_pch(section);
}

static bool line_begins(const char *line, const char *end, const char *word)
{
	line += strspn(line, " \t");
	return (size_t)(end - line) >= strlen(word) && memcmp(line, word, strlen(word)) == 0;
}

/*
 * Searches PTX except lines of files and sections of debug information, which end with the first brace. Every PTX ends
 * with a NUL.
 */
static void search_ptx(const char *line, const char *end, struct needles *needles)
{
	bool debug = false;

	while (line < end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		const char *next = newline ? newline + 1 : end;

		debug |= line_begins(line, next, ".section\t.debug") || line_begins(line, next, ".section .debug");
		if (debug) {
			debug = !memchr(line, '}', (size_t)(next - line));
		} else if (!line_begins(line, next, ".file")) {
			needles_search(needles, line, (size_t)(next - line));
		}
		line = next;
	}
}

void artifacts_search_code(const struct result *result, struct needles *needles)
{
	const struct section *ptx = result_section(result, RESULT_TAG_OWN + PRODUCT_PTX);
	bool has_ptx = ptx && ptx->size > 1;

	for (size_t i = 0; i < result->count; i++) {
		const struct section *section = &result->sections[i];

		if (section == ptx && has_ptx) {
			search_ptx(section->bytes, (const char *)section->bytes + section->size, needles);
		} else if (section->tag != RESULT_TAG_OWN + PRODUCT_ProgramLog &&
		           !(section->tag == RESULT_TAG_OWN + PRODUCT_CUBIN && has_ptx)) {
			needles_search(needles, section->bytes, section->size);
		}
	}
}
