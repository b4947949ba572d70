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

/* Calls `visit` for each line of a file, without its line break. A missing file has none. */
void doctor_lines(const char *path, void (*visit)(void *context, const char *line), void *context);
/* Returns a text of an event of the trace, as it is written there. */
struct span doctor_text_of(const char *event, const char *name);

#endif
