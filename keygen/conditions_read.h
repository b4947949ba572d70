/* SPDX-License-Identifier: MIT */
/*
 * conditions_read: the bytes of conditions, one thing after the other (keygen/conditions_format.h)
 *
 * Purpose: the one reader, for the one walk over them (conditions_walk.h). It believes nothing: texts hold no NUL and are paths at most, numbers are in their ranges.
 *
 * Calling sequence: reader_head(), reader_root() for each root,
 * reader_group() for each group and reader_item() for each of its items; reader_ends(). Errors: anything but READ_SOUND
 * ends it. Ownership: what comes back points into the bytes.
 */
#ifndef KEYGEN_CONDITIONS_READ_H
#define KEYGEN_CONDITIONS_READ_H

#include "keygen/conditions_content.h"
#include "keygen/conditions_format.h"
#include "keygen/stream.h"

#include <limits.h>
#include <string.h>

enum read { READ_SOUND, READ_DAMAGED, READ_OTHER_VERSION };

struct reader {
	struct cursor cursor;
	const uint8_t *bytes;
	uint32_t flags, roots, groups, classes;
	uint32_t items;            /* not yet announced by a group */
	const uint8_t *arithmetic; /* KEY_BYTES; NULL: no constants were folded */
	struct machine_answer answers[MACHINE_ANSWERS_MAX];
	uint32_t answer_count;
};

/* `ret_stamps` is the head's own. */
enum read reader_head(struct reader *reader, const void *bytes, size_t size, struct fixed_stamps *ret_stamps);
/* `ret_text` NULL: the root is free. */
enum read reader_root(struct reader *reader, const char **ret_text, size_t *ret_size);
/* The base's text is the caller's to give. */
enum read reader_group(struct reader *reader, struct place_group *ret_group, uint32_t *ret_items);
/* Was that all? */
bool reader_ends(const struct reader *reader);

/* ---- inline, as each path of each hit goes through it: a call and its spills are an eighth of a hit in CUB ---- */

/* Text without a NUL, as long as a path may be. */
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

__attribute__((always_inline)) static inline enum read reader_item(struct reader *reader, struct checked_item *ret_item,
                                                                   const char **ret_name, size_t *ret_size)
{
	struct fixed_item head;
	const char *name;

	if (!reader_fixed(reader, &head, sizeof(head)) || !(name = reader_text(reader, head.size)) ||
	    memchr(name, '/', head.size)) {
		return READ_DAMAGED;
	}
	*ret_name = name;
	*ret_size = head.size;
	ret_item->kind = head.kind;
	if (head.kind == ITEM_ABSENT) {
		ret_item->error = (int)head.number;
		return READ_SOUND;
	}
	ret_item->class = head.number;
	ret_item->at = (size_t)(reader->cursor.at - reader->bytes);
	if ((head.kind != ITEM_IDENTITY && head.kind != ITEM_CONTENT) || head.number >= reader->classes ||
	    !reader_fixed(reader, &ret_item->identity, sizeof(ret_item->identity)) ||
	    (head.kind == ITEM_CONTENT && !reader_fixed(reader, &ret_item->content, sizeof(ret_item->content)))) {
		return READ_DAMAGED;
	}
	return READ_SOUND;
}

#endif
