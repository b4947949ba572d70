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
static int report_not_started(const char *name, int error)
{
	bool is_path = strchr(name, '/') != NULL, is_there = access(name, F_OK) == 0;

	/* execvp() also fails with ENOENT if the interpreter of a script, or the loader of a program, is missing */
	if (error == ENOENT && is_path && is_there) {
		console_error("%s: cannot start: its interpreter is missing", name);
		return EXIT_NOT_RUNNABLE;
	}
	if (error == ENOENT && !is_path) {
		console_error("%s: not found in PATH%s%s", name,
		              is_there ? "; for the file in this directory type ./" : "", is_there ? name : "");
	} else {
		console_error("%s: %s%s", name, strerror(error),
		              error == EACCES ? " (a script without permission needs its interpreter before it)" : "");
	}
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
}

static int run_run(struct settings *settings, char **operands)
{
	uint64_t size;

	if (asked.max_size && settings_parse_size(asked.max_size, &size) != 0) {
		console_error("run: --max-size: bad value '%s': it takes %s", asked.max_size,
		              settings_wanted("NVRTCCACHE_MAX_SIZE"));
		return verb_usage(&verb_run);
	}
	/* misspelled variables are reported here: the library in the program would ignore them silently */
	if (!apply_options() || !console_settings(settings) || !library_preload()) {
		return EXIT_NOT_STARTED;
	}
	/* returns only if it fails */
	execvp(operands[0], operands);
	return report_not_started(operands[0], errno);
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
