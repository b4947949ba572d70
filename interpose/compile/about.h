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

/* `attempt` NULL: the request was not described. Arguments that cannot be read are left out. */
void about_request(const struct handle *handle, const struct call *call, const struct attempt *attempt,
                   struct stream *ret_about);
/* For a handle without a record. `call` NULL: its arguments are not known. */
void about_unrecorded(const struct compiler *compiler, const char *program, const struct call *call,
                      struct stream *ret_about);
void about_result(const struct attempt *attempt, const struct binding *binding, const struct result *result,
                  struct stream *about);

#endif
