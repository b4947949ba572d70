/* SPDX-License-Identifier: MIT */
/*
 * about: what a result is of, from the request that it was made for (keygen/about.h)
 *
 * Calling sequence: about_build() when a result is kept, before its entry is built. Errors: -ENOMEM. Ownership: the
 * stream is the caller's to free.
 */
#ifndef INTERPOSE_COMPILE_ABOUT_H
#define INTERPOSE_COMPILE_ABOUT_H

#include "interpose/compile/attempt.h"
#include "interpose/compile/binding.h"
#include "interpose/compile/result.h"
#include "keygen/about.h"

int about_build(const struct handle *handle, const struct call *call, const struct attempt *attempt,
                const struct binding *binding, const struct result *result, struct stream *ret_about);

#endif
