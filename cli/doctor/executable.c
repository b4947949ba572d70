/* SPDX-License-Identifier: MIT */
/*
 * Repeats the search of execvp(), the kernel's #! lines and PT_INTERP by reading files. This detects programs that
 * cannot start, or into which nothing can be preloaded, without running them.
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

#define SCRIPTS_MAX 4 /* nested scripts, each the interpreter of the one before; the kernel has such a limit too */

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
 * Searches PATH, whose empty elements mean the working directory. Like execvp(), goes on after a file without execute
 * permission, and reports that file if no later one is executable.
 */
static enum executable_trouble find_file(const char *name, char ret_path[PATH_MAX])
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
 * Reads the interpreter from the first line of a script; for "#!/usr/bin/env [-S] NAME" that is NAME. Returns false if
 * the file is not a script.
 */
static bool read_script(const char *path, char ret_interpreter[PATH_MAX])
{
	char line[PATH_MAX], *word, *rest;
	/* open() must neither wait for the writer of a FIFO nor acquire a controlling terminal */
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
	/* env's options and assignments precede the name */
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
 * Returns whether the kernel starts the program with more privileges than ours, so that the loader ignores LD_PRELOAD.
 * Set-group-ID without execute permission for the group grants no privilege. Capabilities of the file add nothing to
 * those of root.
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
		/* a program that is executable but not readable can run, and nothing else is known of it */
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
		/* execvp() would fail with ENOENT as if the program was missing, so the loader is named instead */
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
	program->trouble = find_file(name, program->path);
	for (int scripts = 0; program->trouble == EXECUTABLE_FINE && read_script(program->path, interpreter);) {
		if (++scripts > SCRIPTS_MAX) {
			program->trouble = EXECUTABLE_UNKNOWN;
			return;
		}
		/* the first script is the program itself; later scripts are interpreters */
		if (scripts == 1) {
			strcpy(program->script, program->path);
		}
		program->trouble = find_file(interpreter, program->path);
		if (program->trouble != EXECUTABLE_FINE) {
			program->trouble = EXECUTABLE_NO_INTERPRETER;
		}
	}
	if (program->trouble == EXECUTABLE_FINE) {
		program->trouble = look_at_elf(program);
	}
}

const char *executable_words(enum executable_trouble trouble)
{
	static const char *const words[] = {
	    [EXECUTABLE_NOT_EXECUTABLE] = "cannot be executed: no permission, or not a regular file",
	    [EXECUTABLE_UNKNOWN] = "is neither a script nor an ELF program",
	    [EXECUTABLE_OTHER_MACHINE] = "is a program for another machine than the library, or of 32 bits",
	    [EXECUTABLE_STATIC] = "is linked statically: LD_PRELOAD does nothing",
	    [EXECUTABLE_NOT_GLIBC] = "has musl's loader; the library needs glibc",
	    [EXECUTABLE_PRIVILEGED] = "is setuid, setgid or has capabilities: such programs bypass the cache",
	};

	return trouble < sizeof(words) / sizeof(words[0]) ? words[trouble] : NULL;
}
