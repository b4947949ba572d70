/* SPDX-License-Identifier: MIT */
/*
 * What a program asks of a result. The input is the sections of two entries, as another version of the library, or a
 * stranger with a bundle, could have made them: tag, value and bytes are any. Checksums are right.
 *
 * Properties: every question has an answer, answers lie within the entry, texts end, and a copy is like its original.
 */
#include "interpose/nvrtc/artifacts.h"
#include "keygen/stream.h"

#include "tests/fuzz/fuzz.h"

/* As much of NVRTC as tells results apart. */
static const struct compiler compiler = {
    .internal_error = RESULT_INTERNAL_ERROR,
    .artifacts = nvrtc_products,
    .artifact_count = PRODUCT_COUNT,
    .comparable = artifacts_comparable,
    .hides_ids = true,
};

#define SECTIONS 8

static struct entry *build(struct input *input)
{
	static const uint8_t key[ENTRY_KEY_BYTES];
	struct section sections[SECTIONS + 1] = {{0}};
	struct stream names = STREAM_EMPTY;
	size_t count = take_number(input, 1) % (SECTIONS + 1);
	struct entry *entry;

	for (size_t i = 0; i < count; i++) {
		uint8_t how = (uint8_t)take_number(input, 1);

		sections[i].tag = (uint32_t)take_number(input, how & 1 ? 4 : 1);
		sections[i].value = (int32_t)take_number(input, how & 2 ? 4 : 0);
		sections[i].bytes = take_bytes(input, take_number(input, 1), &sections[i].size);
	}
	/* names as they are written, whatever is in them */
	for (size_t i = take_number(input, 1) % 4; i > 0; i--) {
		size_t size;
		const uint8_t *text = take_bytes(input, take_number(input, 1) % 8, &size);

		stream_field(&names, 1, text, size);
		stream_u32(&names, (uint32_t)take_number(input, 1));
		text = take_bytes(input, take_number(input, 1) % 8, &size);
		stream_field(&names, 2, text, size);
	}
	if (names.size > 0) {
		sections[count++] = (struct section){.tag = 2, .bytes = names.bytes, .size = names.size};
	}
	require(entry_build(key, 0, NULL, 0, sections, count, &entry) == 0);
	stream_free(&names);
	return entry;
}

static bool lies_in(const struct entry *entry, const char *text)
{
	size_t size;
	const char *bytes = entry_bytes(entry, &size);

	return text >= bytes && text < bytes + size && memchr(text, '\0', (size_t)(bytes + size - text));
}

static void ask(const struct entry *entry, const char *expression)
{
	static struct program program;
	const char *name = "untouched";
	const char *again = NULL;
	size_t size = 0;
	int first;

	atomic_store(&program.last_name, NULL);
	(void)result_value(entry, RESULT_TAG_RETURN_CODE, 0);
	(void)artifacts_pch_status(entry);
	(void)artifacts_pch_heap(entry, &size);
	if (!result_applies(entry, 0, &name) && name) {
		size = strlen(name);
	}
	(void)result_applies(entry, SLOPPINESS_TIME_MACROS, &name);
	name = "untouched";
	size = 0;
	for (int i = 0; i < PRODUCT_COUNT; i++) {
		struct section section;
		bool there = entry_section(entry, RESULT_TAG_OWN + (uint32_t)i, &section);
		char *bytes = malloc(there && section.size > 0 ? section.size : 1);

		require(bytes != NULL);
		(void)artifact_get(&compiler, entry, (size_t)i, GETTER_BYTES, bytes);
		free(bytes);
		(void)artifact_get(&compiler, entry, (size_t)i, GETTER_SIZE, &size);
	}
	/* the second look-up begins where the first one ended */
	first = artifacts_lowered_name(&program, entry, expression, &name);
	require(!name || lies_in(entry, name));
	require(artifacts_lowered_name(&program, entry, expression, &again) == first && again == name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = input_of(data, size);
	struct entry *one = build(&input);
	struct entry *other = build(&input);
	char expression[16] = "";
	const char *what = NULL;
	size_t given;
	const void *text = take_bytes(&input, take_number(&input, 1) % sizeof(expression), &given);

	memcpy(expression, text, given);
	ask(one, expression);
	ask(other, expression);
	require(result_compare(&compiler, one, one, &what) == RESULTS_ALIKE || what);
	require(result_compare(&compiler, one, other, &what) == RESULTS_ALIKE || what);
	entry_unref(one);
	entry_unref(other);
	return 0;
}
