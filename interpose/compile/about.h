/* SPDX-License-Identifier: MIT */
/*
 * about: describes a request and its result for people (keygen/about.h)
 *
 * Calling sequence: about_request() for any call, before its handle frees the inputs; if the result is cached,
 * about_result() adds what is known only then, before the entry is built. Errors: the stream's `failed`. Ownership:
 * the caller frees the stream.
 */
#ifndef INTERPOSE_COMPILE_ABOUT_H
#define INTERPOSE_COMPILE_ABOUT_H

#include "interpose/compile/attempt.h"
#include "interpose/compile/binding.h"
#include "interpose/compile/result.h"
#include "keygen/about.h"

/*
 * Describes the request. `attempt` NULL: roots and digests of the key's parts are left out, because the request was not
 * described for a key. Options that cannot be read (one of them is NULL) are left out.
 */
void about_request(const struct handle *handle, const struct call *call, const struct attempt *attempt,
                   struct stream *ret_about);
/* Describes a call of a handle without a record. `call` NULL: its arguments are not known. */
void about_unrecorded(const struct compiler *compiler, const char *program, const struct call *call,
                      struct stream *ret_about);
void about_result(const struct attempt *attempt, const struct binding *binding, const struct result *result,
                  struct stream *about);

#endif
