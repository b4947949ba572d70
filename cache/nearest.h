/* SPDX-License-Identifier: MIT */
/*
 * nearest: the word that somebody meant who mistyped it
 *
 * The distance of two words is the number of letters that are missing, too many, wrong, or swapped with their neighbour.
 * A word is near where that is at most a third of the longer one's length, rounded up; of words equally near, the first.
 *
 * Threads, signals, fork: no state. Memory: the stack's. Errors: none; whatever is longer than NEAREST_BYTES is near to
 * nothing.
 */
#ifndef CACHE_NEAREST_H
#define CACHE_NEAREST_H

#include <stddef.h>

#define NEAREST_BYTES 64

/* Of `count` words, the first `skip` bytes of which are alike and do not count. `text` without them. NULL: none is near.
 */
const char *nearest_word(const char *text, size_t size, const char *const *words, size_t count, size_t skip);

#endif
