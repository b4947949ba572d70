/* SPDX-License-Identifier: MIT */
#include "interpose/nvjitlink/artifacts.h"

#include "interpose/compile/equal_modulo_ids.h"
#include "interpose/nvjitlink/link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TAG_ARTIFACT 0x100
#define HEAD         LINK_ARTIFACT_HEAD
#define SLACK        16 /* behind what a getter says that it writes */

/* Two fillings: what is left of them was not written. */
#define FILL_ONE   0x55
#define FILL_OTHER 0xaa

#define LOG_MAX ((size_t)1 << 20) /* a longer one is not looked through */

typedef int size_getter(void *handle, size_t *size);
typedef int bytes_getter(void *handle, void *bytes);

static const struct {
	enum nvjitlink_function size, bytes;
	const char *name;
} artifacts[NVJITLINK_ARTIFACT_COUNT] = {
#define ARTIFACT_GETTERS(name) \
	[NVJITLINK_ARTIFACT_##name] = {FUNCTION_nvJitLinkGet##name##Size, FUNCTION_nvJitLinkGet##name, #name},
    NVJITLINK_ARTIFACTS(ARTIFACT_GETTERS)
#undef ARTIFACT_GETTERS
};

/* How much of `one` was written. `other` was filled otherwise. */
static size_t written(const uint8_t *one, const uint8_t *other, size_t size)
{
	while (size > 0 && one[size - 1] == FILL_ONE && other[size - 1] == FILL_OTHER) {
		size--;
	}
	return size;
}

/* A getter writes no more than was told of its size, and a NUL where that is nothing: a host has room for no more. */
static bool fits(size_t size, uint64_t told)
{
	return size <= (told > 0 ? told : 1);
}

static int collect(const struct handle *handle, enum nvjitlink_artifact artifact, struct result *result)
{
	size_getter *get_size = (size_getter *)handle->library->real[artifacts[artifact].size];
	bytes_getter *get_bytes = (bytes_getter *)handle->library->real[artifacts[artifact].bytes];
	uint8_t *one, *other;
	uint64_t told;
	size_t size = 0, room;
	int size_code, bytes_code, other_code;

	if (!get_size || !get_bytes) {
		return 0;
	}
	size_code = get_size(handle->value, &size);
	size = size_code == NVJITLINK_SUCCESS ? size : 0;
	if (size > ENTRY_BYTES_MAX / 2) {
		return -EFBIG;
	}
	room = size + SLACK;
	one = malloc(HEAD + room);
	other = malloc(room);
	if (!one || !other) {
		free(one);
		free(other);
		return -ENOMEM;
	}
	memset(one + HEAD, FILL_ONE, room);
	memset(other, FILL_OTHER, room);
	bytes_code = get_bytes(handle->value, one + HEAD);
	other_code = get_bytes(handle->value, other);
	room = written(one + HEAD, other, room);
	if (other_code != bytes_code || memcmp(one + HEAD, other, room) != 0 || !fits(room, size)) {
		free(one);
		free(other);
		return -EPROTO;
	}
	free(other);
	told = size;
	memcpy(one, &told, HEAD);
	result_add(result, TAG_ARTIFACT + (uint32_t)artifact, size_code | bytes_code << 8, one, HEAD + room);
	return 0;
}

int link_artifacts_collect(const struct handle *handle, struct result *result)
{
	int error = 0;

	for (int artifact = 0; artifact < NVJITLINK_ARTIFACT_COUNT && error == 0; artifact++) {
		error = collect(handle, (enum nvjitlink_artifact)artifact, result);
	}
	return error;
}

bool link_artifacts_explain_failure(const struct handle *handle, const struct result *result)
{
	static const char *const errors[] = {"error", "fatal", "Undefined reference"};
	const struct section *log = result_section(result, TAG_ARTIFACT + NVJITLINK_ARTIFACT_ErrorLog);

	/* the log has what was wrong before, and a failure for want of something passing need not add a word */
	return !link_of(handle)->has_failed && log && !result_says_shortage(log) && RESULT_SAYS(log, errors);
}

/*
 * Lines that name no input which was added before: those of ptxas name what is defined in its text, and that line is of
 * the input that is just being added. (The others: what 13.4 and later say of LTO-IR, and NVJITLINK_TRACE_MESSAGES.)
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

static bool log_may_name(const struct handle *handle, enum nvjitlink_artifact artifact)
{
	size_getter *get_size = (size_getter *)handle->library->real[artifacts[artifact].size];
	bytes_getter *get_bytes = (bytes_getter *)handle->library->real[artifacts[artifact].bytes];
	size_t size = 0;
	char *text, *line;
	bool named = true;

	if (!get_size || !get_bytes || get_size(handle->value, &size) != NVJITLINK_SUCCESS || size > LOG_MAX) {
		return true;
	}
	text = calloc(1, size + SLACK);
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

static bool is_artifact(uint32_t tag)
{
	return tag >= TAG_ARTIFACT && tag - TAG_ARTIFACT < NVJITLINK_ARTIFACT_COUNT;
}

/* Up to 12.6 linked PTX numbers its calls through the whole process, so the size may be another as well. */
bool link_artifacts_alike(const struct section *left, const struct section *right)
{
	if (!is_artifact(left->tag) || left->size < HEAD || right->size < HEAD) {
		return left->size == right->size &&
		       (left->size == 0 || memcmp(left->bytes, right->bytes, left->size) == 0);
	}
	return equal_modulo_ids((const char *)left->bytes + HEAD, left->size - HEAD, (const char *)right->bytes + HEAD,
	                        right->size - HEAD);
}

const char *link_artifacts_name(uint32_t tag)
{
	return is_artifact(tag) ? artifacts[tag - TAG_ARTIFACT].name : "another artifact";
}

static bool find(const struct entry *entry, enum nvjitlink_artifact artifact, struct section *ret_section)
{
	uint64_t told;

	if (!entry_section(entry, TAG_ARTIFACT + (uint32_t)artifact, ret_section) || ret_section->size < HEAD) {
		return false;
	}
	memcpy(&told, ret_section->bytes, HEAD);
	return fits(ret_section->size - HEAD, (ret_section->value & 0xff) == NVJITLINK_SUCCESS ? told : 0);
}

int link_artifact_size(const struct entry *entry, enum nvjitlink_artifact artifact, size_t *size, int missing)
{
	struct section section;
	uint64_t told;

	if (!size) {
		return missing;
	}
	if (!find(entry, artifact, &section)) {
		return NVJITLINK_INTERNAL;
	}
	if ((section.value & 0xff) == NVJITLINK_SUCCESS) {
		memcpy(&told, section.bytes, HEAD);
		*size = (size_t)told;
	}
	return section.value & 0xff;
}

int link_artifact_bytes(const struct entry *entry, enum nvjitlink_artifact artifact, void *bytes, int missing)
{
	struct section section;

	if (!bytes) {
		return missing;
	}
	if (!find(entry, artifact, &section)) {
		return NVJITLINK_INTERNAL;
	}
	memcpy(bytes, (const char *)section.bytes + HEAD, section.size - HEAD);
	return section.value >> 8;
}
