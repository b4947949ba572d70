/* SPDX-License-Identifier: MIT */
/* nvrtccache: the command for people; finds the command's function and leaves the rest to it */
#include "cache/version.h"
#include "cli/commands.h"
#include "cli/console.h"

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

static void print_overview(void)
{
	puts("usage: nvrtccache <command> [argument...]\n\n"
	     "Caches what NVRTC, the CUDA run-time compiler, makes for unmodified programs.\n\n"
	     "Commands:");
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		printf("  %-8s %s\n", commands[i].name, commands[i].help);
	}
	puts("\nOptions:\n"
	     "  --help     show this text\n"
	     "  --version  show the version\n\n"
	     "Environment:");
#define SETTING_HELP(kind, field, variable, preset, help) printf("  %-22s %s\n", variable, help);
	SETTINGS(SETTING_HELP)
#undef SETTING_HELP
}

int command_help(int argc, char **argv)
{
	const struct command *command;
	char *asked[] = {NULL, (char *)"--help", NULL};

	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		console_help("help");
		return EXIT_DONE;
	}
	if (argc > 2) {
		console_error("help takes one argument");
		return console_usage("");
	}
	if (argc < 2) {
		print_overview();
		return EXIT_DONE;
	}
	command = find(argv[1]);
	if (command == NULL) {
		console_error("unknown command '%s'", argv[1]);
		return console_usage("");
	}
	asked[0] = argv[1];
	return command->function(2, asked);
}

int main(int argc, char **argv)
{
	const struct command *command;
	char name[64];

	if (argc < 2) {
		console_error("no command given");
		return console_usage("");
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_overview();
		return console_finish(EXIT_DONE);
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("nvrtccache " NVRTCCACHE_VERSION);
		return console_finish(EXIT_DONE);
	}
	command = find(argv[1]);
	if (command == NULL) {
		console_error("unknown %s '%s'", argv[1][0] == '-' ? "option" : "command", argv[1]);
		return console_usage("");
	}
	/* getopt begins its messages with this */
	snprintf(name, sizeof(name), "nvrtccache %s", command->name);
	if (command->function != command_help) {
		argv[1] = name;
	}
	return console_finish(command->function(argc - 1, argv + 1));
}
