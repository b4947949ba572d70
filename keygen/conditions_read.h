/* SPDX-License-Identifier: MIT */
/*
 * conditions_read: the bytes of conditions, one thing after the other (keygen/conditions_format.h)
 *
 * Purpose: the one reader, for whoever asks whether they hold (conditions_check.c) and whoever tells people what they
 * are (conditions_tell.c). It believes nothing: texts hold no NUL and are paths at most, numbers are in their ranges.
 *
 * Calling sequence: reader_head(), with CONDITIONS_ARITHMETIC reader_arithmetic(), reader_root() for each root,
 * reader_group() for each group and reader_item() for each of its items; reader_ends(). Errors: anything but READ_SOUND
 * ends it. Ownership: what comes back points into the bytes.
 */
#ifndef KEYGEN_CONDITIONS_READ_H
#define KEYGEN_CONDITIONS_READ_H

#include "keygen/conditions_content.h"
#include "keygen/conditions_format.h"
#include "keygen/stream.h"

enum read { READ_SOUND, READ_DAMAGED, READ_OTHER_VERSION };

struct reader {
	struct cursor cursor;
	const uint8_t *bytes;
	uint32_t flags, roots, groups, classes;
	uint32_t items; /* not yet announced by a group */
};

/* `ret_stamps` is the head's own. */
enum read reader_head(struct reader *reader, const void *bytes, size_t size, struct fixed_stamps *ret_stamps);
/* KEY_BYTES, or NULL. */
const uint8_t *reader_arithmetic(struct reader *reader);
/* `ret_text` NULL: the root is free. */
enum read reader_root(struct reader *reader, const char **ret_text, size_t *ret_size);
/* The base's text is the caller's to give. */
enum read reader_group(struct reader *reader, struct place_group *ret_group, uint32_t *ret_items);
enum read reader_item(struct reader *reader, struct checked_item *ret_item, const char **ret_name, size_t *ret_size);
/* Was that all? */
bool reader_ends(const struct reader *reader);

#endif
