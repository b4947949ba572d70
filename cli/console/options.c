/* SPDX-License-Identifier: MIT */
#include "cli/console/options.h"

#include "cache/nearest.h"
#include "cli/console/commands.h"
#include "cli/console/console.h"

#include <string.h>

#define OPTIONS_MAX  32
#define OPTION_WIDTH 28

/* command NULL: of all that have it; argument NULL: it takes none */
static const struct option_words {
	const char *command, *option, *argument, *words;
} option_words[] = {
    {NULL, "help", NULL, "show this text"},
    {NULL, "json", NULL, "print JSON"},
    {"run", "dir", "DIR", "cache directory (NVRTCCACHE_DIR)"},
    {"run", "max-size", "SIZE", "size limit of the cache, such as 500M or 1.5G (NVRTCCACHE_MAX_SIZE)"},
    {"run", "verify", NULL, "compile every hit as well and compare (NVRTCCACHE_VERIFY)"},
    {"run", "log", "FILE", "write a log to FILE, or stderr (NVRTCCACHE_LOG)"},
    {"run", "stats", NULL, "print a line of statistics at exit (NVRTCCACHE_STATS)"},
    {"run", "read-only", NULL, "never write the cache directory (NVRTCCACHE_READONLY)"},
    {"env", "fish", NULL, "for fish: nvrtccache env --fish | source"},
    {"env", "csh", NULL, "for csh and tcsh: eval \"`nvrtccache env --csh`\""},
    {"env", "off", NULL, "turn the cache off again"},
    {"stats", "zero", NULL, "show the statistics, then reset them"},
    {"stats", "watch", "SECONDS", "repeat every SECONDS (default: 2) until interrupted"},
    {"stats", "count", NULL, "count the files (default: use the noted number and size)"},
    {"ls", "sort", "used|saved|size", "sort by last use (default), saved time or size"},
    {"show", "from", "DIR", "resolve relative paths against DIR (default: working directory)"},
    {"extract", "output", "FILE", "write to FILE, or to standard output ('-'); default: named after the program"},
    {"extract", "all", "DIR", "write all artifacts into DIR, creating it if needed"},
    {"extract", "number", "N", "take the N-th entry that 'show' lists under the key (default: 1)"},
    {"extract", "ptx", NULL, "PTX"},
    {"extract", "cubin", NULL, "CUBIN: machine code"},
    {"extract", "ltoir", NULL, "LTO-IR, for linking"},
    {"extract", "optixir", NULL, "OptiX IR"},
    {"extract", "tileir", NULL, "Tile IR"},
    {"extract", "nvvm", NULL, "NVVM IR of older releases"},
    {"extract", "log", NULL, "log of NVRTC or libNVVM"},
    {"extract", "info-log", NULL, "info log of nvJitLink"},
    {"extract", "error-log", NULL, "error log of nvJitLink"},
    {"extract", "lowered-names", NULL, "lines: lowered name, tab, name expression"},
    {"verify", "remove", NULL, "remove entries that are damaged or not trusted"},
    {"explain", "last", "N", "explain the last call, or the last N, newest first (default)"},
    {"report", "output", "FILE", "write to FILE (default: standard output)"},
    {"export", "used-since", "AGE", "only entries used within AGE, such as 12h, 1.5d or 2w"},
    {"prune", "older-than", "AGE", "evict entries not used for AGE, such as 36h, 1.5d or 2w"},
    {"prune", "max-size", "SIZE", "evict down to SIZE, such as 500M or 1.5G; 0: no limit"},
};

static const struct command_words {
	const char *command, *more, *exits, *example;
} command_words[] = {
    {"run",
     "The library is NVRTCCACHE_LIBRARY, or is searched for beside this command, in ../lib from there, and in the\n"
     "usual library directories. If a copy is preloaded already, the program gets that copy alone.",
     "that of the program; 127: program not found; 126: program cannot be run; 125: it was not started\n"
     "because the library is not found or cannot be loaded; 2: unknown option or bad value.",
     "nvrtccache run --stats -- python3 train.py"},
    {"env",
     "Without --fish and --csh, the commands are for sh, bash, dash, ksh and zsh. They set LD_PRELOAD and keep the "
     "other\n"
     "libraries in it. Nothing is printed if nothing has to change. The library is searched for as by 'nvrtccache "
     "run'.",
     NULL, "eval \"$(nvrtccache env)\""},
    {"stats", NULL, NULL, "nvrtccache stats --json"},
    {"ls", NULL, NULL, "nvrtccache ls --sort saved"},
    {"show", "KEY is the beginning of a key, as 'nvrtccache ls' shows it.", NULL, "nvrtccache show 5addf761"},
    {"doctor",
     "Checks the library, the cache directory, the settings and the agent. If a program is given, runs it with the\n"
     "cache and reports which compilers it called and the outcome of each call.",
     "0: no FAIL; 1: a FAIL, or a check could not be made; 2: unknown option.",
     "nvrtccache doctor -- python3 train.py"},
    {"extract",
     "KEY is the beginning of a key, as 'nvrtccache ls' shows it. Existing files are overwritten. Text is written\n"
     "without its terminating NUL.",
     NULL, "nvrtccache extract 5addf761 --ptx -o add.ptx"},
    {"verify", NULL, "0: all entries are sound, or the others were removed; 1: bad entries remain; 2: unknown option.",
     "nvrtccache verify"},
    {"explain",
     "KEY is the beginning of a key, as 'nvrtccache ls' shows it. Without arguments: --last. Only the most recent\n"
     "misses, uncached compilations and bypasses are recorded; hits are not.",
     NULL, "nvrtccache explain --last"},
    {"report",
     "TRACE is a file that programs wrote because of NVRTCCACHE_TRACE, or '-' for standard input (default: the file\n"
     "that the variable names now). The page shows several traces one below the other and needs no other file.",
     NULL, "nvrtccache report trace.json -o report.html"},
    {"prune", NULL, NULL, "nvrtccache prune --max-size 1.5G"},
    {"clear", NULL, NULL, "nvrtccache clear"},
    {"export", NULL, NULL, "nvrtccache export kernels.nvb"},
    {"import", NULL, NULL, "nvrtccache import kernels.nvb"},
    {"config", NULL, NULL, "nvrtccache config --json"},
    {"version", NULL, NULL, "nvrtccache version"},
    {"help", NULL, NULL, "nvrtccache help run"},
};

static const struct command_usage {
	const char *name, *arguments, *help;
} command_usage[] = {
#define COMMAND_USAGE(name, arguments, help) {#name, arguments, help},
    COMMANDS(COMMAND_USAGE)
#undef COMMAND_USAGE
};

/* The table that was handed over last. */
static const struct option *table;
static const char *table_letters = "";

static const struct option_words *words_of(const char *command, const char *option)
{
	const struct option_words *found = NULL;

	for (size_t i = 0; i < sizeof(option_words) / sizeof(option_words[0]); i++) {
		const struct option_words *words = &option_words[i];

		if (strcmp(words->option, option) == 0 &&
		    (words->command ? strcmp(words->command, command) == 0 : !found)) {
			found = words;
		}
	}
	return found;
}

static void print_option(const char *command, const struct option *option)
{
	const struct option_words *words = words_of(command, option->name);
	const char *argument = words && words->argument ? words->argument : option->has_arg ? "VALUE" : NULL;
	bool has_letter =
	    option->val > ' ' && option->val < 0x7f && strchr(table_letters, option->val) && option->val != ':';
	int width = printf("  %c%c%c --%s", has_letter ? '-' : ' ', has_letter ? option->val : ' ',
	                   has_letter ? ',' : ' ', option->name);

	if (argument) {
		width += printf(option->has_arg == optional_argument ? "[=%s]" : " %s", argument);
	}
	printf("%*s%s\n", width < OPTION_WIDTH - 2 ? OPTION_WIDTH - width : 2, "", words ? words->words : "");
}

void options_help(const char *command)
{
	const struct command_words *words = NULL;

	for (size_t i = 0; i < sizeof(command_usage) / sizeof(command_usage[0]); i++) {
		const struct command_usage *usage = &command_usage[i];

		if (strcmp(command, usage->name) == 0) {
			printf("usage: nvrtccache %s%s%s\n\n%s\n\nOptions:\n", usage->name,
			       *usage->arguments ? " " : "", usage->arguments, usage->help);
		}
	}
	for (const struct option *option = table; option && option->name; option++) {
		print_option(command, option);
	}
	for (size_t i = 0; i < sizeof(command_words) / sizeof(command_words[0]); i++) {
		if (strcmp(command, command_words[i].command) == 0) {
			words = &command_words[i];
		}
	}
	if (words && words->more) {
		printf("\n%s\n", words->more);
	}
	printf("\nExit status: %s\n", words && words->exits
	                                  ? words->exits
	                                  : "0: done; 1: it could not be done, and stderr says why; 2: unknown\n"
	                                    "option or bad value.");
	if (words) {
		printf("\nExample:\n  %s\n", words->example);
	}
}

/* "--name" of what was typed, without its value. */
static size_t name_size(const char *typed)
{
	return strcspn(typed, "=");
}

/* Several options begin so. */
static bool is_ambiguous(const char *typed, const struct option *options)
{
	unsigned count = 0;

	for (; options->name; options++) {
		count += strncmp(typed + 2, options->name, name_size(typed) - 2) == 0;
	}
	return count > 1;
}

static const char *nearest_option(const char *typed, const struct option *options)
{
	const char *names[OPTIONS_MAX];
	size_t count = 0;

	for (; options->name && count < OPTIONS_MAX; options++) {
		names[count++] = options->name;
	}
	return nearest_word(typed + 2, name_size(typed) - 2, names, count, 0);
}

static void complain_about_name(const char *command, const char *typed, const struct option *options)
{
	const char *nearest = nearest_option(typed, options);
	int size = (int)name_size(typed);

	if (is_ambiguous(typed, options)) {
		console_error("%s: more than one option begins with '%.*s'", command, size, typed);
	} else {
		console_error("%s: unknown option '%.*s'%s%s%s", command, size, typed, nearest ? "; '--" : "",
		              nearest ? nearest : "", nearest ? "'?" : "");
	}
}

/* "--verify=1" of an option that takes none: getopt gives its value, as it does for a letter that is unknown. */
static bool has_argument_too_many(const char *typed, const struct option *options)
{
	for (; typed[name_size(typed)] == '=' && options->name; options++) {
		if (strncmp(typed + 2, options->name, name_size(typed) - 2) == 0 && options->val == optopt) {
			return true;
		}
	}
	return false;
}

/* Looks at all options at once, because an error in one of them may come before --json. */
static bool asks_for_json(int argc, char **argv, const struct option *options, bool in_order)
{
	while (options->name != NULL && strcmp(options->name, "json") != 0) {
		options++;
	}
	for (int i = 1; options->name != NULL && i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--json") == 0 || strcmp(argv[i], "-j") == 0) {
			return true;
		}
		if (in_order && argv[i][0] != '-') {
			break;
		}
	}
	return false;
}

int options_getopt(int argc, char **argv, const char *letters, const struct option *options)
{
	char quiet[OPTIONS_MAX + 3];
	bool in_order = *letters == '+';
	const char *typed;
	int option;

	if (asks_for_json(argc, argv, options, in_order)) {
		console_want_json();
	}
	table = options;
	table_letters = letters;
	snprintf(quiet, sizeof(quiet), "%s:%s", in_order ? "+" : "", letters + in_order);
	opterr = 0;
	option = getopt_long(argc, argv, quiet, options, NULL);
	if (option != '?' && option != ':') {
		return option;
	}
	typed = argv[optind - 1];
	if (option == ':') {
		console_error("%s: option '%s' requires an argument", argv[0], typed);
	} else if (strncmp(typed, "--", 2) == 0 && optopt == 0) {
		complain_about_name(argv[0], typed, options);
	} else if (strncmp(typed, "--", 2) == 0 && has_argument_too_many(typed, options)) {
		console_error("%s: option '%.*s' takes no argument", argv[0], (int)name_size(typed), typed);
	} else {
		console_error("%s: unknown option '-%c'", argv[0], optopt);
	}
	return '?';
}

int options_usage(const char *command)
{
	fprintf(stderr, "nvrtccache: see 'nvrtccache help%s%s'\n", *command != '\0' ? " " : "", command);
	return EXIT_USAGE;
}

/* False: it is all said and done, see *ret_status. */
static bool only_help(const char *command, int argc, char **argv, int *ret_status)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	int option = options_getopt(argc, argv, "h", options);

	if (option == 'h') {
		options_help(command);
		*ret_status = EXIT_DONE;
		return false;
	}
	if (option != -1) {
		*ret_status = options_usage(command);
		return false;
	}
	return true;
}

bool options_none(const char *command, int argc, char **argv, int *ret_status)
{
	if (!only_help(command, argc, argv, ret_status)) {
		return false;
	}
	if (optind < argc) {
		console_error("%s takes no argument: '%s'", command, argv[optind]);
		*ret_status = options_usage(command);
		return false;
	}
	return true;
}

bool options_one_file(const char *command, int argc, char **argv, const char **ret_file, int *ret_status)
{
	if (!only_help(command, argc, argv, ret_status)) {
		return false;
	}
	if (optind + 1 != argc || argv[optind][0] == '\0') {
		console_error("%s takes the name of one file", command);
		*ret_status = options_usage(command);
		return false;
	}
	*ret_file = argv[optind];
	return true;
}
