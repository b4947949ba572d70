/* SPDX-License-Identifier: MIT */
/*
 * worker: a process that makes the calls of one recorded request (keygen/recording.h)
 *
 * Purpose: the calls go through the preloaded library to a compiler, as those of a program would, so that the result is
 * stored under the key for which programs look. A worker makes one request, because an option may affect later
 * compilations of a process, and because some variables are read when a compiler is loaded.
 *
 * A request is data of unknown origin. The worker gets no variable from it that can name a file to write or to execute,
 * and the library performs only calls whose options are known to write no file (cache/replay.h).
 *
 * Calling sequence: in the child of a fork, execv() of this command with the name WORKER_NAME and the arguments of
 * worker_main(): the compiler's file, the architecture or "", the mode's number. Standard input is a file with the
 * request, behind which the worker writes a struct verdict. A worker that ends without it has failed. Threads: one.
 */
#ifndef CLI_WARM_WORKER_H
#define CLI_WARM_WORKER_H

#include "keygen/recording.h"

#define WORKER_NAME "nvrtccache-worker"

/* JOB_STORED: or, with REPLAY_CHECK, nothing. JOB_FAILED: with REPLAY_CHECK, a program would miss. */
enum job_outcome { JOB_WAITS, JOB_STORED, JOB_THERE, JOB_FAILED };

struct verdict {
	enum job_outcome outcome;
	char key[65];  /* under which the library looked; "": unknown */
	char why[300]; /* of JOB_FAILED */
};

int worker_main(int count, char **words);

#endif
