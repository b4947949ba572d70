/* SPDX-License-Identifier: MIT */
/*
 * known_headers: headers of CCCL, by content, that name __FILE__ in assertions, messages and feature tests alone
 *
 * Its text reaches the output whole or not at all there, and can be searched for in the output. A program that uses
 * one of their macros for more spells the macro's name only, so a header that is merely named or placed like one of
 * them must not pass: the digest of the whole content tells. scripts/known-headers makes the list from NVIDIA's wheels.
 *
 * Errors, threads, fork, signals: pure function.
 */
#ifndef INTERPOSE_NVRTC_KNOWN_HEADERS_H
#define INTERPOSE_NVRTC_KNOWN_HEADERS_H

#include "keygen/digest.h"

#include <stdbool.h>

/* `digest`: BLAKE2b-256 of the header's content. */
bool known_header(const struct key *digest);

#endif
