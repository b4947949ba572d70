/* SPDX-License-Identifier: MIT */
/* scenarios: the states that a cache directory is found in, and what a host then does */
#ifndef FAULTS_SCENARIOS_H
#define FAULTS_SCENARIOS_H

#include "tests/faults/stage.h"

struct scenario {
	const char *name;
	bool (*prepare)(void); /* the cache, and what else there is; NULL: no directory */
	struct process host;   /* what is tried */
	struct process after;  /* the jobs that examine the directory then */
	bool held;             /* another process is in the middle of the same compile */
	bool evicts;           /* under evict_cap */
};

/* Little more than the full directory holds: results say paths of the stage, so their sizes hang on it. */
extern uint64_t evict_cap;

extern const struct scenario scenarios[];
extern const size_t scenario_count;

/* Makes the directory once; `ret_scenario` is the same with the paths of this stage in it. */
bool scenario_begin(const struct scenario *scenario, struct scenario *ret_scenario);
/* Puts the directory there as it was made. */
bool scenario_restore(const struct scenario *scenario);

#endif
