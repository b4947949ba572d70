/* SPDX-License-Identifier: MIT */
/*
 * sweep: every call of every scenario x everything that can go wrong in it
 *
 * sweep_faults() runs every `stride`-th of all faults (1: all); a TAP line per scenario says how many. The first call
 * of a scenario fails in the same ways as the last; with a stride the faults are taken evenly over all calls.
 * sweep_memory(): no memory, at each allocation alone and at all from there on. sweep_crowd(): killed at each call
 * while two others do the same work.
 */
#ifndef FAULTS_SWEEP_H
#define FAULTS_SWEEP_H

#include <stdbool.h>

/* `only`: NULL, or a part of the names of the scenarios wanted. `part` of `parts`: every parts-th scenario. */
struct sweep {
	unsigned stride;
	unsigned part, parts;
	const char *only;
	unsigned companions; /* how many others do the same at the same time; sweep_crowd() sets it */
};

void sweep_faults(const struct sweep *sweep);
void sweep_memory(const struct sweep *sweep);
void sweep_crowd(const struct sweep *sweep);

#endif
