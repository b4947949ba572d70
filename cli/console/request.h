/* SPDX-License-Identifier: MIT */
/*
 * request: what an entry or a journal record says of itself (keygen/about.h), sorted by kind
 *
 * Calling sequence: request_read(), look at it, request_free(). Threads: one. Errors: -ENOMEM; -EBADMSG: damaged;
 * -EPROTONOSUPPORT: of another format. Ownership: texts point into the bytes of the about section.
 */
#ifndef CLI_CONSOLE_REQUEST_H
#define CLI_CONSOLE_REQUEST_H

#include "keygen/about.h"
#include "keygen/digest.h"

#include <stdbool.h>

#define REQUEST_KINDS (ABOUT_BUILD + 1)

struct request_option {
	struct span text;
	struct span value; /* of an option that is two strings; else empty */
};

struct request {
	const struct about_fact *facts[REQUEST_KINDS]; /* by enum about_kind, in their order */
	size_t counts[REQUEST_KINDS];
	struct request_option *options; /* ABOUT_OPTION, with those that are two strings as one */
	size_t option_count;
	bool is_cut; /* the last facts are missing: what another request has more may have been in this one too */
	void *memory;
};

int request_read(const void *about, size_t size, struct request *ret_request);
void request_free(struct request *request);

/* The first fact of a kind; bytes NULL: there is none. */
struct span request_text(const struct request *request, enum about_kind kind);
bool request_is(const struct request *request, enum about_kind kind, const char *text);
/* "sm_90": the architecture that the options name; bytes NULL: none. */
struct span request_arch(const struct request *request);
/* A part with that name, and its digest; NULL: none. */
const struct about_fact *request_find(const struct request *request, struct span name);
const uint8_t *request_part(const struct request *request, const char *name);
/* A request of NVRTC's is path-dependent from the outset: its working directory is in its key. */
bool request_is_bound(const struct request *request);
/* The option that puts paths into what NVRTC makes, of those that are known to; size 0: none. */
struct span request_binder(const struct request *request);

/* For "%.*s". */
#define SPAN(span) (int)(span).size, (span).size ? (const char *)(span).bytes : ""

static inline struct span span_of(const struct about_fact *fact)
{
	return (struct span){fact->text, fact->size};
}

bool span_equal(struct span a, struct span b);
bool span_is(struct span span, const char *text);
/* What follows `head`; false: the span does not begin with it. */
bool span_behind(struct span span, const char *head, struct span *ret_rest);
struct span span_base(struct span path); /* behind its last slash */

#endif
