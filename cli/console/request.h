/* SPDX-License-Identifier: MIT */
/*
 * request: the facts in the about section of an entry or a recorded call (keygen/about.h), sorted by kind
 *
 * Calling sequence: request_read(), the other functions, request_free(). Threads: one. Errors: -ENOMEM; -EBADMSG if the
 * section is damaged; -EPROTONOSUPPORT if it has another format. Ownership: texts point into the bytes of the about
 * section, which must outlive the request.
 */
#ifndef CLI_CONSOLE_REQUEST_H
#define CLI_CONSOLE_REQUEST_H

#include "cache/json.h"
#include "keygen/about.h"
#include "keygen/digest.h"

#include <stdbool.h>
#include <string.h>

#define REQUEST_KINDS (ABOUT_BUILD + 1)

struct request {
	struct about_fact *facts[REQUEST_KINDS]; /* indexed by enum about_kind, in the order of the section */
	size_t counts[REQUEST_KINDS];
	bool is_cut; /* the last facts are missing, so a fact that is absent here may have been in the request */
};

/* The request is empty after an error. */
int request_read(const void *about, size_t size, struct request *ret_request);
void request_free(struct request *request);

/* Returns the text of the first fact of a kind; its bytes are NULL if there is none. */
struct span request_text(const struct request *request, enum about_kind kind);
/* Returns whether the first fact of a kind is this text. */
bool request_is(const struct request *request, enum about_kind kind, const char *text);
/* Returns the architecture that the options name, such as "sm_90"; its bytes are NULL if they name none. */
struct span request_arch(const struct request *request);
/* Returns the digest of the part with that name; NULL if there is none. */
const uint8_t *request_part(const struct request *request, struct span name);
/* Returns the first option by which NVRTC puts paths into debug information or LTO-IR; size 0: there is none. */
struct span request_binder(const struct request *request);

/* The two arguments for "%.*s". */
#define SPAN(span) (int)(span).size, (span).size ? (const char *)(span).bytes : ""

static inline struct span span_text(const char *text)
{
	return (struct span){text, strlen(text)};
}

static inline struct span span_of(const struct about_fact *fact)
{
	return (struct span){fact->text, fact->size};
}

bool span_equal(struct span a, struct span b);
bool span_is(struct span span, const char *text);
/* Finds the rest of the span after `head`. Returns false if the span does not begin with `head`. */
bool span_behind(struct span span, struct span head, struct span *ret_rest);
struct span span_base(struct span path); /* the part after the last slash */
/* Adds the text to JSON; null if there is none. */
void span_json(struct json *json, const char *name, struct span span);

#endif
