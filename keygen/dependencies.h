/* SPDX-License-Identifier: MIT */
/*
 * dependencies: what must be unchanged for a result to be valid (docs/DESIGN.md B2, B5, B6, B19-B21)
 *
 * Purpose: dependencies_build() (dependencies_build.h) turns a trace into bytes that are stored with the result;
 * dependencies_hold() checks them against the present file system and machine. The store treats the bytes as opaque.
 *
 * The dependencies of a result, one per distinct path:
 *   content    the file was opened: its BLAKE2b-256 is the same. The content is not read if it is known for the present
 *              stamp (keygen/facts.h). A file of size 0 is always read. The file must also be readable: a thread with
 *              the same credentials opened it at the same ctime, or it is opened now (keygen/credentials.h).
 *   absent     the path was probed or opened and did not exist: it still does not exist.
 *   identity   the path was stat'ed but not opened, and existed: it still exists, and the same other paths name the
 *              same file as before (#pragma once compares device and inode). Opened files are compared in this way too.
 *   exact      debug forms: size and mtime of content and identity paths are equal too, because the cubin contains
 *              them.
 *   companion  the library that the compiler loads by itself (libnvrtc-builtins) is the same build.
 *   arithmetic the mathematics functions with which the compiler folded constants are the same.
 *   machine    the machine returns the numbers that it returned to the compiler (keygen/machine.h).
 *   root text  root N has exactly this text, because the output contains it; always for "/".
 * A path inside a root is stored relative to it, another absolute path literally, a relative path relative to the cwd.
 *
 * Speed: one stat per distinct path, and at most two opens per directory: of the directory and of one file in it (of
 * every file if the thread is confined). No allocation grows with file content. Content is read only if it is not
 * known. Beyond the budget of a look-up the dependencies do not hold.
 *
 * Errors: dependencies_hold() returns false in every case of doubt (unreadable file, damaged bytes, no memory).
 */
#ifndef KEYGEN_DEPENDENCIES_H
#define KEYGEN_DEPENDENCIES_H

#include "keygen/machine.h"
#include "keygen/surroundings.h"

#include <stdbool.h>

/*
 * What one look-up may do, in all results that it checks. Dependencies may come from another machine, and may name ten
 * million paths, or a file that is too large to be read to its end (a sparse file, a core dump). The limits are many
 * times the input of a real compilation; a result beyond them is not stored.
 */
#define DEPENDENCIES_PATHS_MAX (UINT64_C(1) << 17)
#define DEPENDENCIES_BYTES_MAX (UINT64_C(1) << 30)
#define DEPENDENCIES_NS_MAX    (INT64_C(10) * 1000000000)

struct dependencies_budget {
	uint64_t paths;   /* that may still be looked up */
	uint64_t bytes;   /* that may still be read */
	int64_t until_ns; /* CLOCK_MONOTONIC_COARSE; 0: no path was looked up yet */
};

#define DEPENDENCIES_BUDGET ((struct dependencies_budget){DEPENDENCIES_PATHS_MAX, DEPENDENCIES_BYTES_MAX, 0})

#define DEPENDENCIES_BOUND "bound to "
#define DEPENDENCIES_NOW   ", and now it is "

/*
 * Returns true if the dependencies hold. `roots` are those of the present request; their count must be that of the
 * request for which the dependencies were built. `ret_why` (may be NULL) receives a description of the first dependency
 * that does not hold, in at most `why_size` bytes with the NUL. If the text of a root differs, the description is
 * DEPENDENCIES_BOUND, the old text, DEPENDENCIES_NOW, the new text. Several checks may share a budget; NULL: a new one.
 */
bool dependencies_hold(const void *dependencies, size_t size, const struct roots *roots,
                       struct dependencies_budget *budget, char *ret_why, size_t why_size);
/*
 * Sets a function that says whether this library finds the same files as the compiler (path_functions_agree()). It is
 * called before a path is first looked up; if it returns false, dependencies with a path do not hold. Default: true.
 */
void dependencies_ask_paths(bool (*agree)(void));
/* Returns true if any dependency is a path, or if the bytes are damaged. */
bool dependencies_name_files(const void *dependencies, size_t size);

/*
 * ---- for people ----
 *
 * dependencies_hold() stops at the first failure; dependencies_tell() checks every dependency, with the same code.
 * Paths are relative to the roots and the working directory of a request. If these are not known, a path is reported as
 * DEPENDENCY_NOT_ASKED. Errors of dependencies_tell(): -EBADMSG: damaged; the dependencies before the damage have been
 * reported; -EPROTONOSUPPORT: another version; -ENAMETOOLONG: a path would be too long below its root; -ENOMEM. What
 * `each` receives is valid until it returns.
 */

enum dependency_kind {
	DEPENDENCY_CONTENT,    /* a file that was read */
	DEPENDENCY_PLACE,      /* a file or directory that was probed, not read */
	DEPENDENCY_ABSENT,     /* a path that did not exist */
	DEPENDENCY_ARITHMETIC, /* the functions with which constants were folded; no path */
	DEPENDENCY_COMPANION,  /* the library that the compiler loads by itself; no path */
	DEPENDENCY_MACHINE,    /* a number of the machine; no path */
	DEPENDENCY_ROOT        /* never reported by dependencies_tell(): the text of a root, `path` with `size` bytes */
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
	uint64_t size;       /* of a file */
	uint32_t question;   /* DEPENDENCY_MACHINE (machine_words()) */
	int64_t answer, now; /* `now`: if the state is not DEPENDENCY_NOT_ASKED */
};

/*
 * Calls `each` for every dependency until it returns a negative errno value. A root with the text NULL is not known; if
 * the dependencies contain its text, that is used. `is_here`: the working directory of the process is that of the
 * request. If `roots` is NULL, neither files nor the machine are looked at, and each dependency is
 * DEPENDENCY_NOT_ASKED. Size 0: there are no dependencies.
 */
int dependencies_tell(const void *dependencies, size_t size, const struct roots *roots, bool is_here,
                      int (*each)(const struct dependency *dependency, void *context), void *context);

#endif
