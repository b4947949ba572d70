/* SPDX-License-Identifier: MIT */
/*
 * inputs: replaces what a recorded link got from a recorded compilation by what was warmed
 *
 * Purpose: a program compiles to LTO-IR and links that. Another release or architecture gives other LTO-IR, so the link
 * for which the program will ask has other inputs than the recorded one. An input that equals an artifact of a recorded
 * compilation's entry is replaced by the same artifact of the entry that the compilation's job found or stored.
 *
 * Calling sequence: inputs_read(); when the jobs of the compilations have ended, inputs_open() for each link;
 * inputs_free(). Without links nothing is read. Errors: negative errno values. Threads: one.
 */
#ifndef CLI_WARM_INPUTS_H
#define CLI_WARM_INPUTS_H

#include "cli/warm/jobs.h"

struct inputs {
	struct origin *list; /* artifacts of compilations */
	size_t count;
};

int inputs_read(const struct directory *directory, const struct warm_requests *requests, struct inputs *ret_inputs);
/*
 * Opens the request of a job, with its inputs replaced, as requests_open() does. An input of a compilation that has no
 * job stays. -ECANCELED: the job of a compilation failed from which it has an input.
 */
int inputs_open(const struct jobs *jobs, const struct job *job, int *ret_file);
void inputs_free(struct inputs *inputs);

#endif
