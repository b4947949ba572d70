/* SPDX-License-Identifier: MIT */
/*
 * shown: one result with what has become of its dependencies, and why it is bound
 *
 * Purpose: what `show` prints, for people or as JSON, found out once.
 *
 * Relative paths are looked up from the directory that the result is bound to, from the one that the caller names, or from
 * the present one, and `from` says which: where a result was compiled that is not bound is not stored. A root is looked
 * up where the result says that it was.
 *
 * Calling sequence: shown_read() with a key gives each of its results, newest first; shown_free(). The process's working
 * directory moves in between, and is back behind the call. Errors: said on stderr; false where anything was wrong.
 * Ownership: the list's. Threads: one.
 */
#ifndef CLI_SHOWN_H
#define CLI_SHOWN_H

#include "cache/tools/inventory.h"
#include "cli/verbs/results.h"
#include "keygen/dependencies_tell.h"

struct shown_dependency {
	enum dependency_kind kind;
	enum dependency_state state;
	char *path; /* of DEPENDENCY_MACHINE the question in words; NULL: of DEPENDENCY_ARITHMETIC */
	uint32_t root;
	bool relative, directory;
	uint64_t size;
	int64_t answer; /* DEPENDENCY_MACHINE */
};

enum shown_from {
	SHOWN_NEVER, /* no path is relative, or it is bound to a directory that cannot be entered */
	SHOWN_BOUND,
	SHOWN_NAMED,
	SHOWN_HERE
};

/* Why a result is bound to a directory. */
enum shown_reason {
	SHOWN_KEY,   /* the request itself names it: `text` is the option that does it, or NULL */
	SHOWN_FOUND, /* its name is in the artifact `text` */
	SHOWN_TEXT   /* a text that was compiled can tell where it lies (__FILE__ and its kin) */
};

struct shown_bound {
	char *directory;
	enum shown_reason reason;
	char *text;
};

struct shown {
	struct listed_result result;
	struct entry *entry;
	int error; /* of the dependencies: 0, or that of dependencies_tell() */
	struct dependencies_told told;
	struct shown_dependency *dependencies;
	size_t dependency_count;
	struct shown_bound *bound;
	size_t bound_count;
	enum shown_from from;
	char *from_directory; /* NULL: nowhere */
};

struct shown_list {
	struct shown *list;
	size_t count;
};

/* `from` NULL: nobody has named a directory. Sound results are in the list whatever it returns. */
bool shown_read(const struct settings *settings, const struct inventory_record *record, const char *from,
                struct shown_list *ret_list);
void shown_free(struct shown_list *list);
/* On stdout, as JSON (show_json.c). */
void show_json(const struct shown_list *list);

/* For shown.c alone (shown_bound.c): what a result is bound to, once its entry and `result` are there. -ENOMEM. */
int shown_find_bound(struct shown *shown);
/* Once `told` is too: the working directory of the request, where the result is bound to it; NULL: it is not known. */
const char *shown_bound_directory(const struct shown *shown);

#endif
