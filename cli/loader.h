/* SPDX-License-Identifier: MIT */
/*
 * loader: what a program's own loader would load with it, and what it would complain about
 *
 * The loader is run with --list, as ldd does: it maps the libraries and says where it found them; nothing of the program
 * or of them runs. LD_LIBRARY_PATH, RUNPATH and all the rest hold as for the program.
 *
 * Calling sequence: loader_list(), look, loader_list_free(). Errors: negative errno values. Threads: one, as it sets
 * LD_PRELOAD for the child and puts it back.
 */
#ifndef CLI_LOADER_H
#define CLI_LOADER_H

#include <stdbool.h>
#include <stddef.h>

struct loaded {
	const char *name;
	const char *path; /* NULL: not found */
};

struct loader_list {
	struct loaded *list;
	size_t count;
	char *complaints; /* lines; "": none */
	bool failed;      /* it would not start the program */
	char *text;       /* of loader.c */
};

/* `preload`: LD_PRELOAD for it, colons between paths or names; "": none. */
int loader_list(const char *interpreter, const char *program, const char *preload, struct loader_list *ret_list);
void loader_list_free(struct loader_list *list);

/* ld-linux and its kin where the system has them; others, which a program may name as it likes, are not run. */
bool loader_is_one(const char *interpreter);

/* Runs `act` with LD_PRELOAD as it says; afterwards it is as it was. False: out of memory. */
bool loader_with_preload(const char *preload, int (*act)(void *context), void *context, int *ret_result);

#endif
