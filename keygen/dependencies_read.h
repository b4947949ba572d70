/* SPDX-License-Identifier: MIT */
/*
 * dependencies_read: reads the bytes of dependencies in order (keygen/dependencies_format.h)
 *
 * Purpose: the only reader of these bytes, for the walk over them (dependencies_walk.h). It trusts nothing: it checks
 * that texts contain no NUL and are no longer than a path, and that numbers are in range.
 *
 * Calling sequence: reader_head(), reader_root() for each root, reader_group() for each group and reader_item() for
 * each of its items, reader_ends(). Errors: -EBADMSG: damaged;
 * -EPROTONOSUPPORT: another version. Any error ends the reading. Ownership: results
 * point into the bytes.
 */
#ifndef KEYGEN_DEPENDENCIES_READ_H
#define KEYGEN_DEPENDENCIES_READ_H

#include "keygen/dependencies.h"
#include "keygen/dependencies_format.h"
#include "keygen/dependencies_sights.h"
#include "keygen/dependencies_tell.h"
#include "keygen/digest.h"
#include "keygen/stream.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/*
 * dependencies_place: looks up many paths relative to opened directories
 *
 *     one group: UNOPENED --hint, open--> OPEN     names are looked up in the directory
 *                    |             \----> MISSING  the directory does not exist: no name is looked up
 *                    |                      ^
 *                    |\ the directory is in one that was found missing for an earlier group of the base
 *                    \ no hint, or another error (EMFILE, EACCES): paths from the base, or whole paths, are looked up
 *
 * Purpose: resolving a whole path costs the kernel more than the stat itself. So the directory of the base and that of
 * the group are opened (O_PATH), one of each at a time. The result is the same as with the whole path.
 *
 * Calling sequence: place_init(); per group place_enter(), place_open_directory() unless its names need no look-up, and
 * per name place_name() and the functions below it; place_close(). Errors: -ENAMETOOLONG if a path would be longer than
 * PATH_MAX. After any other error the whole path is looked up.
 */

enum place_state { PLACE_UNOPENED, PLACE_OPEN, PLACE_MISSING };

struct place {
	uint32_t base;
	bool base_set;
	int base_descriptor; /* of the base's directory, or -1 */
	enum place_state state;
	int directory;       /* of the group, or -1 */
	const char *missing; /* a directory of this base that does not exist; points into the dependencies */
	size_t missing_size; /* 0: none is known yet */
	const char *present; /* likewise a directory that exists */
	size_t present_size;
	uint8_t *buffer;       /* NULL until content is read */
	size_t base_size;      /* `path` is base, directory and name */
	size_t directory_size; /* base and directory */
	char path[PATH_MAX];
};

/* A group: the base's number and text, and the directory after it ("", or ending in '/'). No text contains a NUL. */
struct place_group {
	uint32_t base;
	uint32_t hints;
	const char *base_text;
	size_t base_size;
	const char *directory;
	size_t directory_size;
};

void place_init(struct place *place);
void place_close(struct place *place);

int place_enter(struct place *place, const struct place_group *group);
void place_open_directory(struct place *place, const struct place_group *group);
void place_leave(struct place *place);
/* Selects this name of the group for the functions below; `path` is then its whole path. */
int place_name(struct place *place, const char *name, size_t size);

/* stamp_look() of the selected path. Returns 0 or an errno. */
int place_stat(const struct place *place, struct stat *ret_stat, uint64_t *ret_mount);
/* Returns 0 if the path can be opened for reading, which only an open shows; otherwise -errno. */
int place_open(const struct place *place);
/*
 * Computes the digest of the content. Errors: -EACCES and others if it cannot be opened, -EBUSY if it is no longer the
 * file of `stat` or changes while it is read, -EIO, -ENOMEM.
 */
int place_digest(struct place *place, const struct stat *stat, struct key *ret_digest);

/*
 * dependencies_content: does a file still have the content that the dependencies name?
 *
 *     stamp equal, taken on this boot in this mount --yes--> opened before with our credentials?
 *        | no                                                   | yes: UNCHANGED, except one file per directory
 *        |                                                      | no, or that one file: open it --> UNCHANGED or not
 *        v
 *     read by this process at this stamp? --no--> read it; remember, if settled
 *        `--------------------------------------> digest equal? UNCHANGED (with a new stamp), CHANGED
 *
 * Purpose: finds the answer with the least work, and makes new stamps with which the next look-up needs less.
 *
 * Calling sequence: content_begin(); content_moved() for each path that exists but names another file than before, and
 * content_ask() for each file that the compiler read; content_anew() if all dependencies hold; content_end().
 * Errors: without memory there are no new stamps.
 */

/* One path of the dependencies. */
struct checked_item {
	uint32_t kind;
	uint32_t class;
	int error;
	size_t at; /* offset of the identity in the bytes; the content follows it */
	struct fixed_identity identity;
	struct fixed_content content;
};

struct content {
	const uint8_t *bytes; /* the dependencies */
	size_t size;
	struct place *place;
	struct fixed_stamps stamps;
	bool same_boot; /* the stamps were taken on this boot */
	struct sights sights;
	struct credentials credentials;
	bool credentials_set;
	bool sampled; /* a file of the current directory was opened; the walk clears it for each directory */
	struct dependencies_budget *budget;
	bool wants_anew;
	uint8_t *anew;   /* a copy of the dependencies with new stamps; NULL until a stamp differs */
	uint32_t gained; /* number of files that had to be read and whose new stamp saves the next read */
};

/* CONTENT_ANEW: if a stamp differs, make a copy of the dependencies with new stamps (content_anew()). */
enum content_want { CONTENT_AS_IT_IS, CONTENT_ANEW };
void content_begin(struct content *content, const void *bytes, size_t size, enum content_want want,
                   struct dependencies_budget *budget, struct place *place);
/* Sets the recorded head of the stamps and compares its boot with the present one. Call it after content_begin(). */
void content_taken(struct content *content, const struct fixed_stamps *stamps);
void content_end(struct content *content);

/*
 * Checks the content of the file that `place` has selected. `now` is its present stamp (from `stat`), `number` the
 * number of its mount. Returns DEPENDENCY_UNCHANGED, DEPENDENCY_CHANGED or DEPENDENCY_UNREADABLE.
 */
enum dependency_state content_ask(struct content *content, const struct checked_item *item, const struct stat *stat,
                                  const struct file_stamp *now, uint64_t number);
/* Writes the file that the path names now into the new stamps. */
void content_moved(struct content *content, const struct checked_item *item, const struct file_stamp *now);
/* Returns the dependencies with new stamps, which the caller must free(); NULL if they would save no reading. */
uint8_t *content_anew(struct content *content);

struct reader {
	struct cursor cursor;
	const uint8_t *bytes;
	uint32_t flags, roots, groups, classes;
	uint32_t items;            /* not yet read as part of a group */
	const uint8_t *companion;  /* KEY_BYTES; NULL: there is none */
	const uint8_t *arithmetic; /* KEY_BYTES; NULL: arithmetic is no dependency */
	struct machine_answer answers[MACHINE_ANSWERS_MAX];
	uint32_t answer_count;
};

/* Reads the head. `ret_stamps` is a copy. */
int reader_head(struct reader *reader, const void *bytes, size_t size, struct fixed_stamps *ret_stamps);
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
	ret_item->at = (size_t)(reader->cursor.at - reader->bytes);
	if ((head.kind != ITEM_IDENTITY && head.kind != ITEM_CONTENT) || head.number >= reader->classes ||
	    !reader_fixed(reader, &ret_item->identity, sizeof(ret_item->identity)) ||
	    (head.kind == ITEM_CONTENT && !reader_fixed(reader, &ret_item->content, sizeof(ret_item->content)))) {
		return -EBADMSG;
	}
	return 0;
}

#endif
