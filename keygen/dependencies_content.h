/* SPDX-License-Identifier: MIT */
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
#ifndef KEYGEN_DEPENDENCIES_CONTENT_H
#define KEYGEN_DEPENDENCIES_CONTENT_H

#include "keygen/credentials.h"
#include "keygen/dependencies.h"
#include "keygen/dependencies_read.h"
#include "keygen/dependencies_sights.h"
#include "keygen/dependencies_tell.h"

#include <sys/stat.h>

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

#endif
