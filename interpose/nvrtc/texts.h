/* SPDX-License-Identifier: MIT */
/*
 * texts: what everything that reaches the compiler as text says in one compile (interpose/nvrtc/scan.h)
 *
 * The source and the headers in memory are read once, at the first compile that is done for real, as their text goes
 * after it; what is kept of them tells later compiles, with other places, all that the text would have told them.
 * Options, name expressions and the program's name are read each time. Headers on disk are read as the compiler opens
 * them (watch_record.c).
 *
 * Calling sequence: texts_read() after each real compile whose result might be kept.
 * Errors: what cannot be read is taken to name and spell everything that binds. Threads, fork, signals: no state.
 */
#ifndef INTERPOSE_NVRTC_TEXTS_H
#define INTERPOSE_NVRTC_TEXTS_H

#include "interpose/compile/attempt.h"
#include "interpose/compile/handle.h"

/* enum scan_finding in all texts of this compile that are not files. */
uint32_t texts_read(struct program *program, const struct attempt *attempt, int option_count,
                    const char *const *options);

#endif
