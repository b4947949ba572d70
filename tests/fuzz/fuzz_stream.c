/* SPDX-License-Identifier: MIT */
/*
 * Streams. The first byte: bit 0: what is done; the rest is fields.
 *
 * 0: two lists of fields are built of the input. Each is read back as it was written, to its end and no further; the
 *    streams are the same bytes exactly if the lists are the same; cut short, a stream is not read to its end.
 * 1: the rest is read as whatever the bytes say; what could be read gives the same bytes again.
 */
#include "keygen/stream.h"

#include "tests/fuzz/fuzz.h"

#define FIELDS 6

struct field {
	uint8_t tag;
	const uint8_t *bytes;
	size_t size;
};

struct list {
	struct field fields[FIELDS];
	size_t count;
	struct stream stream;
};

static void build(struct input *input, struct list *list)
{
	list->count = take_number(input, 1) % (FIELDS + 1);
	for (size_t i = 0; i < list->count; i++) {
		struct field *field = &list->fields[i];

		field->tag = (uint8_t)take_number(input, 1);
		field->bytes = take_bytes(input, take_number(input, 1), &field->size);
		stream_field(&list->stream, field->tag, field->bytes, field->size);
	}
	require(!list->stream.failed);
}

static bool reads_back(const struct list *list, size_t size)
{
	uint8_t *copy = copy_of(list->stream.bytes, size);
	struct cursor cursor = cursor_over(copy, size);
	bool whole = true;

	for (size_t i = 0; i < list->count && whole; i++) {
		size_t found_size = 0;
		const void *found = cursor_field(&cursor, list->fields[i].tag, &found_size);

		whole = found != NULL;
		require(whole == !cursor.failed);
		require(!whole || (found_size == list->fields[i].size &&
		                   (found_size == 0 || memcmp(found, list->fields[i].bytes, found_size) == 0)));
	}
	require(!whole || cursor_at_end(&cursor));
	free(copy);
	return whole;
}

static bool same_lists(const struct list *a, const struct list *b)
{
	bool same = a->count == b->count;

	for (size_t i = 0; same && i < a->count; i++) {
		same =
		    a->fields[i].tag == b->fields[i].tag && a->fields[i].size == b->fields[i].size &&
		    (a->fields[i].size == 0 || memcmp(a->fields[i].bytes, b->fields[i].bytes, a->fields[i].size) == 0);
	}
	return same;
}

static void honest(struct input input)
{
	struct list one = {.count = 0};
	struct list other = {.count = 0};
	size_t cut;

	build(&input, &one);
	build(&input, &other);
	cut = take_number(&input, 2);
	require(reads_back(&one, one.stream.size) && reads_back(&other, other.stream.size));
	require(one.stream.size == 0 || !reads_back(&one, cut % one.stream.size));
	require((one.stream.size == other.stream.size &&
	         (one.stream.size == 0 || memcmp(one.stream.bytes, other.stream.bytes, one.stream.size) == 0)) ==
	        same_lists(&one, &other));
	stream_free(&one.stream);
	stream_free(&other.stream);
}

static void hostile(const uint8_t *data, size_t size)
{
	uint8_t *copy = copy_of(data, size);
	struct cursor cursor = cursor_over(copy, size);
	struct stream again = STREAM_EMPTY;

	while (!cursor_at_end(&cursor) && !cursor.failed) {
		struct cursor before = cursor;
		uint8_t tag = *cursor.at;
		size_t field_size = 0;
		const void *bytes = cursor_field(&cursor, tag, &field_size);

		if (bytes) {
			stream_field(&again, tag, bytes, field_size);
		} else {
			cursor = before;
			stream_u32(&again, cursor_u32(&cursor));
		}
		if (cursor.failed) {
			require(cursor_u64(&cursor) == 0 && !cursor_bytes(&cursor, 0) && !cursor_at_end(&cursor));
			again.size -= sizeof(uint32_t);
		}
	}
	require(again.size <= size && (again.size == 0 || memcmp(again.bytes, copy, again.size) == 0));
	require(cursor.failed || again.size == size);
	stream_free(&again);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 0 && data[0] & 1) {
		hostile(data + 1, size - 1);
	} else if (size > 0) {
		honest(input_of(data + 1, size - 1));
	}
	return 0;
}
