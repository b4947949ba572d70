/* SPDX-License-Identifier: MIT */
/*
 * dependencies_read: the bytes of dependencies, one thing after the other (keygen/dependencies_format.h)
 *
 * Purpose: the one reader, for the one walk over them (dependencies_walk.h). It believes nothing: texts hold no NUL and are paths at most, numbers are in their ranges.
 *
 * Calling sequence: reader_head(), reader_root() for each root,
 * reader_group() for each group and reader_item() for each of its items; reader_ends(). Errors: anything but READ_SOUND
 * ends it. Ownership: what comes back points into the bytes.
 */
#ifndef KEYGEN_DEPENDENCIES_READ_H
#define KEYGEN_DEPENDENCIES_READ_H

#include "keygen/dependencies_format.h"
#include "keygen/dependencies_sights.h"
#include "keygen/digest.h"
#include "keygen/stream.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/*
 * dependencies_place: looking up many paths by the shortest way
 *
 *     one group: UNOPENED --hint, open--> OPEN     names are looked up in the directory
 *                    |             \----> MISSING  nothing in it is there: no name is looked up
 *                    |                      ^
 *                    |\ it lies in a directory that was found missing for an earlier group of the base
 *                    \ no hint, or a doubt (EMFILE, EACCES, ...): paths from the base, or whole ones, are looked up
 *
 * Purpose: a kernel's walk over a whole path costs more than the stat at its end.  So the directory of the base and
 * that of the group are opened (O_PATH), one of each at a time.  What is found is what the whole path would have found.
 *
 * Calling sequence: place_init(), then per group place_enter(), place_open_directory() unless its names need no look,
 * and per name place_name() and the questions;
 * place_close(). Errors: -ENAMETOOLONG where a path would be longer than PATH_MAX; otherwise whole paths are the answer
 * to every error.
 */

enum place_state { PLACE_UNOPENED, PLACE_OPEN, PLACE_MISSING };

struct place {
	uint32_t base;
	bool base_set;
	int base_descriptor; /* of the base's directory, or -1 */
	enum place_state state;
	int directory;       /* of the group, or -1 */
	const char *missing; /* of this base: a directory that does not exist; points into the dependencies */
	size_t missing_size; /* 0: none is known */
	const char *present; /* the same: one that exists */
	size_t present_size;
	uint8_t *buffer;       /* when content had to be read */
	size_t base_size;      /* path: base, directory, name */
	size_t directory_size; /* base and directory */
	char path[PATH_MAX];
};

/* A group: the base's number and text, and the directory behind it ("", or with its last slash). No text holds a NUL.
 */
struct place_group {
	uint32_t base;
	uint32_t hints;
	const char *base_text;
	size_t base_size;
	const char *directory;
	size_t directory_size;
	size_t stamp_at; /* with HINT_STAMPED: where the stamp stands in the bytes */
	struct fixed_directory stamp;
};

void place_init(struct place *place);
void place_close(struct place *place);

int place_enter(struct place *place, const struct place_group *group);
void place_open_directory(struct place *place, const struct place_group *group);
void place_leave(struct place *place);
/* From here on the questions are about this name of the group; `path` is its whole path. */
int place_name(struct place *place, const char *name, size_t size);

/* stamp_look() at it. */
int place_stat(const struct place *place, struct stat *ret_stat, uint64_t *ret_mount);
/* Is the name no entry of its directory, not even a link that leads nowhere? */
bool place_is_vacant(const struct place *place);
/* 0 where it can be opened for reading, which nothing but an open tells; else a negative errno. */
int place_open(const struct place *place);
/*
 * The digest of the content: -EACCES and the like where it cannot be opened, -EBUSY where it is no longer the file of
 * `stat` or changes while it is read, -EIO, -ENOMEM.
 */
int place_digest(struct place *place, const struct stat *stat, struct key *ret_digest);

/*
 * dependencies_content: is a file's content still what the dependencies say?
 *
 *     stamp equal, taken on this boot in this mount --yes--> opened before by one of our credentials?
 *        | no                                                   | yes: SAME, but for one file of each directory
 *        |                                                      | no, or such a file: open it --> SAME, UNREADABLE
 *        v
 *     read by this process at this stamp? --no--> read it; remember, if settled
 *        `--------------------------------------> digest equal? SAME (and the stamp anew), CHANGED
 *
 * Purpose: the cheapest answer that is certain, and stamps of now for the next who asks.
 *
 * Calling sequence: content_begin(), then per path that is there content_moved() where it is another file than it was,
 * and per file that the compiler read content_ask(); content_anew() when all hold; content_end().
 * Errors: without memory nothing is stamped anew.
 */

/*
 * So much is read to compare, and no more: a whole link's input many times over, and a second's work. Who wrote the
 * dependencies names the files, and their size, and might name one that nobody can read to its end (a sparse one, a core).
 */
#define CONTENT_READ_MAX (UINT64_C(1) << 30)

/* One path of the dependencies. */
struct checked_item {
	uint32_t kind;
	uint32_t class;
	int error;
	size_t at; /* of the identity in the bytes; the content is behind it */
	struct fixed_identity identity;
	struct fixed_content content;
};

struct content {
	const uint8_t *bytes; /* the dependencies */
	size_t size;
	struct place *place;
	struct fixed_stamps stamps;
	bool same_boot; /* they were taken on this one */
	struct sights sights;
	struct credentials credentials;
	bool credentials_set;
	bool sampled;  /* a file of the present directory was opened */
	uint64_t left; /* of CONTENT_READ_MAX */
	bool wants_anew;
	uint8_t *anew;   /* the dependencies with stamps of now, once one differs */
	uint32_t gained; /* files that had to be read, and that a stamp will stand for */
};

enum content_answer { CONTENT_SAME, CONTENT_CHANGED, CONTENT_UNREADABLE };

/* CONTENT_ANEW: the dependencies with stamps of now are wanted, where one differs (content_anew()). */
enum content_want { CONTENT_AS_IT_IS, CONTENT_ANEW };
void content_begin(struct content *content, const void *bytes, size_t size, enum content_want want,
                   struct place *place);
/* The stamps' head, as it was read. */
void content_taken(struct content *content, const struct fixed_stamps *stamps);
/* The files asked about from here on lie in another directory. */
void content_enter(struct content *content);
void content_end(struct content *content);

/* `now` and the mount's `number` are the place's of this moment. */
enum content_answer content_ask(struct content *content, const struct checked_item *item, const struct stat *stat,
                                const struct file_stamp *now, uint64_t number);
void content_moved(struct content *content, const struct checked_item *item, const struct file_stamp *now);
/* Has the group's directory, now as `now` says, the entries that it had when it was stamped? */
bool content_same_directory(struct content *content, const struct place_group *group, const struct file_stamp *now,
                            uint64_t number);
/* It was `now` before its names were looked at, none of which is an entry. Kept where files are stamped anew too. */
void content_stamp_directory(struct content *content, const struct place_group *group, const struct file_stamp *now,
                             uint64_t number);
/* What a directory's stamp says of its entries may be believed. `path`: any file in the mount. */
bool directory_counts(const char *path, const struct file_stamp *stamp, const struct mount *mount, int64_t read_ns);
/* The dependencies with stamps of now, the caller's to free(); NULL where that would spare nobody a reading. */
uint8_t *content_anew(struct content *content);

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
