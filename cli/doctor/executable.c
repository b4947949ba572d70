/* SPDX-License-Identifier: MIT */
/*
 * Follows execvp(), the kernel's #! lines and PT_INTERP by reading files. A program that does not start, or into
 * which nothing can be preloaded, is thereby found without running it.
 */
#include "cli/doctor/executable.h"

#include "cli/doctor/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPTS_MAX 4 /* of a script that a script runs, and so on: the kernel has a limit too */

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#else
#define OWN_MACHINE EM_AARCH64
#endif

static bool is_executable(const char *path)
{
	struct stat found;

	return stat(path, &found) == 0 && S_ISREG(found.st_mode) && access(path, X_OK) == 0;
}

/*
 * Searches PATH, whose empty elements stand for the working directory. Like execvp(), remembers a file that may not be
 * run, and reports it if no later one may.
 */
static enum executable_trouble search(const char *name, char ret_path[PATH_MAX])
{
	const char *path = getenv("PATH");
	enum executable_trouble trouble = EXECUTABLE_NOT_FOUND;
	char candidate[PATH_MAX];

	if (strchr(name, '/') || name[0] == '\0') {
		snprintf(ret_path, PATH_MAX, "%s", name);
		return access(name, F_OK) != 0 ? EXECUTABLE_NOT_FOUND
		       : is_executable(name)   ? EXECUTABLE_FINE
		                               : EXECUTABLE_NOT_EXECUTABLE;
	}
	snprintf(ret_path, PATH_MAX, "%s", name);
	for (path = path ? path : "/bin:/usr/bin";; path++) {
		int size = (int)strcspn(path, ":");
		int length = snprintf(candidate, sizeof(candidate), "%.*s%s%s", size, path, size ? "/" : "./", name);

		if (length < (int)sizeof(candidate) && access(candidate, F_OK) == 0) {
			bool runs = is_executable(candidate);

			if (runs || trouble == EXECUTABLE_NOT_FOUND) {
				snprintf(ret_path, PATH_MAX, "%s", candidate);
				trouble = EXECUTABLE_NOT_EXECUTABLE;
			}
			if (runs) {
				return EXECUTABLE_FINE;
			}
		}
		path += size;
		if (*path == '\0') {
			return trouble;
		}
	}
}

/*
 * Reads the interpreter from the first line of a script. Returns false if the file is not a script. "#!/usr/bin/env
 * [-S] NAME" gives NAME.
 */
static bool read_script(const char *path, char ret_interpreter[PATH_MAX])
{
	char line[PATH_MAX], *word, *rest;
	/* the open must neither wait for a FIFO's writer nor take a terminal */
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t size = file >= 0 ? read(file, line, sizeof(line) - 1) : -1;
	const char *slash;

	if (file >= 0) {
		close(file);
	}
	if (size < 3 || line[0] != '#' || line[1] != '!') {
		return false;
	}
	line[size] = '\0';
	line[strcspn(line, "\n")] = '\0';
	word = strtok_r(line + 2, " \t", &rest);
	slash = word ? strrchr(word, '/') : NULL;
	/* env's own options and assignments stand before the name */
	if (slash && strcmp(slash, "/env") == 0) {
		word = strtok_r(NULL, " \t", &rest);
		while (word && (word[0] == '-' || strchr(word, '='))) {
			word = strtok_r(NULL, " \t", &rest);
		}
	}
	snprintf(ret_interpreter, PATH_MAX, "%s", word ? word : "");
	return true;
}

/*
 * Does the kernel start it with other rights than ours, so that the loader ignores LD_PRELOAD? Set-group-ID without
 * execution by the group is no privilege, and root has all capabilities anyway.
 */
static bool is_privileged(const char *path)
{
	struct stat found;

	if (stat(path, &found) < 0) {
		return false;
	}
	return ((found.st_mode & S_ISUID) && found.st_uid != getuid()) ||
	       ((found.st_mode & S_ISGID) && (found.st_mode & S_IXGRP) && found.st_gid != getgid()) ||
	       (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

static enum executable_trouble look_at_elf(struct executable *program)
{
	struct elf_file file;
	int error = elf_file_open(program->path, &file);

	elf_file_close(&file);
	if (!file.is_elf) {
		/* a program may be executable and not readable: it runs, and its file tells nothing */
		return error == -EACCES ? EXECUTABLE_FINE : EXECUTABLE_UNKNOWN;
	}
	if (file.bits != 64 || file.machine != OWN_MACHINE) {
		return EXECUTABLE_OTHER_MACHINE;
	}
	if (error != 0 || (file.type != ET_EXEC && file.type != ET_DYN)) {
		return EXECUTABLE_UNKNOWN;
	}
	if (file.interpreter[0] == '\0') {
		return EXECUTABLE_STATIC;
	}
	if (access(file.interpreter, X_OK) != 0) {
		/* execvp() reports ENOENT for the program, though the loader is what is missing */
		snprintf(program->path, sizeof(program->path), "%s", file.interpreter);
		return EXECUTABLE_NO_INTERPRETER;
	}
	if (strstr(file.interpreter, "ld-musl")) {
		return EXECUTABLE_NOT_GLIBC;
	}
	return is_privileged(program->path) ? EXECUTABLE_PRIVILEGED : EXECUTABLE_FINE;
}

void executable_find(const char *name, struct executable *ret_program)
{
	struct executable *program = ret_program;
	char interpreter[PATH_MAX];

	memset(program, 0, sizeof(*program));
	program->trouble = search(name, program->path);
	for (int scripts = 0; program->trouble == EXECUTABLE_FINE && read_script(program->path, interpreter);) {
		if (++scripts > SCRIPTS_MAX) {
			program->trouble = EXECUTABLE_UNKNOWN;
			return;
		}
		/* the first script is the program itself; later ones are interpreters */
		if (scripts == 1) {
			strcpy(program->script, program->path);
		}
		program->trouble = search(interpreter, program->path);
		if (program->trouble != EXECUTABLE_FINE) {
			program->trouble = EXECUTABLE_NO_INTERPRETER;
		}
	}
	if (program->trouble == EXECUTABLE_FINE) {
		program->trouble = look_at_elf(program);
	}
}
