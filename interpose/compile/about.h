/* SPDX-License-Identifier: MIT */
/*
 * about: describes a request and its result for people (keygen/about.h)
 *
 * Calling sequence: about_request() for any call, before its handle frees the inputs; if the result is cached,
 * about_result() adds what is known only then, before the entry is built. Errors: the stream's `failed`. Ownership:
 * event_tell() frees the event's stream.
 */
#ifndef INTERPOSE_COMPILE_ABOUT_H
#define INTERPOSE_COMPILE_ABOUT_H

#include "interpose/compile/attempt.h"
#include "interpose/compile/binding.h"
#include "interpose/compile/result.h"
#include "keygen/about.h"

/*
 * Describes the request as the event's `about`. `handle` NULL: it has no record. `attempt` NULL: roots and digests of
 * the key's parts are left out, because the request was not described for a key. Options that are not known (`call`
 * NULL) or cannot be read (one of them is NULL) are left out.
 */
void about_request(struct event *event, const struct handle *handle, const struct call *call,
                   const struct attempt *attempt);
void about_result(const struct attempt *attempt, const struct binding *binding, const struct result *result,
                  struct stream *about);

#endif
