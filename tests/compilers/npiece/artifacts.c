/* SPDX-License-Identifier: MIT */
#include "tests/compilers/npiece/artifacts.h"

#include "tests/compilers/npiece/compiler.h"
#include "tests/compilers/npiece/functions.h"

#include <string.h>

const struct compiler_artifact npiece_artifacts[ARTIFACT_COUNT] = {
    [ARTIFACT_OUTPUT] = {"output", FUNCTION_npieceGetOutputSize, FUNCTION_npieceGetOutput},
    [ARTIFACT_LOG] = {"log", FUNCTION_npieceGetErrorLogSize, FUNCTION_npieceGetErrorLog},
};

bool npiece_explains_failure(const struct handle *handle, const struct result *result)
{
	(void)handle;
	for (size_t i = 0; i < result->count; i++) {
		const struct section *section = &result->sections[i];

		if (section->tag == RESULT_TAG_OWN + ARTIFACT_LOG &&
		    memmem(section->bytes, section->size, "error:", 6)) {
			return true;
		}
	}
	return false;
}

const struct entry *npiece_answer_from(const struct handle *handle, size_t artifact)
{
	(void)artifact;
	return handle->served;
}

int npiece_no_room(const struct handle *handle)
{
	(void)handle;
	return RESULT_INVALID_INPUT;
}
