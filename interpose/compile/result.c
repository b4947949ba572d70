/* SPDX-License-Identifier: MIT */
#include "interpose/compile/result.h"

#include "interpose/nvrtc/equal_modulo_ids.h"
#include "keygen/conditions.h"
#include "keygen/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum tag {
	TAG_RETURN_CODE = 1,
	TAG_NAMES,
	TAG_NO_NAME,
	TAG_PCH_STATUS,
	TAG_PCH_HEAP,
	TAG_UNSET,
	TAG_SLOPPY,
	TAG_PRODUCT = 0x100
};

#define FIELD_EXPRESSION 1
#define FIELD_NAME       2
#define NO_EXPRESSION    "nvrtccache asks what an unknown expression gets"

typedef int size_getter(nvrtcProgram program, size_t *size);
typedef int bytes_getter(nvrtcProgram program, char *bytes);
typedef int name_getter(nvrtcProgram program, const char *expression, const char **name);
typedef int status_getter(nvrtcProgram program);

static const struct {
	enum nvrtc_function size, bytes;
	const char *name;
} products[PRODUCT_COUNT] = {
#define PRODUCT_GETTERS(name) [PRODUCT_##name] = {FUNCTION_nvrtcGet##name##Size, FUNCTION_nvrtcGet##name, #name},
    NVRTC_PRODUCTS(PRODUCT_GETTERS)
#undef PRODUCT_GETTERS
};

static void add(struct result *result, uint32_t tag, int value, void *owned, size_t size)
{
	result->owned[result->count] = owned;
	result->sections[result->count++] = (struct section){tag, value, owned, size};
}

static int collect_product(const struct program *program, enum nvrtc_product product, struct result *result)
{
	real_function *const *real = program->library->real;
	size_getter *get_size = (size_getter *)real[products[product].size];
	bytes_getter *get_bytes = (bytes_getter *)real[products[product].bytes];
	size_t size = 0;
	char *bytes = NULL;
	int size_code, bytes_code;

	if (!get_size || !get_bytes) {
		return 0;
	}
	size_code = get_size(program->handle, &size);
	if (size_code != RESULT_SUCCESS) {
		size = 0;
	}
	if (size > ENTRY_BYTES_MAX / 2) {
		return -EFBIG;
	}
	/* A getter of an empty product writes nothing; one byte is there in case one does. */
	bytes = calloc(1, size + 1);
	if (!bytes) {
		return -ENOMEM;
	}
	bytes_code = get_bytes(program->handle, bytes);
	add(result, TAG_PRODUCT + product, size_code | bytes_code << 8, bytes, size);
	return 0;
}

static int collect_names(const struct program *program, struct result *result)
{
	name_getter *get = (name_getter *)program->library->real[FUNCTION_nvrtcGetLoweredName];
	struct stream stream = STREAM_EMPTY;
	const char *name = NULL;

	if (!get) {
		return 0;
	}
	for (size_t i = 0; i < program->name_count; i++) {
		int code;

		name = NULL;
		code = get(program->handle, program->names[i], &name);
		stream_field(&stream, FIELD_EXPRESSION, program->names[i], strlen(program->names[i]) + 1);
		stream_u32(&stream, (uint32_t)code);
		stream_field(&stream, FIELD_NAME, name, name ? strlen(name) + 1 : 0);
	}
	if (stream.failed) {
		stream_free(&stream);
		return -ENOMEM;
	}
	add(result, TAG_NAMES, 0, stream.bytes, stream.size);
	add(result, TAG_NO_NAME, get(program->handle, NO_EXPRESSION, &name), NULL, 0);
	return 0;
}

static int collect_pch(const struct program *program, struct result *result)
{
	status_getter *status = (status_getter *)program->library->real[FUNCTION_nvrtcGetPCHCreateStatus];
	size_getter *heap = (size_getter *)program->library->real[FUNCTION_nvrtcGetPCHHeapSizeRequired];
	struct stream stream = STREAM_EMPTY;
	size_t size = 0;
	int code;

	if (!status || !heap) {
		return 0;
	}
	add(result, TAG_PCH_STATUS, status(program->handle), NULL, 0);
	code = heap(program->handle, &size);
	stream_u64(&stream, size);
	if (stream.failed) {
		return -ENOMEM;
	}
	add(result, TAG_PCH_HEAP, code, stream.bytes, stream.size);
	return 0;
}

int result_collect(const struct program *program, int return_code, struct result *ret_result)
{
	struct result result = {.count = 0};
	int error = 0;

	add(&result, TAG_RETURN_CODE, return_code, NULL, 0);
	for (int product = 0; product < PRODUCT_COUNT && error == 0; product++) {
		error = collect_product(program, (enum nvrtc_product)product, &result);
	}
	if (error == 0) {
		error = collect_names(program, &result);
	}
	if (error == 0) {
		error = collect_pch(program, &result);
	}
	if (error != 0) {
		result_free(&result);
		return error;
	}
	*ret_result = result;
	return 0;
}

void result_free(struct result *result)
{
	for (size_t i = 0; i < result->count; i++) {
		free(result->owned[i]);
	}
	result->count = 0;
}

void result_search(const struct result *result, struct needles *needles)
{
	for (size_t i = 0; i < result->count; i++) {
		needles_search(needles, result->sections[i].bytes, result->sections[i].size);
	}
}

bool result_explains_failure(const struct result *result)
{
	static const char *const shortages[] = {"emory allocation", "out of memory", "nsufficient memory", "bad_alloc"};
	static const char *const errors[] = {
	    "error:", "Error:", "error   :", "fatal   :", "error detected", "errors detected"};

	for (size_t i = 0; i < result->count; i++) {
		const struct section *section = &result->sections[i];

		if (section->tag != TAG_PRODUCT + PRODUCT_ProgramLog) {
			continue;
		}
		for (size_t j = 0; j < sizeof(shortages) / sizeof(shortages[0]); j++) {
			if (memmem(section->bytes, section->size, shortages[j], strlen(shortages[j]))) {
				return false;
			}
		}
		for (size_t j = 0; j < sizeof(errors) / sizeof(errors[0]); j++) {
			if (memmem(section->bytes, section->size, errors[j], strlen(errors[j]))) {
				return true;
			}
		}
	}
	return false;
}

int result_mark(struct result *result, const char *unset, size_t unset_size, bool sloppy)
{
	if (unset_size) {
		char *copy = malloc(unset_size);

		if (!copy) {
			return -ENOMEM;
		}
		memcpy(copy, unset, unset_size);
		add(result, TAG_UNSET, 0, copy, unset_size);
	}
	if (sloppy) {
		add(result, TAG_SLOPPY, 1, NULL, 0);
	}
	return 0;
}

/* What is said of the result, and is not part of it. */
static bool is_mark(const struct section *section)
{
	return section->tag == TAG_UNSET || section->tag == TAG_SLOPPY;
}

bool result_is_sloppy(const struct entry *entry)
{
	struct section section;

	return entry_section(entry, TAG_SLOPPY, &section);
}

bool result_applies(const struct entry *entry, bool sloppy_allowed)
{
	struct section section;
	const char *name, *end;

	if (!sloppy_allowed && result_is_sloppy(entry)) {
		return false;
	}
	if (!entry_section(entry, TAG_UNSET, &section)) {
		return true;
	}
	end = (const char *)section.bytes + section.size;
	for (name = section.bytes; name < end; name += strnlen(name, (size_t)(end - name)) + 1) {
		/* what the compiler asked for, and would again: no setting of ours */
		if (end[-1] != '\0' || getenv(name)) {
			return false;
		}
	}
	return true;
}

/* The return code is told once, by the compile itself: it is no part of what can be asked for later. */
int result_state(const struct program *program, struct key *ret_state)
{
	struct result result = {.count = 0};
	struct span spans[2 * RESULT_SECTIONS];
	uint64_t heads[RESULT_SECTIONS][3];
	struct section section;
	size_t count = 0;
	int error = program->served ? 0 : result_collect(program, RESULT_SUCCESS, &result);

	for (size_t i = 0; error == 0 && count < RESULT_SECTIONS; i++) {
		if (program->served ? !entry_section_at(program->served, i, &section) : i == result.count) {
			break;
		}
		if (!program->served) {
			section = result.sections[i];
		}
		if (section.tag == TAG_RETURN_CODE || is_mark(&section)) {
			continue;
		}
		heads[count][0] = section.tag;
		heads[count][1] = (uint32_t)section.value;
		heads[count][2] = section.size;
		spans[2 * count] = (struct span){heads[count], sizeof(heads[count])};
		spans[2 * count + 1] = (struct span){section.bytes, section.size};
		count++;
	}
	if (error == 0) {
		digest_key(spans, 2 * count, ret_state);
	}
	result_free(&result);
	return error;
}

static int value_of(const struct entry *entry, uint32_t tag, int otherwise)
{
	struct section section;

	return entry_section(entry, tag, &section) ? section.value : otherwise;
}

const struct entry *result_product_from(const struct program *program, enum nvrtc_product product)
{
	size_getter *get_size;
	size_t size = 0;

	if (!program || program->served || !program->base || product == PRODUCT_PTX || product == PRODUCT_ProgramLog) {
		return program ? program->served : NULL;
	}
	get_size = (size_getter *)program->library->real[products[product].size];
	return get_size && get_size(program->handle, &size) == RESULT_SUCCESS && size == 0 ? program->base : NULL;
}

const struct entry *result_names_from(const struct program *program)
{
	name_getter *get;
	const char *name;

	if (!program || program->served || !program->base) {
		return program ? program->served : NULL;
	}
	get = (name_getter *)program->library->real[FUNCTION_nvrtcGetLoweredName];
	return get && get(program->handle, NO_EXPRESSION, &name) == RESULT_NO_LOWERED_NAMES_BEFORE_COMPILATION
	           ? program->base
	           : NULL;
}

int result_return_code(const struct entry *entry)
{
	return value_of(entry, TAG_RETURN_CODE, RESULT_INTERNAL_ERROR);
}

bool result_has_product(const struct entry *entry, enum nvrtc_product product, size_t *ret_size)
{
	struct section section;

	if (!entry_section(entry, TAG_PRODUCT + (uint32_t)product, &section)) {
		return false;
	}
	*ret_size = section.size;
	return true;
}

int result_product_size(const struct entry *entry, enum nvrtc_product product, size_t *size)
{
	struct section section;

	if (!size) {
		return RESULT_INVALID_INPUT;
	}
	if (!entry_section(entry, TAG_PRODUCT + (uint32_t)product, &section)) {
		return RESULT_INTERNAL_ERROR;
	}
	if ((section.value & 0xff) == RESULT_SUCCESS) {
		*size = section.size;
	}
	return section.value & 0xff;
}

int result_product(const struct entry *entry, enum nvrtc_product product, char *bytes)
{
	struct section section;

	if (!bytes) {
		return RESULT_INVALID_INPUT;
	}
	if (!entry_section(entry, TAG_PRODUCT + (uint32_t)product, &section)) {
		return RESULT_INTERNAL_ERROR;
	}
	/* whoever has got no size has no room either */
	if (section.value == RESULT_SUCCESS && section.size) {
		memcpy(bytes, section.bytes, section.size);
	}
	return section.value >> 8;
}

int result_lowered_name(const struct entry *entry, const char *expression, const char **name)
{
	struct section section;
	struct cursor cursor;

	if (!expression || !name) {
		return RESULT_INVALID_INPUT;
	}
	*name = NULL;
	if (!entry_section(entry, TAG_NAMES, &section)) {
		return RESULT_INTERNAL_ERROR;
	}
	cursor = cursor_over(section.bytes, section.size);
	while (!cursor_at_end(&cursor)) {
		size_t expression_size, lowered_size;
		const char *known = cursor_field(&cursor, FIELD_EXPRESSION, &expression_size);
		int code = (int)cursor_u32(&cursor);
		const char *lowered = cursor_field(&cursor, FIELD_NAME, &lowered_size);

		if (cursor.failed) {
			return RESULT_INTERNAL_ERROR;
		}
		if (strlen(expression) + 1 == expression_size && memcmp(known, expression, expression_size) == 0) {
			if (lowered_size && lowered[lowered_size - 1] != '\0') {
				return RESULT_INTERNAL_ERROR;
			}
			*name = lowered_size ? lowered : NULL;
			return code;
		}
	}
	return value_of(entry, TAG_NO_NAME, RESULT_INTERNAL_ERROR);
}

int result_pch_status(const struct entry *entry)
{
	return value_of(entry, TAG_PCH_STATUS, RESULT_INTERNAL_ERROR);
}

int result_pch_heap(const struct entry *entry, size_t *size)
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

/* What NVRTC says of its automatic precompiled headers depends on what else the process has compiled. */
static bool speaks_of_pch(const struct section *section)
{
	return section->tag == TAG_PRODUCT + PRODUCT_ProgramLog &&
	       memmem(section->bytes, section->size, "/__nvrtc_auto_pch_", 18);
}

/* A result may be from a later version of this library, which keeps more. */
static const char *name_of(uint32_t tag)
{
	if (tag >= TAG_PRODUCT) {
		return tag - TAG_PRODUCT < PRODUCT_COUNT ? products[tag - TAG_PRODUCT].name : "another artifact";
	}
	return tag == TAG_NAMES ? "lowered names" : "return code";
}

enum results result_compare(const struct entry *a, const struct entry *b, const char **ret_what)
{
	enum results results = RESULTS_ALIKE;
	struct section left, right;

	for (size_t i = 0; entry_section_at(a, i, &left); i++) {
		const char *name = name_of(left.tag);

		if (left.tag == TAG_PCH_STATUS || left.tag == TAG_PCH_HEAP || is_mark(&left) || speaks_of_pch(&left)) {
			continue;
		}
		if (!entry_section(b, left.tag, &right) || left.value != right.value) {
			*ret_what = name;
			return RESULTS_DIFFER;
		}
		if (likeness_of(left.bytes, left.size, right.bytes, right.size)) {
			continue;
		}
		*ret_what = name;
		if (!likeness_hidden(left.bytes, left.size) || !likeness_hidden(right.bytes, right.size)) {
			return RESULTS_DIFFER;
		}
		results = RESULTS_HIDDEN;
	}
	return results;
}
