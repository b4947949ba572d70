/* SPDX-License-Identifier: MIT */
#include "keygen/recording.h"

#include <errno.h>
#include <string.h>

/* Begins like an entry (cache/entry.h), so that the file counts as one of ours. */
static const uint8_t magic[16] = {0x8e, 'N', 'V', 'R', 'T', 'C', '\r', '\n', 'r', 'e', 'q', 'u', 'e', 's', 't', '1'};

enum field_kind { KIND_UNKNOWN, KIND_TEXT, KIND_NUMBER, KIND_DATA };

static const uint8_t kinds[] = {
#define RECORDING_KIND(name, number, kind) [number] = KIND_##kind,
    RECORDING_TAGS(RECORDING_KIND)
#undef RECORDING_KIND
};

void recording_put_text(struct stream *stream, enum recording_tag tag, const char *text)
{
	if (text) {
		stream_field(stream, (uint8_t)tag, text, strlen(text) + 1);
	}
}

/*
 * The digest finds damage; it does not prove an origin, because whoever can write the file can compute it. What a
 * request may do is therefore decided by those who send it (cli/warm/worker.h).
 */
struct stream recording_seal(const struct stream *head, const struct stream *calls)
{
	struct stream file = STREAM_EMPTY;
	struct span whole;
	struct key digest;

	file.failed =
	    head->failed || calls->failed || head->size > RECORDING_MAX / 2 || calls->size > RECORDING_MAX / 2;
	stream_bytes(&file, magic, sizeof(magic));
	stream_bytes(&file, head->bytes, head->size);
	stream_bytes(&file, calls->bytes, calls->size);
	if (!file.failed) {
		whole = (struct span){file.bytes, file.size};
		digest_key(&whole, 1, &digest);
		stream_bytes(&file, digest.bytes, sizeof(digest.bytes));
	}
	return file;
}

uint64_t recording_number(const struct span *field)
{
	struct cursor cursor = cursor_over(field->bytes, field->size);

	return cursor_u64(&cursor);
}

/* Texts end with the only NUL that they contain, so readers may use them as strings without a copy. */
static bool is_sound(uint8_t tag, const struct span *field)
{
	const char *text = field->bytes;

	switch (tag < sizeof(kinds) ? (enum field_kind)kinds[tag] : KIND_UNKNOWN) {
	case KIND_TEXT:
		return field->size > 0 && memchr(text, '\0', field->size) == text + field->size - 1;
	case KIND_NUMBER:
		return field->size == sizeof(uint64_t);
	case KIND_DATA:
		return true;
	default:
		return false;
	}
}

/* The calls follow the head, and are not checked further: only the compiler's worker knows their order. */
static bool read_fields(struct cursor cursor, struct recording *recording)
{
	const uint8_t *begin = cursor.at;
	struct span field;
	uint8_t tag;

	for (const uint8_t *start = begin; cursor_next(&cursor, &tag, &field); start = cursor.at) {
		bool is_call = tag >= RECORDING_SOURCE;

		if (!is_sound(tag, &field) || (!is_call && recording->call_fields > 0) ||
		    (tag == RECORDING_VALUE && !recording->texts[RECORDING_VARIABLE])) {
			return false;
		}
		if (is_call && recording->call_fields++ == 0) {
			recording->calls = (struct cursor){.at = start, .end = cursor.end};
			recording->head = (struct span){begin, (size_t)(start - begin)};
		} else if (!is_call && kinds[tag] == KIND_NUMBER) {
			recording->numbers[tag] = recording_number(&field);
		} else if (!is_call) {
			recording->texts[tag] = field.bytes;
		}
	}
	return cursor_at_end(&cursor) && recording->texts[RECORDING_COMPILER] && recording->texts[RECORDING_RELEASE] &&
	       recording->call_fields > 0;
}

int recording_open(const void *bytes, size_t size, struct recording *ret_recording)
{
	struct recording recording = {0};
	struct cursor cursor = cursor_over(bytes, size);
	const void *begins = cursor_bytes(&cursor, sizeof(magic));
	struct span whole = {bytes, size - KEY_BYTES};
	struct key digest;

	if (!begins || memcmp(begins, magic, sizeof(magic)) != 0 || size < sizeof(magic) + KEY_BYTES) {
		return -EBADMSG;
	}
	digest_key(&whole, 1, &digest);
	if (memcmp(digest.bytes, (const uint8_t *)bytes + whole.size, KEY_BYTES) != 0) {
		return -EBADMSG;
	}
	cursor.end -= KEY_BYTES;
	if (!read_fields(cursor, &recording)) {
		return -EBADMSG;
	}
	*ret_recording = recording;
	return 0;
}
