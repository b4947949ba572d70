/* SPDX-License-Identifier: MIT */
/* nvrtccache: the command for people; finds the command's function and leaves the rest to it */
#include "cache/nearest.h"
#include "cache/version.h"
#include "cli/console/commands.h"
#include "cli/console/console.h"
#include "cli/console/options.h"

#include <string.h>

typedef int command_function(int argc, char **argv);

static const struct command {
	const char *name;
	const char *arguments;
	const char *help;
	command_function *function;
} commands[] = {
#define COMMAND_ROW(name, arguments, help) {#name, arguments, help, command_##name},
    COMMANDS(COMMAND_ROW)
#undef COMMAND_ROW
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(commands[i].name, name) == 0) {
			return &commands[i];
		}
	}
	return NULL;
}

/* An unknown one is named on stderr, with the nearest. */
static const struct command *find_or_say(const char *name)
{
	static const char *const options[] = {"--help", "--version"};
	const struct command *command = find(name);
	const char *names[COMMAND_COUNT], *nearest;

	if (command == NULL) {
		bool is_option = name[0] == '-';

		for (size_t i = 0; i < COMMAND_COUNT; i++) {
			names[i] = commands[i].name;
		}
		nearest = is_option ? nearest_word(name, strlen(name), options, 2, 0)
		                    : nearest_word(name, strlen(name), names, COMMAND_COUNT, 0);
		console_error("unknown %s '%s'%s%s%s", is_option ? "option" : "command", name,
		              nearest != NULL ? "; '" : "", nearest != NULL ? nearest : "",
		              nearest != NULL ? "'?" : "");
	}
	return command;
}

static void print_overview(void)
{
	puts("usage: nvrtccache <command> [argument...]\n\n"
	     "Caches what the CUDA run-time compilers (NVRTC, nvJitLink, libNVVM) make for unmodified programs.\n\n"
	     "Commands:");
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		printf("  %-8s %s\n", commands[i].name, commands[i].help);
	}
	puts("\nOptions:\n"
	     "  -h, --help     show this text\n"
	     "  -V, --version  show the version\n\n"
	     "'nvrtccache help COMMAND' shows the options of a command, 'nvrtccache help environment' the variables.");
}

static void print_environment(void)
{
#define SETTING_HELP(kind, field, variable, preset, help) printf("%-22s %s\n", variable, help);
	SETTINGS(SETTING_HELP)
#undef SETTING_HELP
	printf("%-22s %s\n", "NVRTCCACHE_LIBRARY", "the library that 'run' and 'env' preload");
}

int command_version(int argc, char **argv)
{
	int status;

	if (!options_none("version", argc, argv, &status)) {
		return status;
	}
	puts("nvrtccache " NVRTCCACHE_VERSION);
	return EXIT_DONE;
}

int command_help(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	const struct command *command;
	char *asked[] = {NULL, (char *)"--help", NULL};
	int option = options_getopt(argc, argv, "h", options);

	if (option == 'h') {
		options_help("help");
		return EXIT_DONE;
	}
	if (option != -1) {
		return options_usage("help");
	}
	if (argc - optind > 1) {
		console_error("help takes one argument");
		return options_usage("help");
	}
	if (optind == argc) {
		print_overview();
		return EXIT_DONE;
	}
	if (strcmp(argv[optind], "environment") == 0) {
		print_environment();
		return EXIT_DONE;
	}
	command = find_or_say(argv[optind]);
	if (command == NULL) {
		return options_usage("");
	}
	asked[0] = argv[optind];
	optind = 0; /* getopt begins anew */
	return command->function(2, asked);
}

static bool is_one_of(const char *text, const char *letter, const char *name)
{
	return strcmp(text, letter) == 0 || strcmp(text, name) == 0;
}

int main(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		console_error("no command given");
		return options_usage("");
	}
	if (is_one_of(argv[1], "-h", "--help")) {
		print_overview();
		return console_finish(EXIT_DONE);
	}
	command = is_one_of(argv[1], "-V", "--version") ? find("version") : find_or_say(argv[1]);
	if (command == NULL) {
		return options_usage("");
	}
	argv[1] = (char *)command->name;
	return console_finish(command->function(argc - 1, argv + 1));
}
