/* SPDX-License-Identifier: MIT */
/*
 * texts: what everything that reaches the compiler as text says in one compile (scan.h)
 *
 * The source and the headers in memory are read once, at the first compile that is done for real, as their text goes
 * after it; what is kept of them tells later compiles, with other places, all that the text would have told them.
 * Options, name expressions and the program's name are read each time. Headers on disk are read as the compiler opens
 * them: texts_reader is the compiler's `reader`.
 *
 * Calling sequence: texts_read() after each real compile whose result might be kept.
 * Errors: what cannot be read is taken to name and spell everything that binds.
 */
#ifndef INTERPOSE_NVRTC_TEXTS_H
#define INTERPOSE_NVRTC_TEXTS_H

#include "interpose/compiler.h"

#include "keygen/digest.h"

#include <stdbool.h>

/* Taints the trace with what they say. */
void texts_read(struct handle *handle, const struct call *call, const struct request *request, struct trace *trace);

extern const struct trace_reader texts_reader;

/*
 * known_headers: headers of CCCL, by content, that name __FILE__ in assertions, messages and feature tests alone
 *
 * Its text reaches the output whole or not at all there, and can be searched for in the output. A program that uses
 * one of their macros for more spells the macro's name only, so a header that is merely named or placed like one of
 * them must not pass: the digest of the whole content tells. scripts/known-headers makes the list from NVIDIA's wheels.
 *
 * Errors, threads, fork, signals: pure function.
 */

/* `digest`: BLAKE2b-256 of the header's content. */
bool known_header(const struct key *digest);

#endif
