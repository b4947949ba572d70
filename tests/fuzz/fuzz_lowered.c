/* SPDX-License-Identifier: MIT */
/*
 * Name expressions with their lowered names. The first byte: bit 0: what is done.
 *
 * 0: a section is written of the input, names cut out of it: each comes back as it was put, and no other.
 * 1: the rest is read as whatever the bytes say: every name ends within them, reading ends, and what was read is written
 *    again as the same bytes.
 */
#include "keygen/about.h"

#include "tests/fuzz/fuzz.h"

#define NAMES 8

static void hostile(const uint8_t *bytes, size_t size)
{
	struct cursor cursor = cursor_over(bytes, size);
	struct stream again = STREAM_EMPTY;
	struct lowered lowered;

	while (lowered_next(&cursor, &lowered)) {
		require(strlen(lowered.expression) < size);
		require(lowered.name == NULL || strlen(lowered.name) < size);
		lowered_put(&again, lowered.expression, lowered.code, lowered.name);
		/* a text may hold a NUL: then less of it comes back */
		require(!again.failed && again.size <= (size_t)(cursor.at - bytes));
	}
	stream_free(&again);
}

static void round_trip(struct input *input)
{
	struct stream stream = STREAM_EMPTY;
	char *names[2 * NAMES];
	int codes[NAMES];
	struct lowered lowered;
	struct cursor cursor;
	uint8_t *bytes;
	size_t count = 0;

	for (; count < NAMES && input->left > 0; count++) {
		bool named = take_number(input, 1) & 1;

		codes[count] = (int)take_number(input, 4);
		names[2 * count] = take_text(input);
		names[2 * count + 1] = named ? take_text(input) : NULL;
		lowered_put(&stream, names[2 * count], codes[count], names[2 * count + 1]);
	}
	require(!stream.failed);
	bytes = copy_of(stream.bytes, stream.size);
	cursor = cursor_over(bytes, stream.size);
	for (size_t i = 0; i < count; i++) {
		require(lowered_next(&cursor, &lowered));
		require(strcmp(lowered.expression, names[2 * i]) == 0 && lowered.code == codes[i]);
		require((lowered.name == NULL) == (names[2 * i + 1] == NULL));
		require(lowered.name == NULL || strcmp(lowered.name, names[2 * i + 1]) == 0);
		free(names[2 * i]);
		free(names[2 * i + 1]);
	}
	require(!lowered_next(&cursor, &lowered) && !cursor.failed);
	stream_free(&stream);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = input_of(data, size);

	if (take_number(&input, 1) & 1) {
		uint8_t *bytes = copy_of(input.at, input.left);

		hostile(bytes, input.left);
		free(bytes);
	} else {
		round_trip(&input);
	}
	return 0;
}
