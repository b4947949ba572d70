/* SPDX-License-Identifier: MIT */
/*
 * doctor: would this program's compiles be cached here, and if not, why?
 *
 * Each part adds findings: the settings, the library, the directory, the node's agent, the program (which compilers it reaches, and, with
 * doctor_compiler.h, whether each can be watched), a run of it (what that has reached). Threads: one.
 */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "cache/settings.h"
#include "cli/finding.h"

#include <stdbool.h>

/* The settings with what is amiss among them; false: out of memory. */
bool doctor_settings(struct findings *findings, struct settings *ret_settings);
/* `library`: its path, or NULL, which is a failure. */
void doctor_library(struct findings *findings, const char *library);
void doctor_directory(struct findings *findings, const struct settings *settings);
/* Where one is named: it is asked for a key that nobody has. */
void doctor_agent(struct findings *findings, const struct settings *settings);
/* Nothing of the program is run but its loader. False: it would not start, or not with the library. */
bool doctor_program(struct findings *findings, const char *library, const char *name);
/* Where the standard output of a program goes that is run: where ours goes, or to standard error, out of the way. */
enum doctor_output { DOCTOR_OUTPUT_SAME, DOCTOR_OUTPUT_ERROR };
/* Runs it, and waits for its end. `library` must be there. */
void doctor_run(struct findings *findings, const char *library, char **argv, enum doctor_output output);

#endif
