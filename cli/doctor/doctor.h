/* SPDX-License-Identifier: MIT */
/*
 * doctor: are this program's compiles cached here, and if not, why?
 *
 * Each part adds findings: the settings, the library, the directory, the node's agent; of a program its file, and what
 * a run of it under the cache was seen to do. Nothing is foretold: what the program would load is known once it has.
 * Threads: one.
 */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "cache/settings.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * What was looked at and how it is: finding_add() as things are found, one of the print functions, findings_free().
 * Out of memory ends the process with EXIT_TROUBLE. Texts are copied; `about` must be a constant.
 */
enum finding_level { FINDING_OK, FINDING_WARN, FINDING_FAIL };

struct finding {
	enum finding_level level;
	const char *about; /* "directory", for machines */
	char *text;
};

struct findings {
	struct finding *list;
	size_t count, failures;
};

__attribute__((format(printf, 4, 5))) void finding_add(struct findings *findings, enum finding_level level,
                                                       const char *about, const char *format, ...);
/* A line each, in colour on a terminal; bytes that could command one show as '?'. From `first` on. */
void findings_print(const struct findings *findings, size_t first);
void findings_print_json(const struct findings *findings);
void findings_free(struct findings *findings);

/* The settings with what is amiss among them; false: out of memory. */
bool doctor_settings(struct findings *findings, struct settings *ret_settings);
/* `library`: its path, or NULL, which is a failure. False: no program is run with it. */
bool doctor_library(struct findings *findings, const char *library);
void doctor_directory(struct findings *findings, const struct settings *settings);
/* Checks the agent if the settings name one, by a request for a key that does not exist. */
void doctor_agent(struct findings *findings, const struct settings *settings);
/* The file that the name stands for. False: it would not start, or not with the library; `ret_path` else. */
bool doctor_program(struct findings *findings, const char *name, char ret_path[PATH_MAX]);

/* Where the standard output of a program goes that is run: where ours goes, or to standard error, out of the way. */
enum doctor_output { DOCTOR_OUTPUT_SAME, DOCTOR_OUTPUT_ERROR };
/* Runs it, and waits for its end. `path`: of its file. */
void doctor_run(struct findings *findings, const char *library, const char *path, char **argv,
                enum doctor_output output);

/* The compilers, as the trace names them; -1: none of them. */
enum { DOCTOR_COMPILERS = 3 };
int doctor_compiler(const char *name);
/* The calls of a compiler in the run; some may have bypassed the library. */
enum doctor_calls { DOCTOR_CALLS_NONE, DOCTOR_CALLS_SEEN, DOCTOR_CALLS_PASS_BY };
/* A file that was loaded: is a compiler inside it, is it linked with one of which not all calls were seen? */
void doctor_object(struct findings *findings, const char *path, const enum doctor_calls calls[DOCTOR_COMPILERS]);

/*
 * A program to run: LD_PRELOAD for it, where its output goes (-1: as ours), and what else it finds in its environment.
 */
struct doctor_start {
	char *const *argv;
	const char *preload;
	int output, error;
	const char *(*more)[2]; /* names and values; the last name is NULL */
};
/* Its status as a shell has it; -errno: it could not be started. Meanwhile ^C is the program's. */
int doctor_start(const struct doctor_start *start);

#endif
