/* SPDX-License-Identifier: MIT */
/*
 * The bytes: a field with the FORMAT number, then one field per fact. A field contains a text; for a part, its digest
 * and name; for an artifact, tag, skip and name.
 */
#include "keygen/about.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define TAG_FORMAT 1
#define FORMAT     1

void about_begin(struct stream *stream)
{
	stream_number(stream, TAG_FORMAT, FORMAT);
}

void about_text(struct stream *stream, enum about_kind kind, const char *text)
{
	stream_string(stream, (uint8_t)kind, text);
}

void about_sized(struct stream *stream, enum about_kind kind, const char *text, size_t size)
{
	stream_field(stream, (uint8_t)kind, text, size);
}

/*
 * Writes a field, as stream_field() does, of a head and a name; `more`, unless it is empty, is appended to the name
 * after a space.
 */
static void put_named(struct stream *stream, enum about_kind kind, const void *head, size_t head_size, struct span name,
                      struct span more)
{
	const uint8_t tag = (uint8_t)kind;
	const size_t blank = more.size > 0;

	stream_bytes(stream, &tag, 1);
	stream_u64(stream, head_size + name.size + blank + more.size);
	stream_bytes(stream, head, head_size);
	stream_bytes(stream, name.bytes, name.size);
	stream_bytes(stream, " ", blank);
	stream_bytes(stream, more.bytes, more.size);
}

void about_part_of(struct stream *stream, const char *kind, const struct span *name, const struct span *content)
{
	struct key digest;

	digest_key(content, 1, &digest);
	put_named(stream, ABOUT_PART, digest.bytes, ABOUT_DIGEST_BYTES, (struct span){kind, strlen(kind)}, *name);
}

void about_part(struct stream *stream, const char *name, const struct span *content)
{
	about_part_of(stream, name, &(struct span){0}, content);
}

void about_artifact(struct stream *stream, const char *name, uint32_t tag, uint32_t skip)
{
	const uint32_t head[2] = {htole32(tag), htole32(skip)};

	put_named(stream, ABOUT_ARTIFACT, head, sizeof(head), (struct span){name, strlen(name)}, (struct span){0});
}

/* Returns false if the field is damaged. */
static bool read_fact(uint8_t tag, struct span field, struct about_fact *ret_fact)
{
	struct about_fact fact = {.kind = (enum about_kind)tag, .text = field.bytes, .size = field.size};
	size_t head = tag == ABOUT_PART ? ABOUT_DIGEST_BYTES : tag == ABOUT_ARTIFACT ? 2 * sizeof(uint32_t) : 0;
	uint32_t numbers[2];

	if (field.size < head) {
		return false;
	}
	fact.text += head;
	fact.size -= head;
	if (tag == ABOUT_PART) {
		fact.digest = field.bytes;
	} else if (tag == ABOUT_ARTIFACT) {
		memcpy(numbers, field.bytes, sizeof(numbers));
		fact.tag = le32toh(numbers[0]);
		fact.skip = le32toh(numbers[1]);
	}
	*ret_fact = fact;
	return true;
}

/* Facts of kinds that this version does not know are skipped. */
int about_read(const void *bytes, size_t size, int (*each)(const struct about_fact *fact, void *context), void *context)
{
	struct cursor cursor = cursor_over(bytes, size);
	size_t format_size = 0;
	const void *format = cursor_field(&cursor, TAG_FORMAT, &format_size);
	struct cursor number = cursor_over(format, format_size);
	uint64_t written = cursor_u64(&number);
	struct about_fact fact;
	struct span field;
	uint8_t tag;

	if (!cursor_at_end(&number)) {
		return -EBADMSG;
	}
	if (written != FORMAT) {
		return -EPROTONOSUPPORT;
	}
	while (cursor_next(&cursor, &tag, &field)) {
		int result = 0;

		if (!read_fact(tag, field, &fact)) {
			return -EBADMSG;
		}
		if (tag >= ABOUT_COMPILER && tag <= ABOUT_BUILD) {
			result = each(&fact, context);
		}
		if (result != 0) {
			return result;
		}
	}
	return cursor.failed ? -EBADMSG : 0;
}

size_t about_fit(const void *bytes, size_t size, size_t most)
{
	struct cursor cursor = cursor_over(bytes, size);
	struct span field;
	size_t fits = 0;
	uint8_t tag;

	while (cursor_next(&cursor, &tag, &field) && (size_t)(cursor.at - (const uint8_t *)bytes) <= most) {
		fits = (size_t)(cursor.at - (const uint8_t *)bytes);
	}
	return fits;
}

void about_see_arch(struct about_arch *arch, const char *option, size_t size)
{
	static const char *const names[] = {"--gpu-architecture", "-gpu-architecture", "--arch", "-arch"};

	if (arch->comes) {
		*arch = (struct about_arch){option, size, false};
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i]);
		bool begins = size >= length && memcmp(option, names[i], length) == 0;

		if (begins && size == length) {
			arch->comes = true;
		} else if (begins && option[length] == '=') {
			*arch = (struct about_arch){option + length + 1, size - length - 1, false};
		}
	}
}

/* Per expression: FIELD_EXPRESSION with its NUL, u32 code, FIELD_NAME with its NUL, or empty for no name. */
#define FIELD_EXPRESSION 1
#define FIELD_NAME       2

void lowered_put(struct stream *stream, const char *expression, int code, const char *name)
{
	stream_field(stream, FIELD_EXPRESSION, expression, strlen(expression) + 1);
	stream_u32(stream, (uint32_t)code);
	stream_field(stream, FIELD_NAME, name, name ? strlen(name) + 1 : 0);
}

/* The getter returns pointers into the entry, so each text must end with a NUL within the entry. */
static bool ends_with_nul(const char *text, size_t size)
{
	return text && size > 0 && text[size - 1] == '\0';
}

bool lowered_next(struct cursor *cursor, struct lowered *ret_lowered)
{
	struct lowered lowered;
	size_t expression_size = 0, name_size = 0;

	if (cursor_at_end(cursor)) {
		return false;
	}
	lowered.expression = cursor_field(cursor, FIELD_EXPRESSION, &expression_size);
	lowered.code = (int)cursor_u32(cursor);
	lowered.name = cursor_field(cursor, FIELD_NAME, &name_size);
	if (!cursor->failed && (!ends_with_nul(lowered.expression, expression_size) ||
	                        (name_size > 0 && !ends_with_nul(lowered.name, name_size)))) {
		cursor->failed = true;
	}
	if (cursor->failed) {
		return false;
	}
	lowered.name = name_size > 0 ? lowered.name : NULL;
	*ret_lowered = lowered;
	return true;
}
