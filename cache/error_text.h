/* SPDX-License-Identifier: MIT */
/*
 * error_text: what went wrong, in words, for logs of host processes
 *
 * strerror() may open catalogues of translations and allocate, and changes with the host's locale; this is constant.
 * Threads, signals, fork: no state. Ownership: the texts are constants, but for numbers that have none, which go into
 * the caller's buffer.
 */
#ifndef CACHE_ERROR_TEXT_H
#define CACHE_ERROR_TEXT_H

#define ERROR_TEXT_BYTES 24

/* `error` is an errno value, of either sign. */
const char *error_text(int error, char buffer[ERROR_TEXT_BYTES]);

#endif
