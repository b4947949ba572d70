/* SPDX-License-Identifier: MIT */
/*
 * doctor: finds out whether a program's compilations are cached on this machine, and if not, why
 *
 * Each part adds findings: the settings, the library, the directory, the node's agent; for a program also its file, and
 * what it did when it was run with the cache. Nothing is predicted: only a run shows which compilers a program loads.
 * Threads: one.
 */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "cache/settings.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A finding is one fact and its severity. Calling sequence: finding_add() for each, one of the print functions,
 * findings_free(). Without memory finding_add() ends the process with EXIT_TROUBLE. Texts are copied; `about` must be a
 * constant.
 */
enum finding_level { FINDING_OK, FINDING_WARN, FINDING_FAIL };

struct finding {
	enum finding_level level;
	const char *about; /* the subject in JSON: "directory" */
	char *text;
};

struct findings {
	struct finding *list;
	size_t count, failures;
	const char *refused; /* the cache directory if that is not used: its consequences are not reported again */
};

__attribute__((format(printf, 4, 5))) void finding_add(struct findings *findings, enum finding_level level,
                                                       const char *about, const char *format, ...);
/* Prints one line per finding from index `first` on, in colour on a terminal. Harmful characters become '?'. */
void findings_print(const struct findings *findings, size_t first);
void findings_print_json(const struct findings *findings);
void findings_free(struct findings *findings);

/* Reads the settings and checks them. Returns false if they could not be read; then there is nothing to free. */
bool doctor_settings(struct findings *findings, struct settings *ret_settings);
/* Checks the library at a path; NULL is a failure. Returns false if no program can be run with it. */
bool doctor_library(struct findings *findings, const char *library);
void doctor_directory(struct findings *findings, const struct settings *settings);
/* Checks the agent if the settings name one, by a request for a key that does not exist. */
void doctor_agent(struct findings *findings, const struct settings *settings);
/*
 * Checks the file that a command name stands for. Returns false if it would not start, or not with the library;
 * otherwise *ret_path is the ELF file that would run.
 */
bool doctor_program(struct findings *findings, const char *name, char ret_path[PATH_MAX]);

/* Whether a program inherits standard output, or gets standard error for it because doctor prints JSON. */
enum doctor_output { DOCTOR_OUTPUT_SAME, DOCTOR_OUTPUT_ERROR };
/* Runs a program with the cache, waits for its end and adds what it did. `path` is its ELF file. */
void doctor_run(struct findings *findings, const char *library, const char *path, char **argv,
                enum doctor_output output);

/* Returns the index of the compiler with that name in the trace; -1: unknown. */
enum { DOCTOR_COMPILERS = 3 };
int doctor_compiler(const char *name);
/* What the trace shows of a compiler's calls: none, all of them, or that some bypass the library (PASS_BY). */
enum doctor_calls { DOCTOR_CALLS_NONE, DOCTOR_CALLS_SEEN, DOCTOR_CALLS_PASS_BY };
/*
 * Checks a file that the run loaded: whether it contains a compiler, and whether it imports functions of a compiler
 * whose calls were not all seen.
 */
void doctor_object(struct findings *findings, const char *path, const enum doctor_calls calls[DOCTOR_COMPILERS]);

/*
 * A program to run, its LD_PRELOAD, a descriptor for its standard output (-1: inherited), and further environment
 * variables.
 */
struct doctor_start {
	char *const *argv;
	const char *preload;
	int output;
	const char *(*more)[2]; /* names and values; the last name is NULL */
};
/*
 * Runs the program and waits for it. Returns its status as a shell reports it, or -errno if it could not be started.
 * This process ignores SIGINT and SIGQUIT meanwhile.
 */
int doctor_start(const struct doctor_start *start);

#endif
