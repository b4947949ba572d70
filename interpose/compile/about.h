/* SPDX-License-Identifier: MIT */
/*
 * about: what a call asks for and what a result is of, for people (keygen/about.h)
 *
 * Calling sequence: about_request() of any call, before its handle forgets what it asked for; where a result of it is
 * kept, about_result() adds what only that tells, before its entry is built. Errors: the stream's: `failed`. Ownership:
 * the stream is the caller's to free.
 */
#ifndef INTERPOSE_COMPILE_ABOUT_H
#define INTERPOSE_COMPILE_ABOUT_H

#include "interpose/compile/attempt.h"
#include "interpose/compile/binding.h"
#include "interpose/compile/result.h"
#include "keygen/about.h"

/* `attempt` NULL: it was not even described. Arguments that cannot be read are left out. */
void about_request(const struct handle *handle, const struct call *call, const struct attempt *attempt,
                   struct stream *ret_about);
/* Where there is no record of a handle. `call` NULL: what was asked for is not known. */
void about_unrecorded(const struct compiler *compiler, const char *program, const struct call *call,
                      struct stream *ret_about);
void about_result(const struct attempt *attempt, const struct binding *binding, const struct result *result,
                  struct stream *about);

#endif
