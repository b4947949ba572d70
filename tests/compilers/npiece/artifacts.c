/* SPDX-License-Identifier: MIT */
#include "tests/compilers/npiece/artifacts.h"

#include "tests/compilers/npiece/compiler.h"
#include "tests/compilers/npiece/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef int size_getter(void *handle, size_t *size);
typedef int bytes_getter(void *handle, void *bytes);

static int collect(const struct handle *handle, enum npiece_artifact artifact, enum npiece_function size_function,
                   enum npiece_function bytes_function, struct result *result)
{
	size_getter *get_size = (size_getter *)handle->library->real[size_function];
	bytes_getter *get_bytes = (bytes_getter *)handle->library->real[bytes_function];
	size_t size = 0;
	char *bytes;
	int code = get_size(handle->value, &size);

	if (code != RESULT_SUCCESS) {
		result_add(result, artifact, code, NULL, 0);
		return 0;
	}
	if (size > ENTRY_BYTES_MAX / 2) {
		return -EFBIG;
	}
	bytes = malloc(size + 1);
	if (!bytes) {
		return -ENOMEM;
	}
	if (get_bytes(handle->value, bytes) != code) {
		free(bytes);
		return -EPROTO;
	}
	result_add(result, artifact, code, bytes, size);
	return 0;
}

int npiece_collect(const struct handle *handle, struct result *result)
{
	int error = collect(handle, ARTIFACT_OUTPUT, FUNCTION_npieceGetOutputSize, FUNCTION_npieceGetOutput, result);

	return error
	           ? error
	           : collect(handle, ARTIFACT_LOG, FUNCTION_npieceGetErrorLogSize, FUNCTION_npieceGetErrorLog, result);
}

bool npiece_explains_failure(const struct handle *handle, const struct result *result)
{
	(void)handle;
	for (size_t i = 0; i < result->count; i++) {
		const struct section *section = &result->sections[i];

		if (section->tag == ARTIFACT_LOG && memmem(section->bytes, section->size, "error:", 6)) {
			return true;
		}
	}
	return false;
}

const char *npiece_artifact_name(uint32_t tag)
{
	return tag == ARTIFACT_OUTPUT ? "output" : "log";
}

int npiece_artifact_size(const struct entry *entry, enum npiece_artifact artifact, size_t *size)
{
	struct section section;

	if (!size) {
		return RESULT_INVALID_INPUT;
	}
	if (!entry_section(entry, artifact, &section)) {
		return RESULT_INTERNAL_ERROR;
	}
	if (section.value == RESULT_SUCCESS) {
		*size = section.size;
	}
	return section.value;
}

int npiece_artifact_bytes(const struct entry *entry, enum npiece_artifact artifact, void *bytes)
{
	struct section section;

	if (!bytes) {
		return RESULT_INVALID_INPUT;
	}
	if (!entry_section(entry, artifact, &section)) {
		return RESULT_INTERNAL_ERROR;
	}
	if (section.value == RESULT_SUCCESS) {
		memcpy(bytes, section.bytes, section.size);
	}
	return section.value;
}
