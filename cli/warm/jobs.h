/* SPDX-License-Identifier: MIT */
/*
 * jobs: sends recorded requests to compilers, several at a time
 *
 * Purpose: a job is one request for one compiler and one architecture. Each is a process of its own (worker.h), which
 * ends if this process is killed. What a worker has compiled is stored when it ends, so an interruption loses only the
 * jobs that run.
 *
 * Calling sequence: fill in `list`; jobs_run(); read the outcomes; jobs_free(). Errors: of a job,
 * in its verdict. Signals: after interrupt_hold() a signal lets the running jobs finish; the others stay JOB_WAITS.
 * Threads: one.
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
	int file; /* the request, behind which the worker writes its verdict */
	off_t request_size;
};

struct jobs {
	struct directory directory;
	const struct warm_requests *requests;
	enum replay_mode mode;
	unsigned parallel;
	struct job *list; /* in the order of the requests: links start when all others have ended */
	size_t count;
	const struct warm_request *reading;
	struct origin *origins; /* artifacts of compilations, which may be the inputs of links */
	size_t origin_count;
	size_t kindless; /* requests without a compiler of their kind, which have no job */
};

/* Runs the jobs in order. Returns 0, or a negative errno value if workers cannot be started. */
int jobs_run(struct jobs *jobs);
void jobs_free(struct jobs *jobs);

#endif
