/* SPDX-License-Identifier: MIT */
/*
 * dependencies_tell: lists the dependencies of a result and their present state, for people
 *
 * Purpose: dependencies_hold() stops at the first failure; dependencies_tell() checks every dependency, with the same
 * code. Paths are relative to the roots and the working directory of a request. If these are not known, a path is
 * reported as DEPENDENCY_NOT_ASKED.
 *
 * Calling sequence: dependencies_tell(). Errors: -EBADMSG: damaged; the dependencies before the damage have been
 * reported; -EPROTONOSUPPORT: another version; -ENAMETOOLONG: a path would be too long below its root; -ENOMEM.
 * Threads, fork, signals: as keygen/dependencies.h. Ownership: what `each` receives is valid until it returns.
 */
#ifndef KEYGEN_DEPENDENCIES_TELL_H
#define KEYGEN_DEPENDENCIES_TELL_H

#include "keygen/directories.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dependency_kind {
	DEPENDENCY_CONTENT,    /* a file that was read */
	DEPENDENCY_PLACE,      /* a file or directory that was probed, not read */
	DEPENDENCY_ABSENT,     /* a path that did not exist */
	DEPENDENCY_ARITHMETIC, /* the functions with which constants were folded; no path */
	DEPENDENCY_COMPANION,  /* the library that the compiler loads by itself; no path */
	DEPENDENCY_MACHINE     /* a number of the machine; no path */
};

enum dependency_state {
	DEPENDENCY_UNCHANGED,
	DEPENDENCY_CHANGED, /* its content changed */
	DEPENDENCY_TOUCHED, /* its size or time changed, which is in the result */
	DEPENDENCY_GONE,
	DEPENDENCY_APPEARED,
	DEPENDENCY_UNREADABLE,
	DEPENDENCY_OTHER_KIND, /* for example a directory in place of a file */
	DEPENDENCY_OTHER_FILE, /* it was the same file as another path, and is no longer */
	DEPENDENCY_DOUBTFUL,   /* an error hides whether it exists */
	DEPENDENCY_NOT_ASKED,  /* its directory is not known, or only a process with the compiler can check it */
	DEPENDENCY_DAMAGED     /* never reported: dependencies_tell() returns -EBADMSG */
};

/* Returns the state in words: "unchanged", "changed", "gone". */
const char *dependency_state_text(enum dependency_state state);

#define DEPENDENCY_NO_ROOT UINT32_MAX

struct dependency {
	enum dependency_kind kind;
	enum dependency_state state;
	const char *path; /* relative to its root if the root is not known: "/vec.h" */
	uint32_t root;    /* the number of a root whose directory is not known, else DEPENDENCY_NO_ROOT */
	bool relative;    /* to the working directory */
	bool directory;
	uint64_t size;        /* of a file */
	const char *question; /* DEPENDENCY_MACHINE: "number of processors" */
	int64_t answer;
};

/* The directories in which the dependencies are looked up. */
struct dependency_places {
	/* text NULL: not known. If the dependencies contain a root's text, that text is used instead. */
	const struct root *root;
	size_t root_count;
	bool here; /* the working directory of the process is that of the request */
};

struct dependencies_told {
	uint32_t roots, bound_roots; /* `bound_roots`: those with a text in the dependencies */
	bool exact;                  /* sizes and times of files are in the result */
	bool joined;                 /* two paths that were different files are now one file */
};

/*
 * Calls `each` (may be NULL) for every dependency. If `places` is NULL, neither files nor the machine are looked at,
 * and each dependency is DEPENDENCY_NOT_ASKED. Size 0: there are no dependencies.
 */
int dependencies_tell(const void *dependencies, size_t size, const struct dependency_places *places,
                      void (*each)(const struct dependency *dependency, void *context), void *context,
                      struct dependencies_told *ret_told);

#endif
