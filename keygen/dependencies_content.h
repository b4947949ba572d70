/* SPDX-License-Identifier: MIT */
/*
 * dependencies_content: does a file still have the content that the dependencies name?
 *
 *     known (keygen/facts.h): this content at this stamp? --yes--> UNCHANGED, except one file per directory, which is
 *        | no                                                      opened first, if this process never opened it
 *        v
 *     read it; learn, if settled; digest equal? UNCHANGED, else CHANGED
 *
 * Calling sequence: content_begin(); content_ask() for each file that the compiler read; content_end(), which keeps
 * what was learned. Errors: without memory nothing is kept.
 */
#ifndef KEYGEN_DEPENDENCIES_CONTENT_H
#define KEYGEN_DEPENDENCIES_CONTENT_H

#include "keygen/dependencies.h"
#include "keygen/dependencies_place.h"
#include "keygen/facts.h"

struct content {
	struct place *place;
	struct dependencies_budget *budget;
	struct facts facts;
	bool sampled; /* a file of the current directory was opened; the walk clears it for each directory */
};

void content_begin(struct content *content, struct dependencies_budget *budget, struct place *place);
void content_end(struct content *content);

/*
 * Checks the content of the file that `place` has selected. `now` is its present stamp, `number` the number of its
 * mount. Returns DEPENDENCY_UNCHANGED, DEPENDENCY_CHANGED or DEPENDENCY_UNREADABLE.
 */
enum dependency_state content_ask(struct content *content, const uint8_t digest[KEY_BYTES],
                                  const struct file_stamp *now, uint64_t number);

#endif
