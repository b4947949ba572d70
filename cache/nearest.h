/* SPDX-License-Identifier: MIT */
/*
 * nearest: suggests the known word that is closest to a mistyped word
 *
 * The distance of two words is what remains of the longer one without their common beginning and their common end. So
 * one mistake is found wherever it is: a letter that is missing, too many or wrong, or two that changed places. A word
 * is close if the distance is at most a third of the longer word's length, rounded up.
 *
 * Threads, signals, fork: no state. Errors: none.
 */
#ifndef CACHE_NEAREST_H
#define CACHE_NEAREST_H

#include <stddef.h>

#define NEAREST_TEXT_BYTES 256

/*
 * Writes for example " (did you mean 'prune'?)" to `ret_text`, or "" if none of the `count` words is close to
 * `text`. Returns `ret_text`. The first `skip` bytes of each word are a common prefix, which `text` does not have and
 * which is not compared.
 */
const char *nearest_suggest(const char *text, size_t size, const char *const *words, size_t count, size_t skip,
                            char ret_text[NEAREST_TEXT_BYTES]);

#endif
