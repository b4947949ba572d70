/* SPDX-License-Identifier: MIT */
/*
 * texts: what the texts of one compilation contain that affects caching (scan.h)
 *
 * The source and the in-memory headers are scanned once, at the first real compilation, because their text is freed
 * after it; the stored findings are enough for later compilations, with other places. Options, name expressions and
 * the program's name are scanned each time. Headers on disk are scanned as the compiler opens them: texts_reader is
 * the compiler's `reader`.
 *
 * Calling sequence: texts_read() after each real compilation whose result might be cached. Errors: a text that cannot
 * be read is assumed to contain everything that makes a result path-dependent.
 */
#ifndef INTERPOSE_NVRTC_TEXTS_H
#define INTERPOSE_NVRTC_TEXTS_H

#include "interpose/compiler.h"

#include "keygen/digest.h"

#include <stdbool.h>

/* Taints the trace according to the texts. */
void texts_read(struct handle *handle, const struct call *call, const struct request *request, struct trace *trace);

extern const struct trace_reader texts_reader;

/*
 * known_headers: headers of CCCL, by content, that use __FILE__ only in assertions, messages and feature tests
 *
 * There the text of __FILE__ reaches the output completely or not at all, so searching the output is enough. A program
 * that uses one of their macros for more contains only the macro's name, so a header that merely has the same name or
 * path must not pass: the digest of the whole content decides. scripts/known-headers makes the list from NVIDIA's
 * wheels.
 *
 * Errors, threads, fork, signals: pure function.
 */

/* `digest`: BLAKE2b-256 of the header's content. */
bool known_header(const struct key *digest);

#endif
