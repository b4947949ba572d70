/* SPDX-License-Identifier: MIT */
/*
 * dependencies_read: reads the bytes of dependencies in order (keygen/dependencies_format.h)
 *
 * Purpose: the only reader of these bytes, for the walk over them (dependencies_walk.h). It trusts nothing: it checks
 * that texts contain no NUL and are no longer than a path, and that numbers are in range.
 *
 * Calling sequence: reader_head(), reader_root() for each root, reader_group() for each group and reader_item() for
 * each of its items, reader_ends(). Errors: -EBADMSG: damaged; -EPROTONOSUPPORT: another version. Any error ends the
 * reading. Ownership: results point into the bytes.
 */
#ifndef KEYGEN_DEPENDENCIES_READ_H
#define KEYGEN_DEPENDENCIES_READ_H

#include "keygen/dependencies_format.h"
#include "keygen/dependencies_place.h"
#include "keygen/stream.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

/* One path of the dependencies. */
struct checked_item {
	uint32_t kind;
	uint32_t class;
	int error;
	struct fixed_identity identity;
	struct fixed_content content;
};

struct reader {
	struct cursor cursor;
	uint32_t flags, roots, groups, classes;
	uint32_t items;            /* not yet read as part of a group */
	const uint8_t *companion;  /* KEY_BYTES; NULL: there is none */
	const uint8_t *arithmetic; /* KEY_BYTES; NULL: arithmetic is no dependency */
	struct machine_answer answers[MACHINE_ANSWERS_MAX];
	uint32_t answer_count;
};

int reader_head(struct reader *reader, const void *bytes, size_t size);
/* Reads the next root. `ret_text` is NULL if the root may have any text. */
int reader_root(struct reader *reader, const char **ret_text, size_t *ret_size);
/* Reads the head of the next group. The caller then sets the base's text. */
int reader_group(struct reader *reader, struct place_group *ret_group, uint32_t *ret_items);
/* Returns true if all bytes and all items have been read. */
bool reader_ends(const struct reader *reader);

/* Inline, because they run for each path of each hit: as calls they take an eighth of the time of a hit with CUB. */

/* Reads a text. Returns NULL if it contains a NUL or is longer than a path may be. */
__attribute__((always_inline)) static inline const char *reader_text(struct reader *reader, size_t size)
{
	const char *text = size < PATH_MAX ? cursor_bytes(&reader->cursor, size) : NULL;

	return text && !memchr(text, '\0', size) ? text : NULL;
}

__attribute__((always_inline)) static inline bool reader_fixed(struct reader *reader, void *ret_struct, size_t size)
{
	const void *bytes = cursor_bytes(&reader->cursor, size);

	if (bytes) {
		memcpy(ret_struct, bytes, size);
	}
	return bytes != NULL;
}

__attribute__((always_inline)) static inline int reader_item(struct reader *reader, struct checked_item *ret_item,
                                                             const char **ret_name, size_t *ret_size)
{
	struct fixed_item head;
	const char *name;

	if (!reader_fixed(reader, &head, sizeof(head)) || !(name = reader_text(reader, head.size)) ||
	    memchr(name, '/', head.size)) {
		return -EBADMSG;
	}
	*ret_name = name;
	*ret_size = head.size;
	ret_item->kind = head.kind;
	if (head.kind == ITEM_ABSENT) {
		ret_item->error = (int)head.number;
		return 0;
	}
	ret_item->class = head.number;
	if ((head.kind != ITEM_IDENTITY && head.kind != ITEM_CONTENT) || head.number >= reader->classes ||
	    !reader_fixed(reader, &ret_item->identity, sizeof(ret_item->identity)) ||
	    (head.kind == ITEM_CONTENT && !reader_fixed(reader, &ret_item->content, sizeof(ret_item->content)))) {
		return -EBADMSG;
	}
	return 0;
}

#endif
