/* SPDX-License-Identifier: MIT */
#include "interpose/nvvm/artifacts.h"

#include "interpose/nvvm/functions.h"
#include "interpose/nvvm/nodes.h"
#include "interpose/nvvm/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct compiler_artifact nvvm_artifacts[ARTIFACT_COUNT] = {
    [ARTIFACT_RESULT] = {"compiled result", FUNCTION_nvvmGetCompiledResultSize, FUNCTION_nvvmGetCompiledResult},
    [ARTIFACT_LOG] = {"log", FUNCTION_nvvmGetProgramLogSize, FUNCTION_nvvmGetProgramLog},
};

int nvvm_artifacts_collect(const struct handle *handle, struct result *result)
{
	int error =
	    nvvm_program_of(handle)->latest == WORK_COMPILE ? artifact_collect(handle, ARTIFACT_RESULT, result) : 0;

	return error ? error : artifact_collect(handle, ARTIFACT_LOG, result);
}

/* The log of a failure has no fixed words: "NAME (190, 2): parse ...", "NAME: link error: ...". */
bool nvvm_artifacts_explain_failure(const struct handle *handle, const struct result *result)
{
	const struct section *log = result_section(result, RESULT_TAG_OWN + ARTIFACT_LOG);

	(void)handle;
	return log && !result_says_shortage(log) && log->size > 1;
}
