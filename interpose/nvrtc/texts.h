/* SPDX-License-Identifier: MIT */
/*
 * texts: searches the texts of one compilation for contents that affect caching (scan.h)
 *
 * The source and the in-memory headers are scanned at the first real compilation, because their text is freed after it.
 * Later compilations have the stored findings, and count as naming a place. Options, name expressions and the program's
 * name are scanned each time. Headers on disk are scanned as the compiler opens them: texts_reader is the compiler's
 * `reader`.
 *
 * Calling sequence: texts_read() after each real compilation whose result might be cached. Errors: a text that cannot
 * be read is assumed to contain everything that makes a result path-dependent.
 */
#ifndef INTERPOSE_NVRTC_TEXTS_H
#define INTERPOSE_NVRTC_TEXTS_H

#include "interpose/compiler.h"

/* Taints the trace according to the texts. */
void texts_read(struct handle *handle, const struct call *call, const struct request *request, struct trace *trace);

trace_reader texts_reader;

#endif
