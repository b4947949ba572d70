/* SPDX-License-Identifier: MIT */
/*
 * What a program asks of a link, and what it adds to one. The input is the sections of an entry, as a stranger with a
 * bundle could have made them (checksums are right), then bytes of a type that are added.
 *
 * Properties: every question has an answer, what is written fits into what was told of its size (one byte where that is
 * none, as the library does it), a result is like itself; of an input nothing is read but what is there, and one byte
 * more of a text.
 */
#include "interpose/compile/artifacts.h"
#include "interpose/nvjitlink/container.h"
#include "interpose/nvjitlink/input.h"

#include "tests/fuzz/fuzz.h"

static const struct compiler_artifact artifacts[NVJITLINK_ARTIFACT_COUNT] = {
    [0 ... NVJITLINK_ARTIFACT_COUNT - 1] = {"any", 0, 0}};

/* As much of nvJitLink as tells results apart. */
static const struct compiler compiler = {
    .internal_error = NVJITLINK_INTERNAL,
    .artifacts = artifacts,
    .artifact_count = NVJITLINK_ARTIFACT_COUNT,
};

#define SECTIONS 6
#define TAGS     0x100 /* of artifacts, from here on */

static struct entry *build(struct input *input)
{
	static const uint8_t key[ENTRY_KEY_BYTES];
	struct section sections[SECTIONS] = {{0}};
	size_t count = take_number(input, 1) % (SECTIONS + 1);
	struct entry *entry;

	for (size_t i = 0; i < count; i++) {
		sections[i].tag = TAGS + (uint32_t)take_number(input, 1) % 8;
		sections[i].value = (int32_t)take_number(input, 2);
		sections[i].bytes = take_bytes(input, take_number(input, 1), &sections[i].size);
	}
	require(entry_build(key, 0, NULL, 0, sections, count, &entry) == 0);
	return entry;
}

static void ask(const struct entry *entry, enum nvjitlink_artifact artifact)
{
	size_t size = 0;
	uint8_t *bytes;

	if (artifact_get(&compiler, entry, artifact, GETTER_SIZE, &size) != NVJITLINK_SUCCESS) {
		require(size == 0);
	}
	/* an entry can say that there is more than it holds: nobody has that much */
	if (size > 4096) {
		return;
	}
	bytes = malloc(size ? size : 1);
	require(bytes != NULL);
	(void)artifact_get(&compiler, entry, artifact, GETTER_BYTES, bytes);
	free(bytes);
}

static void add(struct input *input)
{
	int type = (int)take_number(input, 1) % 12;
	uint8_t behind = (uint8_t)take_number(input, 1);
	size_t size;
	const uint8_t *bytes = take_bytes(input, 8192, &size);
	bool text = type == NVJITLINK_PTX || (type == NVJITLINK_ANY && container_kind(bytes, size) == CONTAINER_NONE);
	uint8_t *copy = (uint8_t *)text_of(bytes, size);
	struct link_input added = {.type = type, .size = size};

	copy[size] = behind;
	if (!text) {
		free(copy);
		copy = copy_of(bytes, size);
	}
	added.data = size ? copy : NULL;
	require(size > 0 || !link_input_understood(&added));
	if (text && link_input_understood(&added)) {
		require(behind == '\0' || copy[size - 1] == '\0');
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = input_of(data, size);
	struct entry *one = build(&input);
	struct entry *other = build(&input);
	const char *what = NULL;

	for (int artifact = 0; artifact < NVJITLINK_ARTIFACT_COUNT; artifact++) {
		ask(one, (enum nvjitlink_artifact)artifact);
	}
	require(result_compare(&compiler, one, one, &what) == RESULTS_ALIKE || what);
	require(result_compare(&compiler, one, other, &what) == RESULTS_ALIKE || what);
	entry_unref(one);
	entry_unref(other);
	add(&input);
	return 0;
}
