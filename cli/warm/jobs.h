/* SPDX-License-Identifier: MIT */
/*
 * jobs: sends recorded requests to compilers, several at a time
 *
 * Purpose: a job is one request for one compiler and one architecture. Each is a process of its own (worker.h), which
 * ends if this process is killed. What a worker has compiled is stored when it ends, so an interruption loses only the
 * jobs that run.
 *
 * Calling sequence: fill in `list`; jobs_run(); read the outcomes. Errors: of a job in its verdict. Signals: after
 * interrupt_hold() a signal lets the running jobs finish; the others stay JOB_WAITS. Threads: one.
 */
#ifndef CLI_WARM_JOBS_H
#define CLI_WARM_JOBS_H

#include "cache/replay.h"
#include "cli/warm/requests.h"
#include "cli/warm/worker.h"

#include <sys/types.h>

#define JOBS_MAX 256 /* workers at a time */

struct job {
	const struct warm_request *request;
	const char *compiler; /* a path, or a name for the loader */
	const char *arch;     /* "": as recorded */
	unsigned place;       /* of the compiler among those of its kind */
	struct verdict verdict;
	pid_t worker;
	int output; /* its standard output */
};

struct jobs {
	struct directory directory;
	enum replay_mode mode;
	unsigned parallel;
	/* opens the request of a job: inputs_open() */
	int (*open)(const struct jobs *jobs, const struct job *job, int *ret_file);
	const struct inputs *inputs;
	struct job *list; /* links last: they start when all others have ended */
	size_t count;
	size_t kindless; /* requests without a compiler of their kind, which have no job */
};

/* Runs the jobs in order. Returns 0, or a negative errno value if workers cannot be started at all. */
int jobs_run(struct jobs *jobs);

#endif
