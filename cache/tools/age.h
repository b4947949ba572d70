/* SPDX-License-Identifier: MIT */
/* age: how long ago, as people say it: "90s", "36h", "1.5d", "2w" */
#ifndef CACHE_TOOLS_AGE_H
#define CACHE_TOOLS_AGE_H

#include <stdbool.h>
#include <stdint.h>

#define AGE_WANTED "a number and s, m, h, d or w, such as 36h, 1.5d or 2w"

/* False: it is none, or longer than 292 years. */
bool age_parse(const char *text, int64_t *ret_ns);

#endif
