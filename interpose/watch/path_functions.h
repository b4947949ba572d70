/* SPDX-License-Identifier: MIT */
/*
 * path_functions: whether all functions that take paths lead to the same files
 *
 * Purpose: a preload that redirects paths (nixpkgs' libredirect) replaces some of these functions and not others. NVRTC
 * calls open, fopen, stat and access; we ask openat and statx. Where they are not all of one library, ours may look at
 * other files than the compiler would, and nothing that was found with them says anything about the compiler's.
 *
 * Left out of the comparison: runtimes of sanitizers, which look at what is passed and pass it on, and libpthread,
 * where C libraries before 2.34 have an `open` of their own.
 *
 * Errors: what cannot be found is as it should be. Threads: any. Fork, signals: no. Found out once in a process.
 */
#ifndef INTERPOSE_WATCH_PATH_FUNCTIONS_H
#define INTERPOSE_WATCH_PATH_FUNCTIONS_H

#include <stdbool.h>

bool path_functions_agree(void);

#endif
