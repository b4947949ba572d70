/* SPDX-License-Identifier: MIT */
/*
 * stage: a cache directory, the processes that use it, and what must be true of both
 *
 * Purpose: one place for all tests of tests/faults. The cache of every process is stage_path("cache"); a process is a
 * forked child that starts as fresh as a new one, since this program itself never uses NVRTC.
 *
 * Calling sequence: stage_open(); for each state that a directory may be in: bring it about, stage_run() what is to be
 * tried in it, stage_examine().
 *
 * Errors: a sentence that says what is wrong, NULL where all is well. A process that hangs is ended after 60 seconds.
 */
#ifndef FAULTS_STAGE_H
#define FAULTS_STAGE_H

#include "tests/faults/host.h"
#include "tests/faults/inject.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a process did, seen from outside it. */
struct seen {
	struct inject_report report;
	int descriptors_before;
	int descriptors_after;
	int compiles;
	bool inside; /* a process with a gate is in the middle of its compile */
	bool open;   /* and may go on */
	struct host_text text;
};

struct process {
	const char *const *environment; /* NAME=VALUE, or NAME to unset it, up to a NULL; NULL: just the directory */
	const struct job *jobs;
	size_t count;
	const struct inject_plan *plan; /* NULL: nothing goes wrong */
	bool gate;                      /* stops in the middle of a compile */
};

bool stage_open(const char *base, const char *fakes);
/* `name` below the stage's directory; valid until the eighth call from here. */
const char *stage_path(const char *name);

/* stage_run() is stage_start() and stage_end(). The status is that of waitpid(). */
int stage_start(const struct process *process, struct seen *seen);
int stage_end(int child);
int stage_run(const struct process *process, struct seen *seen);
struct seen *stage_seen(unsigned number); /* shared memory, 0 to 3 */

/* Nothing was printed, no descriptor was left open, and all that the host saw is right. */
const char *stage_judge(int status, const struct process *process, const struct seen *seen);

/*
 * The directory is as good as any: these jobs get what they should, then hits (EXAMINE_HITS: NVRTC compiles nothing in
 * the second process); what is left of others is removed in due time and the counters make sense (EXAMINE_FILES).
 */
enum { EXAMINE_HITS = 1, EXAMINE_FILES = 2, EXAMINE_ALL = 3 };
const char *stage_examine(const struct process *process, unsigned what);
void stage_clear_counts(void); /* begins a new directory: how many compiles can have been counted in it */

/* Paths and bytes of the directory: results alone, or all files. */
struct stage_usage {
	uint64_t entries;
	uint64_t bytes;
	unsigned temporaries;
	unsigned strangers; /* files that no version of this library writes */
	char entry[8][200]; /* names of the first results */
};
void stage_usage(struct stage_usage *ret_usage);

/* TAP. `format`: what happened, printed behind a failed test or as a comment. */
void stage_result(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));
void stage_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
int stage_plan(void);

#endif
