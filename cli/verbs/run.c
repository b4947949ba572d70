/* SPDX-License-Identifier: MIT */
/*
 * run: sets LD_PRELOAD and other variables, then executes a program in this process
 *
 * No parent process remains, so that the program gets signals and job control directly and its exit status is the
 * command's.
 */
#include "cli/console/console.h"
#include "cli/console/library.h"
#include "cli/console/verb.h"
#include "cli/doctor/executable.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	const char *dir, *max_size, *log;
	bool verify, stats, read_only, cudnn;
} asked;

static bool set_variable(const char *name, const char *value)
{
	if (setenv(name, value, 1) == 0) {
		return true;
	}
	console_error("%s: %s", name, strerror(errno));
	return false;
}

/* Sets a variable to an absolute path, because the program may change its directory before the library reads it. */
static bool set_path(const char *name, const char *path)
{
	char absolute[PATH_MAX];
	char *start = path[0] != '/' ? getcwd(NULL, 0) : NULL;
	int length;

	if (path[0] != '/' && start == NULL) {
		console_error("current directory: %s", strerror(errno));
		return false;
	}
	length =
	    snprintf(absolute, sizeof(absolute), "%s%s%s", start != NULL ? start : "", start != NULL ? "/" : "", path);
	free(start);
	if (length < 0 || (size_t)length >= sizeof(absolute)) {
		console_error("%s: %s", path, strerror(ENAMETOOLONG));
		return false;
	}
	return set_variable(name, absolute);
}

static bool apply_options(void)
{
	bool is_stream = asked.log && strcmp(asked.log, "stderr") == 0;

	return (!asked.dir || set_path("NVRTCCACHE_DIR", asked.dir)) &&
	       (!asked.max_size || set_variable("NVRTCCACHE_MAX_SIZE", asked.max_size)) &&
	       (!asked.log ||
	        (is_stream ? set_variable("NVRTCCACHE_LOG", asked.log) : set_path("NVRTCCACHE_LOG", asked.log))) &&
	       (!asked.verify || set_variable("NVRTCCACHE_VERIFY", "1")) &&
	       (!asked.stats || set_variable("NVRTCCACHE_STATS", "1")) &&
	       (!asked.read_only || set_variable("NVRTCCACHE_READONLY", "1")) &&
	       (!asked.cudnn || set_variable("CUDNN_NVRTC_RUNTIME_LINKING", "1"));
}

/* Reports why a program could not be started. Returns the exit status for it. */
static int report_not_started(const char *name, const struct executable *program, int error)
{
	size_t size = strlen(name);
	bool is_python = size > 3 && strcmp(name + size - 3, ".py") == 0;

	/* execvp() also fails with ENOENT if the interpreter of a script or program is missing */
	if (error == ENOENT && program->trouble == EXECUTABLE_NO_INTERPRETER) {
		console_error("%s: cannot start: its interpreter '%s' is missing", name, program->path);
		return EXIT_NOT_RUNNABLE;
	}
	if (error == ENOENT && !strchr(name, '/') && access(name, F_OK) == 0) {
		console_error("%s: not found in PATH; for the file in this directory type '%s%s'", name,
		              is_python ? "python3 " : "./", name);
	} else if (error == ENOENT && !strchr(name, '/')) {
		console_error("%s: not found in PATH", name);
	} else if (program->trouble == EXECUTABLE_NOT_EXECUTABLE) {
		console_error("%s: not executable; put its interpreter before it%s%s%s", name,
		              is_python ? ": 'python3 " : "", is_python ? name : "", is_python ? "'" : "");
	} else {
		console_error("%s: %s", name, strerror(error));
	}
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
}

static int run_run(struct settings *settings, char **operands)
{
	struct executable program;
	uint64_t size;

	if (asked.max_size && settings_parse_size(asked.max_size, &size) != 0) {
		console_error("run: --max-size: bad value '%s': it takes %s", asked.max_size,
		              settings_wanted("NVRTCCACHE_MAX_SIZE"));
		return verb_usage(&verb_run);
	}
	executable_find(operands[0], &program);
	if (program.trouble == EXECUTABLE_NOT_GLIBC) {
		/* it would end at once: musl's loader does not take a preloaded library that needs glibc */
		console_error("%s %s: it runs without the cache", program.path, executable_words(program.trouble));
	} else if (!apply_options() || !console_settings(settings) || !library_preload()) {
		/* misspelled variables are reported here: the library in the program would ignore them silently */
		return EXIT_NOT_STARTED;
	}
	/* returns only if it fails */
	execvp(operands[0], operands);
	return report_not_started(operands[0], &program, errno);
}

const struct verb verb_run = {
    .name = "run",
    .arguments = "[options] [--] program [argument...]",
    .summary = "run a program with the cache",
    .more = "The library is taken from NVRTCCACHE_LIBRARY, or else searched for in the directory of this command, in\n"
            "../lib relative to it, and in the usual library directories. If a copy is preloaded already, only that "
            "copy is used.",
    .exits = "that of the program; 127: program not found; 126: program cannot be run; 125: it was not started\n"
             "because the library is not found or cannot be loaded; 2: unknown option or invalid value.",
    .example = "nvrtccache run --stats -- python3 train.py",
    .options =
        (const struct verb_option[]){
            {"dir", 0, "DIR", "cache directory (NVRTCCACHE_DIR)", NULL, &asked.dir},
            {"max-size", 0, "SIZE", "size limit of the cache, such as 500M or 1.5G (NVRTCCACHE_MAX_SIZE)", NULL,
             &asked.max_size},
            {"verify", 0, NULL, "also call the compiler on every hit, and compare (NVRTCCACHE_VERIFY)", &asked.verify,
             NULL},
            {"log", 0, "FILE", "write a log to FILE ('stderr': standard error) (NVRTCCACHE_LOG)", NULL, &asked.log},
            {"stats", 0, NULL, "print a line of statistics at exit (NVRTCCACHE_STATS)", &asked.stats, NULL},
            {"read-only", 0, NULL, "never write the cache directory (NVRTCCACHE_READONLY)", &asked.read_only, NULL},
            {"cudnn", 0, NULL, "make cuDNN 9.22 and later use libnvrtc (CUDNN_NVRTC_RUNTIME_LINKING)", &asked.cudnn,
             NULL},
            {NULL, 0, NULL, NULL, NULL, NULL}},
    .kind = VERB_OPERANDS_COMMAND,
    .operand = "program",
    .least = 1,
    .most = INT_MAX,
    .run = run_run,
};
