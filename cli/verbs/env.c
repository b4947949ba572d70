/* SPDX-License-Identifier: MIT */
/*
 * env: prints the shell commands that set LD_PRELOAD as `run` does, or that remove the library from it
 *
 * The functions that `run` uses change the environment of this process, and the new value is printed for the shell.
 */
#include "cli/console/console.h"
#include "cli/console/library.h"
#include "cli/console/verb.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static struct {
	bool fish, csh, off;
} asked;

struct shell {
	const char *set, *clear;
};

static const struct shell sh = {"export LD_PRELOAD=", "unset LD_PRELOAD"};
static const struct shell csh = {"setenv LD_PRELOAD ", "unsetenv LD_PRELOAD"};
static const struct shell fish = {"set -gx LD_PRELOAD ", "set -e LD_PRELOAD"};

/* Quotes with backslashes, which every shell supports. Quotes differ: csh expands '!' within all of its own. */
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
	/* not even a backslash quotes a line break in every shell, so control characters are rejected */
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

/* Applies the change to the environment of this process, then prints the commands for it. */
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

static int run_env(struct settings *settings, char **operands)
{
	(void)settings;
	(void)operands;
	if (asked.fish && asked.csh) {
		console_error("env: --fish and --csh exclude each other");
		return verb_usage(&verb_env);
	}
	return change_environment(asked.fish  ? &fish
	                          : asked.csh ? &csh
	                                      : &sh,
	                          asked.off ? library_leave : library_preload);
}

const struct verb verb_env = {
    .name = "env",
    .arguments = "[--fish | --csh] [--off]",
    .summary = "print shell commands that turn the cache on or off",
    .more =
        "Without --fish and --csh, the commands are for sh, bash, dash, ksh and zsh. They set LD_PRELOAD and keep the\n"
        "other libraries in it. Nothing is printed if nothing has to change. The library is found in the same way as "
        "by\n"
        "'nvrtccache run'.",
    .example = "eval \"$(nvrtccache env)\"",
    .options = VERB_OPTIONS(VERB_FLAG("fish", 0, "for fish: nvrtccache env --fish | source", &asked.fish),
                            VERB_FLAG("csh", 0, "for csh and tcsh: eval \"`nvrtccache env --csh`\"", &asked.csh),
                            VERB_FLAG("off", 0, "turn the cache off again", &asked.off)),
    .run = run_env,
};
