/* SPDX-License-Identifier: MIT */
/*
 * request: what a call asked for, as its about says (keygen/about.h)
 *
 * Calling sequence: request_read(), look at it, request_free(). Threads: one. Errors: -ENOMEM; -EBADMSG: damaged.
 * Ownership: it points into the about's bytes.
 */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H

#include "keygen/about.h"
#include "keygen/digest.h"

#include <stdbool.h>

struct request_option {
	struct span text;
	struct span value; /* of an option that is two strings; else empty */
};

struct request_part {
	struct span name;
	const uint8_t *digest;
};

struct request {
	struct span compiler, title, release, build, program, step;
	struct request_option *options;
	size_t option_count;
	struct span *expressions, *roots, *bound;
	size_t expression_count, root_count, bound_count;
	struct request_part *parts;
	size_t part_count;
	bool is_cut; /* what came last is not known: what another has more than it may have been there too */
};

int request_read(const void *about, size_t size, struct request *ret_request);
void request_free(struct request *request);

/* The digest of a part, or NULL. */
const uint8_t *request_part(const struct request *request, const char *name);

/* A part of that very name. */
const struct request_part *request_find(const struct request *request, struct span name);
/* Only bound requests have their place among their parts. */
bool request_is_bound(const struct request *request);

/* Does the option put paths into what NVRTC makes, or may it? Others that bind are rare, and not named. */
bool request_binds(struct span option);

bool span_equal(struct span a, struct span b);
bool span_is(struct span span, const char *text);
/* What stands behind `head` in it; false: it does not begin so. */
bool span_behind(struct span span, const char *head, struct span *ret_rest);
struct span span_base(struct span path); /* behind its last slash */

#endif
