/* SPDX-License-Identifier: MIT */
/*
 * sweep: every call of every scenario x everything that can go wrong in it
 *
 * sweep_faults() runs every `stride`-th of all faults (1: all); a TAP line per scenario says how many. The first call of
 * a scenario fails in the same ways as the last; with a stride the faults are taken evenly over all calls.
 * sweep_traced() kills the host at system calls, seen by ptrace, which knows nothing of the injector.
 */
#ifndef FAULTS_SWEEP_H
#define FAULTS_SWEEP_H

/* `only`: NULL, or a part of the names of the scenarios wanted. `part` of `parts`: every parts-th scenario. */
struct sweep {
	unsigned stride;
	unsigned part, parts;
	const char *only;
};

void sweep_faults(const struct sweep *sweep);
void sweep_memory(const struct sweep *sweep);
void sweep_crowd(const struct sweep *sweep);
void sweep_traced(const struct sweep *sweep);

#endif
