/* SPDX-License-Identifier: MIT */
/*
 * Streams. The input is read as whatever its bytes say; what could be read gives the same bytes again.
 */
#include "keygen/stream.h"

#include "tests/fuzz/fuzz.h"

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
	hostile(data, size);
	return 0;
}
