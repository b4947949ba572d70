/* SPDX-License-Identifier: MIT */
#include "interpose/compile/artifacts.h"

#include "interpose/compile/library.h"
#include "interpose/compiler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 16 /* bytes after the size that a getter returned */

/* In the value of a section, beside the two return codes: the size getter returned another size than was written. */
enum told {
	TOLD_NOTHING = 1 << 16, /* 0, and a NUL was written */
	TOLD_MORE = 1 << 17     /* one more: nvJitLink 12.0 leaves out the NUL of a log */
};

/* Two buffers are filled with different bytes: a position where they still differ was not written. */
#define FILL_ONE   0x55
#define FILL_OTHER 0xaa

typedef int size_getter(void *handle, size_t *size);
typedef int bytes_getter(void *handle, void *bytes);

/* Returns how many bytes of `one` were written; `other` was filled with another byte. */
static size_t count_written(const uint8_t *one, const uint8_t *other, size_t size)
{
	while (size > 0 && one[size - 1] == FILL_ONE && other[size - 1] == FILL_OTHER) {
		size--;
	}
	return size;
}

/*
 * Calls the getter twice, and adds to `value` its return code, and how `size`, which the size getter returned, differs
 * from the `ret_size` bytes that were written. A getter that failed has written nothing that a host reads.
 */
static int read_written(bytes_getter *get, void *handle, size_t size, uint8_t *one, uint8_t *other, size_t *ret_size,
                        int *value)
{
	const size_t room = size + SLACK;
	size_t written;
	int code;

	memset(one, FILL_ONE, room);
	memset(other, FILL_OTHER, room);
	code = get(handle, one);
	if (get(handle, other) != code) {
		return -EPROTO;
	}
	written = code == 0 ? count_written(one, other, room) : size;
	*ret_size = written;
	*value |= code << 8 | (size == 0 && written == 1 ? TOLD_NOTHING : size == written + 1 ? TOLD_MORE : 0);
	return (code != 0 || memcmp(one, other, written) == 0) && (size == written || *value >> 16) ? 0 : -EPROTO;
}

/*
 * Getters that the library lacks give nothing to store. Both return codes are kept, in one number: the getter of the
 * size may fail where that of the bytes succeeds.
 */
int artifact_collect(const struct handle *handle, size_t artifact, struct result *result)
{
	const struct compiler *compiler = handle->library->compiler;
	const struct compiler_artifact *row = &compiler->artifacts[artifact];
	size_getter *get_size = (size_getter *)library_real(handle->library, row->size);
	bytes_getter *get_bytes = (bytes_getter *)library_real(handle->library, row->bytes);
	uint8_t *bytes, *other;
	size_t size = 0;
	int value, error = -ENOMEM;

	if (!get_size || !get_bytes) {
		return 0;
	}
	value = get_size(handle->value, &size);
	size = value == 0 ? size : 0;
	if (size > ENTRY_BYTES_MAX / 2) {
		return -EFBIG;
	}
	bytes = malloc(size + SLACK);
	other = malloc(size + SLACK);
	if (bytes && other) {
		error = read_written(get_bytes, handle->value, size, bytes, other, &size, &value);
	}
	free(other);
	if (error != 0) {
		free(bytes);
		return error;
	}
	result_add(result, RESULT_TAG_OWN + (uint32_t)artifact, value, bytes, size);
	return 0;
}

int artifact_collect_all(const struct handle *handle, struct result *result)
{
	int error = 0;

	for (size_t i = 0; i < handle->library->compiler->artifact_count && error == 0; i++) {
		error = artifact_collect(handle, i, result);
	}
	return error;
}

/* A host whose size getter failed, or returned 0, has no buffer, or one byte. */
int artifact_get(const struct compiler *compiler, const struct entry *entry, size_t artifact, enum getter getter,
                 void *answer)
{
	struct section section;
	size_t told;
	int size_code, bytes_code;

	if (!entry_section(entry, RESULT_TAG_OWN + (uint32_t)artifact, &section) ||
	    ((section.value & TOLD_NOTHING) && section.size != 1)) {
		return compiler->internal_error;
	}
	size_code = section.value & 0xff;
	bytes_code = section.value >> 8 & 0xff;
	told = section.value & TOLD_NOTHING ? 0 : section.value & TOLD_MORE ? section.size + 1 : section.size;
	if (getter == GETTER_BYTES) {
		if (bytes_code == 0 && (size_code == 0 || told == 0)) {
			memcpy(answer, section.bytes, section.size);
		}
		return bytes_code;
	}
	if (size_code == 0) {
		*(size_t *)answer = told;
	}
	return size_code;
}
