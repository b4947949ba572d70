/* SPDX-License-Identifier: MIT */
/*
 * finding: what was looked at and how it is: ok, a warning, or a failure
 *
 * Calling sequence: finding_add() as things are found, one of the print functions, findings_free(). Errors: out of memory
 * ends the process with EXIT_TROUBLE. Threads: one. Ownership: texts are copied; `about` must be a constant.
 */
#ifndef CLI_FINDING_H
#define CLI_FINDING_H

#include <stddef.h>

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

#endif
