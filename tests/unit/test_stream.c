/* SPDX-License-Identifier: MIT */
#include "keygen/stream.h"
#include "tests/unit/support.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

#define FIELDS_MAX 6
#define BYTES_MAX  12

struct field_list {
	size_t count;
	struct {
		uint8_t tag;
		size_t size;
		uint8_t bytes[BYTES_MAX];
	} field[FIELDS_MAX];
};

/* Few tags, few byte values, some of which look like lengths and tags: lists that are easy to confuse. */
static struct field_list random_list(void)
{
	struct field_list list = {.count = random_next() % (FIELDS_MAX + 1)};

	for (size_t i = 0; i < list.count; i++) {
		list.field[i].tag = 1 + random_next() % 2;
		list.field[i].size = random_next() % (BYTES_MAX + 1);
		for (size_t j = 0; j < list.field[i].size; j++) {
			list.field[i].bytes[j] = (uint8_t)(random_next() % 3);
		}
	}
	return list;
}

static struct stream stream_of(const struct field_list *list)
{
	struct stream stream = STREAM_EMPTY;

	for (size_t i = 0; i < list->count; i++) {
		stream_field(&stream, list->field[i].tag, list->field[i].bytes, list->field[i].size);
	}
	cr_assert(!stream.failed);
	return stream;
}

static bool lists_equal(const struct field_list *a, const struct field_list *b)
{
	if (a->count != b->count) {
		return false;
	}
	for (size_t i = 0; i < a->count; i++) {
		if (a->field[i].tag != b->field[i].tag || a->field[i].size != b->field[i].size ||
		    memcmp(a->field[i].bytes, b->field[i].bytes, a->field[i].size) != 0) {
			return false;
		}
	}
	return true;
}

Test(stream, only_equal_lists_of_fields_give_equal_streams)
{
	for (int round = 0; round < 20000; round++) {
		struct field_list a = random_list(), b = random_list();
		struct stream left, right;

		if (round % 4 == 0) {
			b = a;
			if (b.count && b.field[0].size) {
				b.field[0].size--;
			}
		}
		left = stream_of(&a);
		right = stream_of(&b);
		cr_assert_eq(lists_equal(&a, &b), left.size == right.size &&
		                                      (!left.size || memcmp(left.bytes, right.bytes, left.size) == 0));
		stream_free(&left);
		stream_free(&right);
	}
}

Test(stream, a_cursor_reads_back_every_field_in_order)
{
	for (int round = 0; round < 2000; round++) {
		struct field_list list = random_list();
		struct stream stream = stream_of(&list);
		struct cursor cursor = cursor_over(stream.bytes, stream.size);

		for (size_t i = 0; i < list.count; i++) {
			size_t size = 99;
			const void *bytes = cursor_field(&cursor, list.field[i].tag, &size);

			cr_assert_not_null(bytes);
			cr_assert_eq(size, list.field[i].size);
			cr_assert_eq(memcmp(bytes, list.field[i].bytes, size), 0);
		}
		cr_assert(cursor_at_end(&cursor));
		stream_free(&stream);
	}
}

Test(stream, moving_a_byte_from_one_field_to_the_next_changes_the_stream)
{
	struct stream left = STREAM_EMPTY, right = STREAM_EMPTY;

	stream_string(&left, 1, "ab");
	stream_string(&left, 1, "c");
	stream_string(&right, 1, "a");
	stream_string(&right, 1, "bc");
	cr_assert_eq(left.size, right.size);
	cr_assert_neq(memcmp(left.bytes, right.bytes, left.size), 0);
	stream_free(&left);
	stream_free(&right);
}

Test(stream, numbers_are_little_endian_on_every_machine)
{
	static const uint8_t wanted[] = {4, 3, 2, 1, 8, 7, 6, 5, 4, 3, 2, 1, 9, 8, 0,
	                                 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0};
	struct stream stream = STREAM_EMPTY;

	stream_u32(&stream, 0x01020304);
	stream_u64(&stream, 0x0102030405060708);
	stream_number(&stream, 9, 0x0102);
	cr_assert_eq(stream.size, sizeof(wanted));
	cr_assert_eq(memcmp(stream.bytes, wanted, sizeof(wanted)), 0);
	stream_free(&stream);
}

Test(stream, an_overflowing_size_sets_failed_and_later_writes_do_nothing)
{
	struct stream stream = STREAM_EMPTY;
	size_t size;

	stream_string(&stream, 1, "kept");
	size = stream.size;
	stream_bytes(&stream, "x", SIZE_MAX);
	cr_assert(stream.failed);
	stream_string(&stream, 1, "more");
	stream_u64(&stream, 1);
	cr_assert_eq(stream.size, size);
	stream_free(&stream);
	cr_assert(!stream.failed);
	stream_field(&stream, 1, "x", SIZE_MAX - 3);
	cr_assert(stream.failed);
	stream_free(&stream);
}

Test(stream, a_null_string_is_an_empty_field)
{
	struct stream left = STREAM_EMPTY, right = STREAM_EMPTY;

	stream_string(&left, 3, NULL);
	stream_string(&right, 3, "");
	cr_assert_eq(left.size, 9);
	cr_assert_eq(memcmp(left.bytes, right.bytes, left.size), 0);
	stream_free(&left);
	stream_free(&right);
}

/* Every prefix is in a block of exactly its size, so that the address sanitizer sees a read past its end. */
Test(stream, a_cursor_over_a_truncated_copy_fails_and_reads_nothing_past_its_end)
{
	struct stream stream = STREAM_EMPTY;

	stream_u32(&stream, 7);
	stream_string(&stream, 1, "name");
	stream_u64(&stream, 9);
	stream_bytes(&stream, "raw", 3);
	for (size_t size = 0; size <= stream.size; size++) {
		uint8_t *copy = malloc(size ? size : 1);
		struct cursor cursor = cursor_over(copy, size);
		size_t field_size = 0;
		bool whole;

		memcpy(copy, stream.bytes, size);
		cursor_u32(&cursor);
		cursor_field(&cursor, 1, &field_size);
		cursor_u64(&cursor);
		whole = cursor_bytes(&cursor, 3) != NULL;
		cr_assert_eq(whole, size == stream.size);
		cr_assert_eq(cursor_at_end(&cursor), size == stream.size);
		free(copy);
	}
	stream_free(&stream);
}

Test(stream, a_cursor_rejects_a_field_with_a_hostile_length)
{
	static const uint64_t lengths[] = {5, 6, 255, UINT32_MAX, INT64_MAX, UINT64_MAX - 8, UINT64_MAX};

	for (size_t i = 0; i < COUNT(lengths); i++) {
		struct stream stream = STREAM_EMPTY;
		struct cursor cursor;
		size_t size = 77;

		stream_bytes(&stream, "\1", 1);
		stream_u64(&stream, lengths[i]);
		stream_bytes(&stream, "four", 4);
		cursor = cursor_over(stream.bytes, stream.size);
		cr_assert_null(cursor_field(&cursor, 1, &size));
		cr_assert(cursor.failed);
		cr_assert_eq(size, 77);
		stream_free(&stream);
	}
}

Test(stream, a_large_block_serves_one_stream_after_another)
{
	static const char bytes[3000000];
	struct stream first = STREAM_EMPTY, second = STREAM_EMPTY, third = STREAM_EMPTY;
	const uint8_t *block;

	stream_bytes(&first, bytes, 200000);
	block = first.bytes;
	stream_free(&first);
	stream_bytes(&second, bytes, 190000);
	stream_bytes(&third, bytes, 190000);
	cr_expect(second.bytes == block && third.bytes != block);
	stream_free(&second);
	stream_bytes(&first, bytes, sizeof(bytes));
	cr_expect_geq(first.capacity, sizeof(bytes), "a block that is too small is not used");
	stream_free(&first);
	stream_bytes(&second, bytes, 200000);
	cr_expect_lt(second.capacity, sizeof(bytes), "nor is one that is much too large");
	stream_free(&second);
	stream_free(&third);
}
