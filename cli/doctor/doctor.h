/* SPDX-License-Identifier: MIT */
/*
 * doctor: finds out whether a program's compilations are cached on this machine, and if not, why
 *
 * Each part adds findings: the settings, the library, the directory, the node's agent; for a program also what it did
 * when it was run with the cache. Nothing is predicted: only a run shows which compilers a program loads.
 * Threads: one.
 */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "cache/settings.h"
#include "cli/console/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum finding_level { FINDING_OK, FINDING_WARN, FINDING_FAIL };

struct findings {
	size_t failures;
	const char *library; /* that programs have preloaded */
	const char *refused; /* the cache directory if that is not used: its consequences are not reported again */
};

/* Prints one fact and its severity in a line, in colour on a terminal. Harmful characters become '?'. */
__attribute__((format(printf, 3, 4))) void finding_add(struct findings *findings, enum finding_level level,
                                                       const char *format, ...);

/* Runs a program with the cache, waits for its end and adds what it did. Changes the environment of this process. */
void doctor_run(struct findings *findings, char **argv);

/* Creates a directory for files of a run in TMPDIR, or in /tmp. Returns 0 or a negative errno value. */
int doctor_place(const char *verb, char *ret_place, size_t size);
/*
 * Runs a program as a shell would, with this process's environment, to its end. SIGINT, SIGQUIT, SIGTERM and SIGHUP
 * that another process sends are sent on to it, and ^C is left to it, as system() does. The exit status is that which a
 * shell reports. Returns 0 or an errno value.
 */
int doctor_execute(char **argv, pid_t *ret_pid, int *ret_status);
/* Calls `visit` for each line of a file, without its line break. A missing file has none. */
void doctor_lines(const char *path, void (*visit)(void *context, const char *line), void *context);
/* Returns a text of an event of the trace, as it is written there. */
struct span doctor_text_of(const char *event, const char *name);

/* Which compilers the run called. */
struct doctor_calls {
	bool nvrtc, nvjitlink, nvvm;
};
/* Checks a file that the run loaded: whether it is or contains a compiler that the cache has not seen. */
void doctor_object(struct findings *findings, const char *path, const struct doctor_calls *calls);

#endif
