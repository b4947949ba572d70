/* SPDX-License-Identifier: MIT */
/*
 * executable: finds the program that a name on a command line would start
 *
 * Purpose: finds the file as execvp() would find it, and the interpreter if the file is a script, and so on. Then
 * checks whether the kernel would start that program, and with LD_PRELOAD in effect. Nothing is run.
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
	EXECUTABLE_NO_INTERPRETER, /* a script's interpreter or a program's loader is missing: `path` is its name */
	EXECUTABLE_UNKNOWN,        /* neither a script nor ELF */
	EXECUTABLE_OTHER_MACHINE,
	EXECUTABLE_STATIC,
	EXECUTABLE_NOT_GLIBC,
	EXECUTABLE_PRIVILEGED /* setuid, setgid or capabilities: the loader ignores paths in LD_PRELOAD */
};

struct executable {
	enum executable_trouble trouble;
	char path[PATH_MAX];   /* the ELF file that would run, or the file with the trouble */
	char script[PATH_MAX]; /* the file that the name stands for if it is a script; else "" */
};

void executable_find(const char *name, struct executable *ret_program);
/* Returns words that follow the path of the file; NULL: the trouble needs a message of its own, or is none. */
const char *executable_words(enum executable_trouble trouble);

#endif
