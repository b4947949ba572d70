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
#define COMMANDS(X)                                                                                                  \
	X(run, "[options] [--] program [argument...]", "run a program with the cache")                               \
	X(env, "[--fish | --csh] [--off]", "print shell commands that turn the cache on or off")                     \
	X(stats, "[--json] [--count] [--zero] [--watch [SECONDS]]", "show hit rates, bypass reasons and cache size") \
	X(ls, "[--json] [--sort used|saved|size]", "list the entries, most recently used first")                     \
	X(show, "[--json] [--from DIR] KEY", "show what an entry contains and depends on")                           \
	X(extract, "KEY --ptx|--cubin|--log|... [-o FILE]", "write artifacts of an entry to files")                  \
	X(verify, "[--json] [--remove]", "check the integrity of all entries")                                       \
	X(explain, "[--json] [--last [N] | KEY]", "explain why a compilation was not served from the cache")         \
	X(prune, "[--max-size SIZE] [--older-than AGE]", "evict the least recently used entries")                    \
	X(clear, "", "remove all entries")                                                                           \
	X(export, "[--used-since AGE] FILE", "write all entries to a file ('-': standard output)")                   \
	X(import, "FILE", "add the entries of an exported file ('-': standard input)")                               \
	X(doctor, "[--json] [--] [program [argument...]]", "find out why a program's compilations are not cached")   \
	X(report, "[TRACE...] [-o FILE]", "turn traces (NVRTCCACHE_TRACE) into an HTML page")                        \
	X(config, "[--json]", "show the settings in effect")                                                         \
	X(version, "", "show the version")                                                                           \
	X(help, "[command|environment]", "show this text, or the help of a command")

#define COMMAND_PROTOTYPE(name, arguments, help) int command_##name(int argc, char **argv);
COMMANDS(COMMAND_PROTOTYPE)
#undef COMMAND_PROTOTYPE

#endif
