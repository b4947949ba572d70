/* SPDX-License-Identifier: MIT */
/* reasons: what each counter that stands for a reason means, in words, and what one can do about it */
#ifndef CLI_REASONS_H
#define CLI_REASONS_H

#include "cache/counters.h"

/* COUNTER_NONE: no counter is called so that stands for a reason. `name` need not end. */
enum counter reasons_find(const char *name, size_t size);
/* One or two sentences. NULL: it stands for no reason. */
const char *reasons_words(enum counter reason);

#endif
