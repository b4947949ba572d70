/* SPDX-License-Identifier: MIT */
#include "interpose/nvvm/artifacts.h"

#include "interpose/compile/equal_modulo_ids.h"
#include "interpose/nvvm/functions.h"
#include "interpose/nvvm/nodes.h"
#include "interpose/nvvm/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef int size_getter(void *program, size_t *size);
typedef int bytes_getter(void *program, char *bytes);

static int collect(const struct handle *handle, enum nvvm_artifact artifact, struct result *result)
{
	bool is_log = artifact == ARTIFACT_LOG;
	real_function *const *real = handle->library->real;
	size_getter *get_size =
	    (size_getter *)real[is_log ? FUNCTION_nvvmGetProgramLogSize : FUNCTION_nvvmGetCompiledResultSize];
	bytes_getter *get_bytes =
	    (bytes_getter *)real[is_log ? FUNCTION_nvvmGetProgramLog : FUNCTION_nvvmGetCompiledResult];
	size_t size = 0;
	int size_code, bytes_code;
	char *bytes;

	if (!get_size || !get_bytes) {
		return -EPROTO;
	}
	size_code = get_size(handle->value, &size);
	if (size_code != RESULT_SUCCESS) {
		size = 0;
	}
	if (size > ENTRY_BYTES_MAX / 2) {
		return -EFBIG;
	}
	bytes = calloc(1, size + 1);
	if (!bytes) {
		return -ENOMEM;
	}
	bytes_code = get_bytes(handle->value, bytes);
	result_add(result, artifact, size_code | bytes_code << 8, bytes, size);
	return 0;
}

int nvvm_artifacts_collect(const struct handle *handle, struct result *result)
{
	int error = nvvm_program_of(handle)->latest == WORK_COMPILE ? collect(handle, ARTIFACT_RESULT, result) : 0;

	return error ? error : collect(handle, ARTIFACT_LOG, result);
}

/* A log of a failure has no words of its own: "NAME (190, 2): parse ...", "NAME: link error: ...". */
bool nvvm_artifacts_explain_failure(const struct handle *handle, const struct result *result)
{
	const struct section *log = result_section(result, ARTIFACT_LOG);

	(void)handle;
	return log && !result_says_shortage(log) && log->size > 1;
}

const char *nvvm_artifact_name(uint32_t tag)
{
	switch (tag) {
	case ARTIFACT_RESULT:
		return "compiled result";
	case ARTIFACT_LOG:
		return "log";
	default: /* of a later version of this library, which keeps more */
		return "another artifact";
	}
}

bool nvvm_artifacts_alike(const struct section *left, const struct section *right)
{
	return equal_modulo_ids(left->bytes, left->size, right->bytes, right->size);
}

int nvvm_artifact_size(const struct entry *entry, enum nvvm_artifact artifact, size_t *size)
{
	struct section section;

	if (!entry_section(entry, artifact, &section)) {
		return nvvm_compiler.internal_error;
	}
	if ((section.value & 0xff) == RESULT_SUCCESS) {
		*size = section.size;
	}
	return section.value & 0xff;
}

int nvvm_artifact_bytes(const struct entry *entry, enum nvvm_artifact artifact, char *bytes)
{
	struct section section;

	if (!entry_section(entry, artifact, &section)) {
		return nvvm_compiler.internal_error;
	}
	/* whoever has got no size has no room either */
	if (section.value == RESULT_SUCCESS && section.size) {
		memcpy(bytes, section.bytes, section.size);
	}
	return section.value >> 8;
}
