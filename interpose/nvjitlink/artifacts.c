/* SPDX-License-Identifier: MIT */
#include "interpose/nvjitlink/artifacts.h"

#include "interpose/nvjitlink/link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOG_SLACK 16                /* bytes after the size that a getter returned */
#define LOG_MAX   ((size_t)1 << 20) /* a longer log is not searched */

typedef int size_getter(void *handle, size_t *size);
typedef int bytes_getter(void *handle, void *bytes);

const struct compiler_artifact nvjitlink_artifacts[NVJITLINK_ARTIFACT_COUNT] = {
#define ARTIFACT_ROW(name, ...) \
	[NVJITLINK_ARTIFACT_##name] = {#name, FUNCTION_nvJitLinkGet##name##Size, FUNCTION_nvJitLinkGet##name},
    NVJITLINK_ARTIFACTS(ARTIFACT_ROW, )
#undef ARTIFACT_ROW
};

bool link_artifacts_explain_failure(const struct handle *handle, const struct result *result)
{
	static const char *const errors[] = {"error", "fatal", "Undefined reference"};
	const struct section *log = result_section(result, RESULT_TAG_OWN + NVJITLINK_ARTIFACT_ErrorLog);

	/* the log also has earlier errors, and a failure for lack of memory may add none */
	return !link_of(handle)->has_failed && log && !result_says_shortage(log) && RESULT_SAYS(log, errors);
}

/*
 * Returns true for a line that names no earlier input. A line of ptxas names what its text defines, and belongs to the
 * input that is being added. The others are reports of 13.4 and later about LTO-IR, and those of
 * NVJITLINK_TRACE_MESSAGES.
 */
static bool line_names_none(const char *line)
{
	static const char *const known[] = {"ptxas ", "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (",
	                                    "INFO: NVVM70 LTOIR Container created (",
	                                    "SUCCESS: NVVM70 LTOIR Container created (", "no driver "};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strncmp(line, known[i], strlen(known[i])) == 0) {
			return true;
		}
	}
	return false;
}

/*
 * Returns true if the log may name an input. The library reads the name by the host's pointer, whose text may have
 * changed. A log that cannot be read counts as one with a name.
 */
static bool log_may_name(const struct handle *handle, enum nvjitlink_artifact artifact)
{
	size_getter *get_size = (size_getter *)library_real(handle->library, nvjitlink_artifacts[artifact].size);
	bytes_getter *get_bytes = (bytes_getter *)library_real(handle->library, nvjitlink_artifacts[artifact].bytes);
	size_t size = 0;
	char *text, *line;
	bool named = true;

	if (!get_size || !get_bytes || get_size(handle->value, &size) != NVJITLINK_SUCCESS || size > LOG_MAX) {
		return true;
	}
	text = calloc(1, size + LOG_SLACK);
	if (text && get_bytes(handle->value, text) == NVJITLINK_SUCCESS) {
		for (line = text; *line && line_names_none(line); line += *line == '\n') {
			line += strcspn(line, "\n");
		}
		named = *line != '\0';
	}
	free(text);
	return named;
}

bool link_artifacts_may_name_inputs(const struct handle *handle)
{
	return log_may_name(handle, NVJITLINK_ARTIFACT_ErrorLog) || log_may_name(handle, NVJITLINK_ARTIFACT_InfoLog);
}

int link_artifacts_no_room(const struct handle *handle)
{
	return handle->library->major < 13 ? NVJITLINK_INVALID_INPUT : NVJITLINK_NULL_INPUT;
}
