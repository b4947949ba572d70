/* SPDX-License-Identifier: MIT */
#include "interpose/compile/artifacts.h"

#include "interpose/compile/library.h"
#include "interpose/compiler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLACK     16                  /* bytes after the size that a getter returned */
#define TOLD_MORE (UINT64_C(1) << 20) /* than was written */

/* Two buffers are filled with different bytes: a position where they still differ was not written. */
#define FILL_ONE   0x55
#define FILL_OTHER 0xaa

typedef int size_getter(void *handle, size_t *size);
typedef int bytes_getter(void *handle, void *bytes);

/*
 * Returns true if a getter wrote no more than the size that it returned, or one NUL if that is 0: hosts allocate no
 * more. A forged entry that returns far more would make hosts allocate that.
 */
static bool fits_size(size_t written, uint64_t told)
{
	return written <= (told > 0 ? told : 1) && told <= written + TOLD_MORE;
}

/* Returns how many bytes of `one` were written; `other` was filled with another byte. */
static size_t count_written(const uint8_t *one, const uint8_t *other, size_t size)
{
	while (size > 0 && one[size - 1] == FILL_ONE && other[size - 1] == FILL_OTHER) {
		size--;
	}
	return size;
}

/* Reads the artifact into `ret_bytes`, after a head with the size `told`; `ret_size` includes the head. */
static int read_written(bytes_getter *get, void *value, uint64_t told, uint8_t **ret_bytes, size_t *ret_size,
                        int *ret_code)
{
	size_t room = told + SLACK;
	uint8_t *one = malloc(ARTIFACT_HEAD + room), *other = malloc(room);
	int error = -ENOMEM;

	if (one && other) {
		memcpy(one, &told, ARTIFACT_HEAD);
		memset(one + ARTIFACT_HEAD, FILL_ONE, room);
		memset(other, FILL_OTHER, room);
		*ret_code = get(value, one + ARTIFACT_HEAD);
		error = get(value, other) == *ret_code ? 0 : -EPROTO;
		room = count_written(one + ARTIFACT_HEAD, other, room);
		if (memcmp(one + ARTIFACT_HEAD, other, room) != 0 || !fits_size(room, told)) {
			error = -EPROTO;
		}
	}
	free(other);
	if (error != 0) {
		free(one);
		return error;
	}
	*ret_bytes = one;
	*ret_size = ARTIFACT_HEAD + room;
	return 0;
}

/* Reads `told` bytes. The getter of an empty artifact writes nothing; one byte is allocated in case a release does. */
static int read_told(bytes_getter *get, void *value, size_t told, uint8_t **ret_bytes, int *ret_code)
{
	uint8_t *bytes = calloc(1, told + 1);

	if (!bytes) {
		return -ENOMEM;
	}
	*ret_code = get(value, bytes);
	*ret_bytes = bytes;
	return 0;
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
	uint8_t *bytes = NULL;
	size_t size = 0;
	int size_code, bytes_code = 0, error;

	if (!get_size || !get_bytes) {
		return 0;
	}
	size_code = get_size(handle->value, &size);
	size = size_code == 0 ? size : 0;
	if (size > ENTRY_BYTES_MAX / 2) {
		return -EFBIG;
	}
	error = compiler->artifact_head ? read_written(get_bytes, handle->value, size, &bytes, &size, &bytes_code)
	                                : read_told(get_bytes, handle->value, size, &bytes, &bytes_code);
	if (error == 0) {
		result_add(result, RESULT_TAG_OWN + (uint32_t)artifact, size_code | bytes_code << 8, bytes, size);
	}
	return error;
}

int artifact_collect_all(const struct handle *handle, struct result *result)
{
	int error = 0;

	for (size_t i = 0; i < handle->library->compiler->artifact_count && error == 0; i++) {
		error = artifact_collect(handle, i, result);
	}
	return error;
}

/*
 * Without a head, a bytes getter that failed has stored no valid bytes, and a host whose size getter failed has no
 * buffer. With a head, the section has exactly the bytes that the getter wrote.
 */
int artifact_get(const struct compiler *compiler, const struct entry *entry, size_t artifact, enum getter getter,
                 void *answer)
{
	const size_t head = compiler->artifact_head;
	struct section section;
	uint64_t told;
	int size_code;

	if (!entry_section(entry, RESULT_TAG_OWN + (uint32_t)artifact, &section) || section.size < head) {
		return compiler->internal_error;
	}
	size_code = section.value & 0xff;
	told = section.size;
	if (head > 0) {
		memcpy(&told, section.bytes, ARTIFACT_HEAD);
		section.size -= head;
		if (!fits_size(section.size, size_code == 0 ? told : 0)) {
			return compiler->internal_error;
		}
	}
	if (getter == GETTER_BYTES) {
		if (section.size > 0 && (head > 0 || section.value == 0)) {
			memcpy(answer, (const uint8_t *)section.bytes + head, section.size);
		}
		return section.value >> 8;
	}
	if (size_code == 0) {
		*(size_t *)answer = (size_t)told;
	}
	return size_code;
}
