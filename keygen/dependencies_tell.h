/* SPDX-License-Identifier: MIT */
/*
 * dependencies_tell: what dependencies ask for, and what has become of it, for people
 *
 * Purpose: dependencies_hold() says yes, or what failed first. This goes on to the end, by the same bytes and the same
 * questions. Dependencies are relative to roots and the working directory of whoever asks for the result; where those are
 * not known nothing is guessed: such a path is told as DEPENDENCY_NOT_ASKED.
 *
 * Calling sequence: dependencies_tell(). Errors: -EBADMSG: damaged; what lies ahead of the damage has been told;
 * -EPROTONOSUPPORT: of another version; -ENAMETOOLONG: a path would be too long from where it starts; -ENOMEM.
 * Threads, fork, signals: as keygen/dependencies.h. Ownership: what is told lives as long as the call to `each`.
 */
#ifndef KEYGEN_DEPENDENCIES_TELL_H
#define KEYGEN_DEPENDENCIES_TELL_H

#include "keygen/roots.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dependency_kind {
	DEPENDENCY_CONTENT,    /* a file that was read */
	DEPENDENCY_PLACE,      /* a file or directory that was looked at, not read */
	DEPENDENCY_ABSENT,     /* what was looked for and was not there */
	DEPENDENCY_ARITHMETIC, /* the functions that constants were folded with; no path */
	DEPENDENCY_MACHINE     /* a number that the machine was asked for; no path */
};

enum dependency_state {
	DEPENDENCY_UNCHANGED,
	DEPENDENCY_CHANGED, /* its content */
	DEPENDENCY_TOUCHED, /* its size or time, which is in the result */
	DEPENDENCY_GONE,
	DEPENDENCY_APPEARED,
	DEPENDENCY_UNREADABLE,
	DEPENDENCY_OTHER_KIND, /* a directory where a file was, or the like */
	DEPENDENCY_OTHER_FILE, /* it was one file with another path, and is no longer */
	DEPENDENCY_DOUBTFUL,   /* it cannot be told whether it is there */
	DEPENDENCY_NOT_ASKED,  /* it is not known where to look, or nobody but the compiler could say */
	DEPENDENCY_DAMAGED     /* never told: an error of the whole */
};

/* "unchanged", "changed", "gone". */
const char *dependency_state_text(enum dependency_state state);

#define DEPENDENCY_NO_ROOT UINT32_MAX

struct dependency {
	enum dependency_kind kind;
	enum dependency_state state;
	const char *path; /* from its root where that is not known: "/vec.h" */
	uint32_t root;    /* the number of a root whose directory is not known, else DEPENDENCY_NO_ROOT */
	bool relative;    /* to the working directory */
	bool directory;
	uint64_t size;        /* of a file */
	const char *question; /* DEPENDENCY_MACHINE: "number of processors" */
	int64_t answer;
};

/* Where they are looked for. */
struct dependency_places {
	const struct root *root; /* text NULL: not known. What dependencies spell out goes by that. */
	size_t root_count;
	bool here; /* the process's working directory is that of the request */
};

struct dependencies_told {
	uint32_t roots, bound_roots; /* of these are spelled out */
	bool exact;                  /* sizes and times of files are in the result */
	bool joined;                 /* two paths that were different files are one by now */
};

/* `places` NULL: nothing is looked at. No bytes: nothing is told. `each` may be NULL. */
int dependencies_tell(const void *dependencies, size_t size, const struct dependency_places *places,
                      void (*each)(const struct dependency *dependency, void *context), void *context,
                      struct dependencies_told *ret_told);

/* The text of a root that dependencies spell out; false: it is free, or not there. */
bool dependencies_bound_root(const void *dependencies, size_t size, uint32_t root, const char **ret_text,
                             size_t *ret_size);

#endif
