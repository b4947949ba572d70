/* SPDX-License-Identifier: MIT */
/* age: parses a length of time such as "90s", "36h", "1.5d" or "2w" */
#ifndef CACHE_TOOLS_AGE_H
#define CACHE_TOOLS_AGE_H

#include <stdbool.h>
#include <stdint.h>

#define AGE_WANTED "a number and s, m, h, d or w, such as 36h, 1.5d or 2w"

/* Returns false if `text` is not such a length of time, or is longer than 292 years. */
bool age_parse(const char *text, int64_t *ret_ns);

#endif
