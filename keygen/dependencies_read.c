/* SPDX-License-Identifier: MIT */
/* Each field is checked before it is used, because entries come from archives, remote caches and other users too. */
#include "keygen/dependencies_read.h"

#include <errno.h>
#include <string.h>

/* Reads the dependencies that are not paths: digests of the companion and of mathematics functions, and answers. */
static int read_environment(struct reader *reader)
{
	reader->companion = reader->flags & DEPENDENCIES_COMPANION ? cursor_bytes(&reader->cursor, KEY_BYTES) : NULL;
	reader->arithmetic = reader->flags & DEPENDENCIES_ARITHMETIC ? cursor_bytes(&reader->cursor, KEY_BYTES) : NULL;
	reader->answer_count = reader->flags & DEPENDENCIES_MACHINE ? cursor_u32(&reader->cursor) : 0;
	if (reader->cursor.failed || reader->answer_count > MACHINE_ANSWERS_MAX) {
		return -EBADMSG;
	}
	return reader_fixed(reader, reader->answers, reader->answer_count * sizeof(reader->answers[0])) ? 0 : -EBADMSG;
}

int reader_head(struct reader *reader, const void *bytes, size_t size)
{
	struct cursor *cursor = &reader->cursor;
	uint32_t magic;

	*cursor = cursor_over(bytes, size);
	magic = cursor_u32(cursor);
	reader->flags = cursor_u32(cursor);
	reader->roots = cursor_u32(cursor);
	reader->groups = cursor_u32(cursor);
	reader->items = cursor_u32(cursor);
	reader->classes = cursor_u32(cursor);
	if (!cursor->failed && magic != DEPENDENCIES_MAGIC) {
		return -EPROTONOSUPPORT;
	}
	/* The counts are limited by the size, so that a damaged one cannot make the walk allocate gigabytes. */
	if (cursor->failed || (reader->flags & ~DEPENDENCIES_FLAGS) != 0 ||
	    reader->items > size / sizeof(struct fixed_item) || reader->classes > reader->items) {
		return -EBADMSG;
	}
	return read_environment(reader);
}

int reader_root(struct reader *reader, const char **ret_text, size_t *ret_size)
{
	size_t size = cursor_u32(&reader->cursor);

	*ret_text = NULL;
	*ret_size = 0;
	if (size != ROOT_FREE) {
		*ret_text = cursor_bytes(&reader->cursor, size);
		*ret_size = size;
	}
	return reader->cursor.failed ? -EBADMSG : 0;
}

int reader_group(struct reader *reader, struct place_group *ret_group, uint32_t *ret_items)
{
	struct place_group group = {.base = cursor_u32(&reader->cursor), .base_text = ""};
	bool free_base = group.base == BASE_CWD || group.base == BASE_LITERAL;
	bool absolute;
	uint32_t items;

	group.hints = cursor_u32(&reader->cursor);
	items = cursor_u32(&reader->cursor);
	group.directory_size = cursor_u32(&reader->cursor);
	group.directory = reader_text(reader, group.directory_size);
	if (!group.directory || reader->cursor.failed || (!free_base && group.base >= reader->roots)) {
		return -EBADMSG;
	}
	absolute = group.directory_size > 0 && group.directory[0] == '/';
	if (group.directory_size > 0 && group.directory[group.directory_size - 1] != '/') {
		return -EBADMSG;
	}
	/*
	 * A directory relative to the cwd has no leading slash and may be empty. Others begin with a slash, except that
	 * the directory of a root itself is empty.
	 */
	if (group.base == BASE_CWD ? absolute : !absolute && (free_base || group.directory_size > 0)) {
		return -EBADMSG;
	}
	if (items == 0 || items > reader->items) {
		return -EBADMSG;
	}
	reader->items -= items;
	*ret_group = group;
	*ret_items = items;
	return 0;
}

bool reader_ends(const struct reader *reader)
{
	return reader->items == 0 && cursor_at_end(&reader->cursor);
}
