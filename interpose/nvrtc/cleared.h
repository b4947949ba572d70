/* SPDX-License-Identifier: MIT */
/*
 * cleared: options of encoded programs that no document names, and that scripts/cleared-options has found harmless
 *
 * cuDNN passes NVRTC options that only its own callback spells. The list has digests of single options, no texts. An
 * option is in it if a compilation with it gave the same bytes in two directories, and if it had no effect on later
 * compilations of the process.
 *
 * Calling sequence: a pure function. Threads, fork, signals: no state. Errors: none.
 */
#ifndef INTERPOSE_NVRTC_CLEARED_H
#define INTERPOSE_NVRTC_CLEARED_H

#include <stdbool.h>

/* The letter is part of the digest. */
enum cleared_kind {
	CLEARED_FRONT_END = 'f', /* the option itself */
	CLEARED_PTXAS = 'p',     /* a value of -Xptxas */
	CLEARED_NVVM = 'n'       /* a value of -Xnvvm */
};

/* `before`: the value of the last -Xnvvm before this one, which may need it; or NULL. */
bool cleared_option(enum cleared_kind kind, const char *before, const char *text);

#endif
