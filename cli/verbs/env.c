/* SPDX-License-Identifier: MIT */
/* env: prints the shell commands that set LD_PRELOAD as `run` does, or take the library out of it */
#include "cli/console/commands.h"
#include "cli/console/console.h"
#include "cli/console/library.h"
#include "cli/console/options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct shell {
	const char *set, *clear;
};

static const struct shell sh = {"export LD_PRELOAD=", "unset LD_PRELOAD"};
static const struct shell csh = {"setenv LD_PRELOAD ", "unsetenv LD_PRELOAD"};
static const struct shell fish = {"set -gx LD_PRELOAD ", "set -e LD_PRELOAD"};

/* Backslashes, because each shell has other quotes (csh expands '!' in all of its own), and all know the backslash. */
static void print_word(const char *word)
{
	for (; *word != '\0'; word++) {
		if (isascii(*word) && !isalnum((unsigned char)*word) && strchr("/._-+:,@", *word) == NULL) {
			putchar('\\');
		}
		putchar(*word);
	}
}

static int print_change(const struct shell *shell, const char *before, const char *after)
{
	if (strcmp(before, after) == 0) {
		return EXIT_DONE;
	}
	for (const char *c = after; *c != '\0'; c++) {
		if (iscntrl((unsigned char)*c)) {
			console_error("LD_PRELOAD: '%s' has a control character, which shells cannot quote", after);
			return EXIT_TROUBLE;
		}
	}
	fputs(*after != '\0' ? shell->set : shell->clear, stdout);
	print_word(after);
	putchar('\n');
	return EXIT_DONE;
}

/* Makes the change in this process's own environment, then prints what became of it. */
static int change_environment(const struct shell *shell, bool (*apply)(void))
{
	const char *value = getenv("LD_PRELOAD");
	char *before = strdup(value != NULL ? value : "");
	int status = EXIT_TROUBLE;

	if (before != NULL && apply()) {
		value = getenv("LD_PRELOAD");
		status = print_change(shell, before, value != NULL ? value : "");
	}
	free(before);
	return status;
}

int command_env(int argc, char **argv)
{
	static const struct option options[] = {{"fish", no_argument, NULL, 'f'},
	                                        {"csh", no_argument, NULL, 'c'},
	                                        {"off", no_argument, NULL, 'o'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {NULL, 0, NULL, 0}};
	const struct shell *shell = &sh;
	bool (*apply)(void) = library_preload;
	int option;

	while ((option = options_getopt(argc, argv, "h", options)) != -1) {
		switch (option) {
		case 'f':
			shell = &fish;
			break;
		case 'c':
			shell = &csh;
			break;
		case 'o':
			apply = library_leave;
			break;
		case 'h':
			options_help("env");
			return EXIT_DONE;
		default:
			return options_usage("env");
		}
	}
	if (optind < argc) {
		console_error("env takes no argument: '%s'", argv[optind]);
		return options_usage("env");
	}
	return change_environment(shell, apply);
}
