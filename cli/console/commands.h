/* SPDX-License-Identifier: MIT */
/*
 * commands: what `nvrtccache` can do, one function and one file per command
 *
 * Purpose: the X-macro list that the dispatcher and the help come from. A command gets its own argument vector (its
 * name first) and returns the exit status: EXIT_DONE, EXIT_TROUBLE (said on stderr), EXIT_USAGE (likewise).
 * `--help` of every command prints its text (options.c). Standard output is checked by the dispatcher at the end.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

enum exit_status {
	EXIT_DONE = 0,
	EXIT_TROUBLE = 1,
	EXIT_USAGE = 2,
	/* of `run` only, as env and timeout have them: cannot start at all, cannot be run, is not there */
	EXIT_NOT_STARTED = 125,
	EXIT_NOT_RUNNABLE = 126,
	EXIT_NOT_FOUND = 127
};

/* X(name, arguments, help) */
#define COMMANDS(X)                                                                                         \
	X(run, "[options] [--] program [argument...]", "run a program with its NVRTC compilations cached")  \
	X(stats, "[--json] [--count] [--zero] [--watch [SECONDS]]",                                         \
	  "show how often what happened, and what the cache holds")                                         \
	X(ls, "[--json] [--sort used|saved|size]", "list the results, what was used last first")            \
	X(show, "[--json] [--from DIR] KEY", "show what a result is of, holds, depends on and is bound to") \
	X(extract, "KEY --ptx|--cubin|--log|... [-o FILE]", "write artifacts of a result to files")         \
	X(verify, "[--json] [--remove]", "read every result, and name what is damaged or not trusted")      \
	X(explain, "[--json] --last [N] | KEY", "say why it was a miss, not kept or passed through")        \
	X(prune, "[--max-size SIZE] [--older-than AGE]", "remove what was used longest ago")                \
	X(clear, "", "remove every result from the cache directory")                                        \
	X(export, "[--used-since AGE] FILE",                                                                \
	  "write every result of the cache directory to a file ('-': standard output)")                     \
	X(import, "FILE", "add the results of such a file to the cache directory ('-': standard input)")    \
	X(doctor, "[--json] [--] [program [argument...]]",                                                  \
	  "say what keeps a program's compilations from being cached")                                      \
	X(report, "[TRACE...] [-o FILE]", "draw traces (NVRTCCACHE_TRACE) as a page to open in a browser")  \
	X(config, "[--json]", "show the settings in effect")                                                \
	X(version, "", "show the version")                                                                  \
	X(help, "[command]", "show this text, or that of a command")

#define COMMAND_PROTOTYPE(name, arguments, help) int command_##name(int argc, char **argv);
COMMANDS(COMMAND_PROTOTYPE)
#undef COMMAND_PROTOTYPE

#endif
