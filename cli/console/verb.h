/* SPDX-License-Identifier: MIT */
/*
 * verb: the description of a verb: its options and operands, its help, and its function
 *
 * Purpose: each verb is one constant in its own file and one line in VERBS. Parsing, --help, the errors about options
 * and operands, and completion use only that constant, so they cannot disagree.
 *
 * Calling sequence: verb_main() parses the options into the variables that the table names, checks the number of
 * operands, reads the settings if the verb needs them, calls run(), and calls console_finish(). run() returns an exit
 * status and reports its own errors. It may call interrupt_hold(); verb_main() calls interrupt_release(). Threads: one.
 */
#ifndef CLI_CONSOLE_VERB_H
#define CLI_CONSOLE_VERB_H

#include "cli/console/console.h"

#include <stdbool.h>

/* Either `flag` or `value` is set. A value is never empty. */
struct verb_option {
	const char *name;     /* "json" of --json */
	char letter;          /* 'j'; 0: none */
	const char *argument; /* "FILE"; NULL: a flag */
	const char *words;    /* one line for --help */
	bool *flag;
	const char **value;
};

/* An option without a value, and one with it. VERB_OPTIONS: a list of them. */
#define VERB_FLAG(name_, letter_, words_, flag_) {.name = name_, .letter = letter_, .words = words_, .flag = flag_}
#define VERB_VALUE(name_, letter_, argument_, words_, value_) \
	{.name = name_, .letter = letter_, .argument = argument_, .words = words_, .value = value_}
#define VERB_OPTIONS(...) ((const struct verb_option[]){__VA_ARGS__, {.name = NULL}})

enum verb_needs {
	VERB_NOTHING,
	VERB_SETTINGS, /* settings from the environment; bad values are reported */
	VERB_DIRECTORY /* settings, and a cache directory that exists or can be created */
};

/* VERB_OPERANDS_COMMAND: the words after the first operand belong to another program and are not parsed as options. */
enum verb_operands { VERB_OPERANDS_OWN, VERB_OPERANDS_COMMAND };

struct verb {
	const char *name, *arguments, *summary;
	const char *more;  /* a paragraph for --help; NULL: none */
	const char *exits; /* text on the exit status; NULL: the usual one */
	const char *example;
	const struct verb_option *options; /* ends with a row without a name; NULL: only --help */
	enum verb_needs needs;
	enum verb_operands kind;
	const char *operand; /* name of an operand in messages: "KEY" */
	int least, most;     /* limits of the number of operands */
	int (*run)(struct settings *settings, char **operands);
};

/* In the order of the general help. */
#define VERBS(X)   \
	X(run)     \
	X(env)     \
	X(stats)   \
	X(ls)      \
	X(show)    \
	X(extract) \
	X(verify)  \
	X(explain) \
	X(prune)   \
	X(clear)   \
	X(warm)    \
	X(export)  \
	X(import)  \
	X(doctor)  \
	X(report)  \
	X(config)  \
	X(version) \
	X(help)

#define VERB_DECLARE(name) extern const struct verb verb_##name;
VERBS(VERB_DECLARE)
#undef VERB_DECLARE

/* Runs a verb. `words` are its name and the words after it, `count` of them. Returns the exit status. */
int verb_main(const struct verb *verb, int count, char **words);

/* Prints usage, summary, options, exit status and an example on stdout. */
void verb_print_help(const struct verb *verb);

/* Prints "see 'nvrtccache help VERB'" on stderr and returns EXIT_USAGE. */
int verb_usage(const struct verb *verb);
/* The same after a message about the value of an option, which takes what is `wanted`. */
int verb_refuse(const struct verb *verb, const char *option, const char *value, const char *wanted);
/*
 * Parses the value of an option, a length of time such as "90s", "36h" or "2w". Returns EXIT_DONE, also for NULL, which
 * leaves `*ret_ns` as it is; or what verb_refuse() returns.
 */
int verb_age(const struct verb *verb, const char *option, const char *value, int64_t *ret_ns);

#endif
