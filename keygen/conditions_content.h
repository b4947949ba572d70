/* SPDX-License-Identifier: MIT */
/*
 * conditions_content: is a file's content still what the conditions say?
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
#ifndef KEYGEN_CONDITIONS_CONTENT_H
#define KEYGEN_CONDITIONS_CONTENT_H

#include "keygen/conditions_place.h"
#include "keygen/conditions_sights.h"

/*
 * So much is read to compare, and no more: a whole link's input many times over, and a second's work. Who wrote the
 * conditions names the files, and their size, and might name one that nobody can read to its end (a sparse one, a core).
 */
#define CONTENT_READ_MAX (UINT64_C(1) << 30)

/* One path of the conditions. */
struct checked_item {
	uint32_t kind;
	uint32_t class;
	int error;
	size_t at; /* of the identity in the bytes; the content is behind it */
	struct fixed_identity identity;
	struct fixed_content content;
};

struct content {
	const uint8_t *bytes; /* the conditions */
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
	uint8_t *anew;   /* the conditions with stamps of now, once one differs */
	uint32_t gained; /* files that had to be read, and that a stamp will stand for */
};

enum content_answer { CONTENT_SAME, CONTENT_CHANGED, CONTENT_UNREADABLE };

/* CONTENT_ANEW: the conditions with stamps of now are wanted, where one differs (content_anew()). */
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
/* The conditions with stamps of now, the caller's to free(); NULL where that would spare nobody a reading. */
uint8_t *content_anew(struct content *content);

#endif
