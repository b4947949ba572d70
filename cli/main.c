/* SPDX-License-Identifier: MIT */
/*
 * nvrtccache: the command-line tool of the cache
 *
 * Finds the verb that the first word names, and calls verb_main() with it. `help` is in this file because it needs the
 * list of all verbs, `version` because it needs nothing else.
 */
#include "cache/settings.h"
#include "cache/version.h"
#include "cli/console/console.h"
#include "cli/console/verb.h"
#include "cli/warm/worker.h"

#include <limits.h>
#include <string.h>

/* Each verb's file defines its constant. The list is VERBS in cli/console/verb.h. */
static const struct verb *const verbs[] = {
#define VERB_POINTER(name) &verb_##name,
    VERBS(VERB_POINTER)
#undef VERB_POINTER
};

#define VERB_COUNT (sizeof(verbs) / sizeof(verbs[0]))

/* Returns the verb with that name. Otherwise returns NULL after a message, which suggests the closest word. */
static const struct verb *find_verb(const char *word)
{
	const char *names[VERB_COUNT + 2] = {[VERB_COUNT] = "--help", "--version"};
	char suggestion[NEAREST_TEXT_BYTES];

	for (size_t i = 0; i < VERB_COUNT; i++) {
		names[i] = verbs[i]->name;
		if (strcmp(names[i], word) == 0) {
			return verbs[i];
		}
	}
	nearest_suggest(word, strlen(word), names, VERB_COUNT + 2, 0, suggestion);
	console_error("%s: unknown %s%s", word, word[0] == '-' ? "option" : "command", suggestion);
	return NULL;
}

static int refuse_command(void)
{
	fputs("nvrtccache: see 'nvrtccache help'\n", stderr);
	return EXIT_USAGE;
}

static void print_overview(void)
{
	puts("usage: nvrtccache <command> [argument...]\n\n"
	     "Caches the results of CUDA's run-time compilers for unmodified programs.\n\n"
	     "Commands:");
	for (size_t i = 0; i < VERB_COUNT; i++) {
		printf("  %-8s %s\n", verbs[i]->name, verbs[i]->summary);
	}
	puts("\nOptions:\n"
	     "  -h, --help     show this text\n"
	     "  -V, --version  show the version\n\n"
	     "'nvrtccache help COMMAND' shows the options of a command, and 'nvrtccache help\n"
	     "environment' the variables.");
}

static void print_environment(void)
{
	for (size_t i = 0; i < SETTINGS_COUNT; i++) {
		printf("%-22s %s\n", settings_table[i].variable, settings_table[i].help);
	}
	puts("NVRTCCACHE_LIBRARY     the library that 'run', 'env' and 'doctor' preload");
}

static int run_version(struct settings *settings, char **operands)
{
	(void)settings;
	(void)operands;
	puts("nvrtccache " NVRTCCACHE_VERSION);
	return EXIT_DONE;
}

static int run_help(struct settings *settings, char **operands)
{
	const struct verb *verb;

	(void)settings;
	if (!operands[0]) {
		print_overview();
	} else if (strcmp(operands[0], "environment") == 0) {
		print_environment();
	} else {
		verb = find_verb(operands[0]);
		if (!verb) {
			return refuse_command();
		}
		verb_print_help(verb);
	}
	return EXIT_DONE;
}

const struct verb verb_version = {
    .name = "version",
    .arguments = "",
    .summary = "show the version",
    .example = "nvrtccache version",
    .run = run_version,
};

const struct verb verb_help = {
    .name = "help",
    .arguments = "[command|environment]",
    .summary = "show this text, or the help of a command",
    .example = "nvrtccache help run",
    .operand = "COMMAND",
    .most = 1,
    .run = run_help,
};

int main(int argc, char **argv)
{
	const struct verb *verb;

	if (argc > 0 && strcmp(argv[0], WORKER_NAME) == 0) {
		return worker_main(argc, argv);
	}
	if (argc < 2) {
		console_error("no command given");
		return refuse_command();
	}
	if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0) {
		print_overview();
		return console_finish(EXIT_DONE);
	}
	/* verb_main() skips the first word, whether it is the verb's name or -V */
	verb = strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "--version") == 0 ? &verb_version : find_verb(argv[1]);
	return verb ? verb_main(verb, argc - 1, argv + 1) : refuse_command();
}
