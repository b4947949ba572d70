/* SPDX-License-Identifier: MIT */
/* run: sets the environment of a program so that the library is loaded into it, and becomes that program */
#include "cli/console/commands.h"
#include "cli/console/console.h"
#include "cli/console/library.h"
#include "cli/console/options.h"
#include "cli/doctor/executable.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool set(const char *name, const char *value)
{
	if (setenv(name, value, 1) == 0) {
		return true;
	}
	console_error("%s: %s", name, strerror(errno));
	return false;
}

/* The program may change its directory before the library reads this. */
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
	return set(name, absolute);
}

enum run_option { RUN_DIR = 1, RUN_MAX_SIZE, RUN_VERIFY, RUN_LOG, RUN_STATS, RUN_READ_ONLY };

static const struct option run_options[] = {
    {"dir", required_argument, NULL, RUN_DIR}, {"max-size", required_argument, NULL, RUN_MAX_SIZE},
    {"verify", no_argument, NULL, RUN_VERIFY}, {"log", required_argument, NULL, RUN_LOG},
    {"stats", no_argument, NULL, RUN_STATS},   {"read-only", no_argument, NULL, RUN_READ_ONLY},
    {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};

/* Returns -1 to go on, else the exit status. */
static int apply_option(int option)
{
	const char *name = option == RUN_DIR ? "dir" : option == RUN_LOG ? "log" : "max-size";
	uint64_t size;
	bool done = false;

	switch (option) {
	case RUN_DIR:
	case RUN_LOG:
	case RUN_MAX_SIZE:
		if (optarg[0] == '\0' || (option == RUN_MAX_SIZE && settings_parse_size(optarg, &size) != 0)) {
			console_error("run: --%s: bad value '%s': it takes %s", name, optarg,
			              option == RUN_MAX_SIZE ? settings_wanted("NVRTCCACHE_MAX_SIZE") : "a path");
			return options_usage("run");
		}
		if (option == RUN_DIR) {
			done = set_path("NVRTCCACHE_DIR", optarg);
		} else if (option == RUN_LOG && strcmp(optarg, "stderr") != 0) {
			done = set_path("NVRTCCACHE_LOG", optarg);
		} else {
			done = set(option == RUN_LOG ? "NVRTCCACHE_LOG" : "NVRTCCACHE_MAX_SIZE", optarg);
		}
		break;
	case RUN_VERIFY:
		done = set("NVRTCCACHE_VERIFY", "1");
		break;
	case RUN_STATS:
		done = set("NVRTCCACHE_STATS", "1");
		break;
	case RUN_READ_ONLY:
		done = set("NVRTCCACHE_READONLY", "1");
		break;
	case 'h':
		options_help("run");
		return EXIT_DONE;
	default:
		return options_usage("run");
	}
	return done ? -1 : EXIT_NOT_STARTED;
}

/* The program itself says nothing of a variable that is misspelled, and would run with the cache on. */
static void warn_of_settings(void)
{
	struct settings settings;

	if (console_settings(&settings)) {
		settings_free(&settings);
	}
}

/* Of a program that could not be started: the exit status. */
static int tell_not_started(const char *name, int error)
{
	struct executable program;

	executable_find(name, &program);
	if (error == ENOENT && program.trouble == EXECUTABLE_NO_INTERPRETER) {
		console_error("%s cannot start: what runs it, '%s', is not there", name, program.path);
		return EXIT_NOT_RUNNABLE;
	}
	console_error("%s: %s", name, strerror(error));
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
}

int command_run(int argc, char **argv)
{
	int option;
	int status;

	while ((option = options_getopt(argc, argv, "+h", run_options)) != -1) {
		status = apply_option(option);
		if (status >= 0) {
			return status;
		}
	}
	if (optind == argc) {
		console_error("run: no program given");
		return options_usage("run");
	}
	warn_of_settings();
	if (!library_preload()) {
		return EXIT_NOT_STARTED;
	}
	execvp(argv[optind], argv + optind);
	return tell_not_started(argv[optind], errno);
}
