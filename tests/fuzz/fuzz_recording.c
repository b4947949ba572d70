/* SPDX-License-Identifier: MIT */
/*
 * The request that a file holds. The input is all between the magic number and the digest, which are put around it, because
 * no input would get past them. Whatever the bytes say: every text ends with its only NUL within the file, all tags are
 * known, and what was read sealed again is the same file.
 */
#include "keygen/recording.h"

#include "tests/fuzz/fuzz.h"

static void check_text(const char *text, const struct stream *file)
{
	const char *begin = (const char *)file->bytes;

	require(!text || (text > begin && text + strlen(text) < begin + file->size));
}

static void check_fields(struct cursor cursor, const struct stream *file)
{
	struct span field;
	uint8_t tag;

	while (cursor_next(&cursor, &tag, &field)) {
		require(tag > 0 && tag <= RECORDING_CALL);
		if (tag == RECORDING_OPTION || tag == RECORDING_VARIABLE) {
			check_text(field.bytes, file);
			require(strlen(field.bytes) + 1 == field.size);
		} else if (tag == RECORDING_CALL) {
			(void)recording_number(&field);
		}
	}
	require(!cursor.failed);
}

/* Head and calls are all that there is, so they can be sealed again. */
static void check_sealed(const struct recording *recording, const struct stream *file)
{
	const struct cursor *read = &recording->calls;
	struct stream head = STREAM_EMPTY, calls = STREAM_EMPTY, again;

	stream_bytes(&head, recording->head.bytes, recording->head.size);
	stream_bytes(&calls, read->at, (size_t)(read->end - read->at));
	again = recording_seal(&head, &calls);
	require(again.size == file->size && memcmp(again.bytes, file->bytes, file->size) == 0);
	stream_free(&again);
	stream_free(&calls);
	stream_free(&head);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct stream body = {.bytes = copy_of(bytes, size), .size = size};
	const struct stream nothing = STREAM_EMPTY;
	struct stream file = recording_seal(&body, &nothing);
	struct recording recording;

	require(!file.failed);
	if (recording_open(file.bytes, file.size, &recording) == 0) {
		check_sealed(&recording, &file);
		check_text(recording.texts[RECORDING_COMPILER], &file);
		check_text(recording.texts[RECORDING_RELEASE], &file);
		check_text(recording.texts[RECORDING_DIRECTORY], &file);
		check_text(recording.texts[RECORDING_LOCALE], &file);
		check_fields(recording.calls, &file);
		check_fields(cursor_over(recording.head.bytes, recording.head.size), &file);
	}
	stream_free(&file);
	stream_free(&body);
	return 0;
}
