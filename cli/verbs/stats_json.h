/* SPDX-License-Identifier: MIT */
/* stats_json: what lies in the directory and what all processes have counted, as `stats` has gathered it; and as JSON */
#ifndef CLI_STATS_JSON_H
#define CLI_STATS_JSON_H

#include "cache/counters.h"
#include "cache/settings.h"
#include "cache/store.h"
#include "cache/tools/usage.h"

struct counted {
	struct store_usage usage;
	uint64_t counts[COUNTER_COUNT];
	int64_t since; /* seconds since 1970; 0: nothing was counted yet */
};

/* The compilers that have counters of their own. */
extern const struct stats_compiler {
	enum counter_group group;
	const char *name, *title;
} stats_compilers[];

#define STATS_COMPILER_ONE(group, name, title) +1
#define STATS_COMPILERS                        (0 COUNTERS_COMPILERS(STATS_COMPILER_ONE))

void stats_print_json(const struct settings *settings, const struct counted *shown);

#endif
