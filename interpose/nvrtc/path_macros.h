/* SPDX-License-Identifier: MIT */
/*
 * path_macros: names of macros that say __FILE__ in no text that is searched for it
 *
 * NVRTC's own assert() comes from no file; the others come from headers that may say __FILE__ unseen (known_headers.h).
 * A program that makes a string of one and takes its size, or has a function of the name that the macro calls, gets a
 * result that hangs on the path and does not show it.
 *
 * Errors, threads, fork, signals: pure function.
 */
#ifndef INTERPOSE_NVRTC_PATH_MACROS_H
#define INTERPOSE_NVRTC_PATH_MACROS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `text`: without line splices. */
bool path_macros_named(const uint8_t *text, size_t size);

#endif
