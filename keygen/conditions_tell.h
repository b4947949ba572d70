/* SPDX-License-Identifier: MIT */
/*
 * conditions_tell: what conditions ask for, and what has become of it, for people
 *
 * Purpose: conditions_hold() says yes, or what failed first. This goes on to the end, by the same bytes and the same
 * questions. Conditions are relative to roots and the working directory of whoever asks for the result; where those are
 * not known nothing is guessed: such a path is told as CONDITION_NOT_ASKED.
 *
 * Calling sequence: conditions_tell(). Errors: -EBADMSG: damaged; what lies ahead of the damage has been told;
 * -EPROTONOSUPPORT: of another version; -ENAMETOOLONG: a path would be too long from where it starts; -ENOMEM.
 * Threads, fork, signals: as keygen/conditions.h. Ownership: what is told lives as long as the call to `each`.
 */
#ifndef KEYGEN_CONDITIONS_TELL_H
#define KEYGEN_CONDITIONS_TELL_H

#include "keygen/roots.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum condition_kind {
	CONDITION_CONTENT,    /* a file that was read */
	CONDITION_PLACE,      /* a file or directory that was looked at, not read */
	CONDITION_ABSENT,     /* what was looked for and was not there */
	CONDITION_ARITHMETIC, /* the functions that constants were folded with; no path */
	CONDITION_MACHINE     /* a number that the machine was asked for; no path */
};

enum condition_state {
	CONDITION_UNCHANGED,
	CONDITION_CHANGED, /* its content */
	CONDITION_TOUCHED, /* its size or time, which is in the result */
	CONDITION_GONE,
	CONDITION_APPEARED,
	CONDITION_UNREADABLE,
	CONDITION_OTHER_KIND, /* a directory where a file was, or the like */
	CONDITION_OTHER_FILE, /* it was one file with another path, and is no longer */
	CONDITION_DOUBTFUL,   /* it cannot be told whether it is there */
	CONDITION_NOT_ASKED,  /* it is not known where to look, or nobody but the compiler could say */
	CONDITION_DAMAGED     /* never told: an error of the whole */
};

/* "unchanged", "changed", "gone". */
const char *condition_state_text(enum condition_state state);

#define CONDITION_NO_ROOT UINT32_MAX

struct condition {
	enum condition_kind kind;
	enum condition_state state;
	const char *path; /* from its root where that is not known: "/vec.h" */
	uint32_t root;    /* the number of a root whose directory is not known, else CONDITION_NO_ROOT */
	bool relative;    /* to the working directory */
	bool directory;
	uint64_t size;        /* of a file */
	const char *question; /* CONDITION_MACHINE: "number of processors" */
	int64_t answer;
};

/* Where they are looked for. */
struct condition_places {
	const struct root *root; /* text NULL: not known. What conditions spell out goes by that. */
	size_t root_count;
	bool here; /* the process's working directory is that of the request */
};

struct conditions_told {
	uint32_t roots, bound_roots; /* of these are spelled out */
	bool exact;                  /* sizes and times of files are in the result */
	bool joined;                 /* two paths that were different files are one by now */
};

/* `places` NULL: nothing is looked at. No bytes: nothing is told. `each` may be NULL. */
int conditions_tell(const void *conditions, size_t size, const struct condition_places *places,
                    void (*each)(const struct condition *condition, void *context), void *context,
                    struct conditions_told *ret_told);

/* The text of a root that conditions spell out; false: it is free, or not there. */
bool conditions_bound_root(const void *conditions, size_t size, uint32_t root, const char **ret_text, size_t *ret_size);

#endif
