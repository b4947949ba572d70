/* SPDX-License-Identifier: MIT */
/*
 * nearest: the word that was probably meant by a mistyped one
 *
 * The distance of two words is the number of letters that are missing, superfluous, wrong, or swapped with their
 * neighbour. A word is near if that is at most a third of the longer word's length, rounded up. Of equally near words
 * the first one is taken. Words longer than NEAREST_BYTES are near to nothing. Memory: the stack's.
 */
#ifndef CACHE_NEAREST_H
#define CACHE_NEAREST_H

#include <stddef.h>

#define NEAREST_BYTES 64

/* Of `count` words, the first `skip` bytes of which are alike and do not count. `text` without them. NULL: none is near.
 */
const char *nearest_word(const char *text, size_t size, const char *const *words, size_t count, size_t skip);

#endif
