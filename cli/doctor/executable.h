/* SPDX-License-Identifier: MIT */
/*
 * executable: what a name on a command line would start
 *
 * Purpose: the file that it is found as, as execvp() would find it; where that is a script, what runs it, and so on;
 * and whether the kernel would start it so that a library can be preloaded. Nothing is run.
 *
 * Calling sequence: executable_find(). Errors: in `trouble`. Threads: one.
 */
#ifndef CLI_DOCTOR_EXECUTABLE_H
#define CLI_DOCTOR_EXECUTABLE_H

#include <limits.h>

enum executable_trouble {
	EXECUTABLE_FINE,
	EXECUTABLE_NOT_FOUND,
	EXECUTABLE_NOT_EXECUTABLE, /* no permission, or a directory */
	EXECUTABLE_NO_INTERPRETER, /* of a script, or the loader of a program: `path` is the one that is missing */
	EXECUTABLE_UNKNOWN,        /* neither a script nor ELF */
	EXECUTABLE_OTHER_MACHINE,
	EXECUTABLE_STATIC,
	EXECUTABLE_NOT_GLIBC,
	EXECUTABLE_PRIVILEGED /* setuid and its kin: the loader ignores LD_PRELOAD by path, and we pass through */
};

struct executable {
	enum executable_trouble trouble;
	char path[PATH_MAX];   /* of the ELF file that runs in the end, or of what is amiss */
	char script[PATH_MAX]; /* the name's own file, where that is a script; else "" */
};

void executable_find(const char *name, struct executable *ret_program);

#endif
