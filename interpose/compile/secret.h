/* SPDX-License-Identifier: MIT */
/*
 * secret: what this process alone knows, for its fingerprints (keygen/digest.h)
 *
 * The kernel is asked for it by a raw system call: libc has had getrandom only since 2.25, and hosts may stand before
 * it. Where that is refused, or would have to wait (early at boot), it is made of the 16 random bytes that every
 * program was started with. A child that was forked shares its parent's, as it shares what the parent remembers.
 *
 * Calling sequence: secret_make() once. Errors: -ENOSYS where there is neither: then nothing may be looked up by
 * fingerprint (the secret is a published one). errno is not kept.
 */
#ifndef INTERPOSE_COMPILE_SECRET_H
#define INTERPOSE_COMPILE_SECRET_H

#include "keygen/digest.h"

int secret_make(struct secret *ret_secret);

#endif
