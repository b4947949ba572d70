/* SPDX-License-Identifier: MIT */
/*
 * nearest: the words that a mistyped word may stand for
 *
 * The distance of two words is the number of letters that are missing, too many, wrong, or swapped with their
 * neighbour. A word is near if the distance is at most a third of the longer one's length, rounded up. All words at the
 * smallest distance are suggested.
 *
 * Threads, signals, fork: no state. Memory: the stack's. Errors: none; a text longer than NEAREST_BYTES is near to
 * nothing.
 */
#ifndef CACHE_NEAREST_H
#define CACHE_NEAREST_H

#include <stddef.h>

#define NEAREST_BYTES      64
#define NEAREST_TEXT_BYTES 256

/*
 * Writes " (did you mean 'prune' or 'run'?)" for `text`, or "" if none of the `count` words is near; returns ret_text.
 * The first `skip` bytes of each word are the same and do not count; `text` comes without them.
 */
const char *nearest_suggest(const char *text, size_t size, const char *const *words, size_t count, size_t skip,
                            char ret_text[NEAREST_TEXT_BYTES]);

#endif
