/* SPDX-License-Identifier: MIT */
/*
 * run: sets LD_PRELOAD, then executes a program in this process
 *
 * No parent process remains, so that the program gets signals and job control directly and its exit status is the
 * command's. With --must-hit the program is a child. NVRTCCACHE_TRACE then is a file of this run: its processes inherit
 * the variable, so the file has their calls and no others, also where the cache directory cannot be written.
 */
#include "cache/output.h"
#include "cli/console/console.h"
#include "cli/console/library.h"
#include "cli/console/verb.h"
#include "cli/doctor/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
	bool cudnn, must_hit;
} asked;

/* Reports why a program could not be started. Returns the exit status for it. */
static int report_not_started(const char *name, int error)
{
	bool is_found = error != ENOENT || strchr(name, '/') != NULL;

	console_error("%s: %s", name, is_found ? strerror(error) : "not found in PATH");
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
}

/* ---- --must-hit ---- */

#define EVENT_ROOM 4096 /* in bytes; a line of the trace is shorter */

struct misses {
	size_t calls, count;
};

/* Calls that verify a hit, and events that are no calls (waiting), have other categories. */
static void tell_event(void *context, const char *event)
{
	struct span category = doctor_text_of(event, "cat"), reason = doctor_text_of(event, "reason");
	bool is_miss = span_is(category, "miss") || span_is(category, "not_kept") || span_is(category, "bypassed");
	struct misses *misses = context;

	misses->calls += is_miss || span_is(category, "hit_memory") || span_is(category, "hit_disk");
	misses->count += is_miss;
	if (is_miss) {
		console_error("%.*s: %.*s %.*s", SPAN(doctor_text_of(event, "name")), SPAN(category),
		              SPAN(reason.size ? reason : doctor_text_of(event, "key")));
	}
}

/* Returns why the trace may lack the last calls, or 0: a process whose write fails says nothing. */
static int probe_trace(int file)
{
	struct stat found;

	(void)signal(SIGXFSZ, SIG_IGN);
	return fstat(file, &found) < 0 ? errno : posix_fallocate(file, found.st_size, EVENT_ROOM);
}

/* Prints the misses of the run on standard error. Returns the exit status. */
static int judge_misses(const char *trace, int file)
{
	struct misses misses = {.count = 0};
	int error;

	doctor_lines(trace, tell_event, &misses);
	error = probe_trace(file);
	if (misses.calls == 0) {
		console_error("no compilation reached the library");
	} else if (misses.count > 0) {
		console_error("%zu of %zu compilations missed; 'nvrtccache explain KEY' says why", misses.count,
		              misses.calls);
	}
	if (error != 0) {
		console_error("%s: %s: compilations may have been overlooked", trace, strerror(error));
	}
	return misses.calls == 0 || misses.count > 0 || error != 0 ? EXIT_MISSED : EXIT_DONE;
}

/*
 * Creates a trace that the processes of other users can write to. Its directory is closed to them and removed at the
 * end, so that a child that outlives the run does not create the trace again.
 */
static int create_trace(char directory[PATH_MAX], char *trace, size_t size)
{
	int file, error = library_place("run", directory, PATH_MAX);

	if (error != 0) {
		return error;
	}
	(void)snprintf(trace, size, "%s/trace", directory);
	file = open(trace, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (file < 0 || chmod(directory, 0711) != 0 || fchmod(file, 0666) != 0) {
		error = -errno;
	}
	error = error ? error : output_at(file, 0, "[\n", 2);
	if (error != 0 && file >= 0) {
		close(file);
	}
	return error != 0 ? error : file;
}

static int run_traced(char **operands, const char *trace, int file)
{
	int error, status;
	pid_t pid;

	(void)setenv("NVRTCCACHE_TRACE", trace, 1); /* without it no call is seen */
	error = library_execute(operands, &pid, &status);
	if (error != 0) {
		return report_not_started(operands[0], error);
	}
	return status == 0 ? judge_misses(trace, file) : status;
}

/* Waits for the program, and not for a child that outlives it. */
static int run_watched(const struct settings *settings, char **operands)
{
	char directory[PATH_MAX], trace[PATH_MAX + sizeof("/trace")] = "";
	int status = EXIT_NOT_STARTED, file;

	if (settings->trace) {
		console_error("--must-hit and NVRTCCACHE_TRACE exclude each other");
		return status;
	}
	file = create_trace(directory, trace, sizeof(trace));
	if (file >= 0) {
		status = run_traced(operands, trace, file);
		close(file);
	}
	(void)unlink(trace);
	(void)rmdir(directory);
	if (file < 0) {
		console_error("%s: %s", directory, strerror(-file));
	}
	return status;
}

static int run_run(struct settings *settings, char **operands)
{
	/* misspelled variables are reported here: the library in the program would ignore them silently */
	if ((asked.cudnn && setenv("CUDNN_NVRTC_RUNTIME_LINKING", "1", 1) != 0) || !console_settings(settings) ||
	    !library_preload()) {
		return EXIT_NOT_STARTED;
	}
	if (asked.must_hit) {
		return run_watched(settings, operands);
	}
	/* returns only if it fails */
	execvp(operands[0], operands);
	return report_not_started(operands[0], errno);
}

const struct verb verb_run = {
    .name = "run",
    .arguments = "[options] [--] program [argument...]",
    .summary = "run a program with the cache",
    .more = "The library is taken from NVRTCCACHE_LIBRARY, or else searched for in the directory of this command, in\n"
            "../lib relative to it, and in the usual library directories. If a copy is preloaded already, only that "
            "copy is used.",
    .exits = "that of the program; 2: unknown option or invalid value; 3: with --must-hit, after a miss or without a\n"
             "call; 125: it was not started, because the library is not found or cannot be loaded; 126: program cannot "
             "be run;\n"
             "127: program not found.",
    .example = "NVRTCCACHE_STATS=1 nvrtccache run -- python3 train.py",
    .options = VERB_OPTIONS(
        VERB_FLAG("cudnn", 0, "make cuDNN 9.22 and later use libnvrtc (CUDNN_NVRTC_RUNTIME_LINKING)", &asked.cudnn),
        VERB_FLAG("must-hit", 0, "exit with 3 and print the misses, if the program or its children missed",
                  &asked.must_hit)),
    .kind = VERB_OPERANDS_COMMAND,
    .operand = "program",
    .least = 1,
    .most = INT_MAX,
    .run = run_run,
};
