/* SPDX-License-Identifier: MIT */
#include "keygen/recording.h"

#include "cache/entry.h"
#include "tests/unit/support.h"

#include <errno.h>

TestSuite(recording);

static void put_head(struct stream *head)
{
	recording_put_text(head, RECORDING_COMPILER, "nvrtc");
	recording_put_text(head, RECORDING_RELEASE, "13.0");
	stream_number(head, RECORDING_COST, 7);
}

static struct stream seal(const struct stream *head, const struct stream *calls)
{
	struct stream file = recording_seal(head, calls);

	cr_assert(!file.failed);
	return file;
}

/* Returns what recording_open() says of a file with these extra fields at the end of its head and of its calls. */
static int open_with(enum recording_tag head_tag, const char *head_text, enum recording_tag call_tag, const void *bytes,
                     size_t size)
{
	struct stream head = STREAM_EMPTY, calls = STREAM_EMPTY, file;
	struct recording recording;
	int result;

	put_head(&head);
	if (head_text) {
		recording_put_text(&head, head_tag, head_text);
	}
	recording_put_text(&calls, RECORDING_SOURCE, "source");
	stream_field(&calls, (uint8_t)call_tag, bytes, size);
	file = seal(&head, &calls);
	result = recording_open(file.bytes, file.size, &recording);
	stream_free(&head);
	stream_free(&calls);
	stream_free(&file);
	return result;
}

Test(recording, comes_back_as_it_was_written)
{
	struct stream head = STREAM_EMPTY, calls = STREAM_EMPTY, file;
	struct recording recording;
	struct span field;
	uint8_t tag;

	put_head(&head);
	recording_put_text(&head, RECORDING_VARIABLE, "TZ");
	recording_put_text(&head, RECORDING_VARIABLE, "PWD");
	recording_put_text(&head, RECORDING_VALUE, "/d");
	recording_put_text(&calls, RECORDING_SOURCE, "source");
	stream_number(&calls, RECORDING_CALL, 2);
	file = seal(&head, &calls);
	cr_assert_eq(recording_open(file.bytes, file.size, &recording), 0);
	cr_expect_str_eq(recording.texts[RECORDING_COMPILER], "nvrtc");
	cr_expect_str_eq(recording.texts[RECORDING_RELEASE], "13.0");
	cr_expect_eq(recording.numbers[RECORDING_COST], 7);
	cr_expect_eq(recording.call_fields, 2);
	cr_expect_null(recording.texts[RECORDING_DIRECTORY]);
	cr_expect_str_eq(recording.texts[RECORDING_VARIABLE], "PWD");
	cr_assert(cursor_next(&recording.calls, &tag, &field) && tag == RECORDING_SOURCE);
	cr_expect_str_eq(field.bytes, "source");
	cr_assert(cursor_next(&recording.calls, &tag, &field) && tag == RECORDING_CALL);
	cr_expect_eq(recording_number(&field), 2);
	cr_expect(!cursor_next(&recording.calls, &tag, &field));
	stream_free(&head);
	stream_free(&calls);
	stream_free(&file);
}

Test(recording, begins_like_an_entry)
{
	struct stream none = STREAM_EMPTY, file = seal(&none, &none);

	cr_expect_eq(memcmp(file.bytes, entry_magic, ENTRY_MAGIC_BYTES), 0);
	stream_free(&file);
}

Test(recording, every_changed_byte_is_damage)
{
	struct stream head = STREAM_EMPTY, calls = STREAM_EMPTY, file;
	struct recording recording;

	put_head(&head);
	recording_put_text(&calls, RECORDING_SOURCE, "source");
	file = seal(&head, &calls);
	for (size_t i = 0; i < file.size; i++) {
		file.bytes[i] ^= 1;
		cr_expect_eq(recording_open(file.bytes, file.size, &recording), -EBADMSG, "byte %zu", i);
		file.bytes[i] ^= 1;
		cr_expect_eq(recording_open(file.bytes, i, &recording), -EBADMSG, "%zu bytes", i);
	}
	cr_expect_eq(recording_open(file.bytes, file.size, &recording), 0);
	stream_free(&head);
	stream_free(&calls);
	stream_free(&file);
}

Test(recording, fields_of_another_form_are_damage)
{
	const uint64_t number = 0;

	cr_expect_eq(open_with(0, NULL, RECORDING_OPTION, "-w", 3), 0);
	cr_expect_eq(open_with(0, NULL, RECORDING_OPTION, "-w", 2), -EBADMSG);
	cr_expect_eq(open_with(0, NULL, RECORDING_OPTION, "-\0w", 4), -EBADMSG);
	cr_expect_eq(open_with(0, NULL, RECORDING_OPTION, "", 0), -EBADMSG);
	cr_expect_eq(open_with(0, NULL, RECORDING_CALL, &number, 8), 0);
	cr_expect_eq(open_with(0, NULL, RECORDING_CALL, &number, 7), -EBADMSG);
	cr_expect_eq(open_with(0, NULL, (enum recording_tag)200, &number, 8), -EBADMSG);
	cr_expect_eq(open_with(0, NULL, RECORDING_LOCALE, "C", 2), -EBADMSG);
	cr_expect_eq(open_with(RECORDING_VALUE, "x", RECORDING_OPTION, "-w", 3), -EBADMSG);
}
