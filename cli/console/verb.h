/* SPDX-License-Identifier: MIT */
/*
 * verb: what a verb of the command takes, what its help says, and its function
 *
 * Purpose: each verb is one constant in its own file and one line in VERBS. Parsing, --help, the errors about options
 * and operands, and completion come from that constant alone, so they cannot disagree.
 *
 * Calling sequence: verb_main() parses the options into the variables that the table names, checks the number of
 * operands, reads the settings where the verb needs them, calls run(), and prints what is left to say. run() returns an
 * exit status and reports its own errors. It may call interrupt_hold(); verb_main() releases. Threads: one.
 */
#ifndef CLI_CONSOLE_VERB_H
#define CLI_CONSOLE_VERB_H

#include "cli/console/console.h"

#include <stdbool.h>

/* One of `flag` and `value` is set. A value is never empty, except an optional one: "" if there was none. */
struct verb_option {
	const char *name; /* "json" of --json */
	char letter;      /* 'j'; 0: none */
	const char
	    *argument;     /* "FILE"; NULL: a flag; "[=N]": optional, and the next word if that begins with a digit */
	const char *words; /* one line for --help */
	bool *flag;
	const char **value;
};

enum verb_needs {
	VERB_NOTHING,
	VERB_SETTINGS, /* the environment's, with complaints about bad values printed */
	VERB_DIRECTORY /* and a directory that is there or can be made */
};

/* Words behind the first operand belong to another program, whose options are not looked at. */
enum verb_operands { VERB_OPERANDS_OWN, VERB_OPERANDS_COMMAND };

struct verb {
	const char *name, *arguments, *summary;
	const char *more;  /* a paragraph for --help; NULL: none */
	const char *exits; /* exit status, where it differs from that of most verbs; else NULL */
	const char *example;
	const struct verb_option *options; /* NULL at the end; NULL: --help alone */
	enum verb_needs needs;
	enum verb_operands kind;
	const char *operand; /* what one is called: "KEY" */
	int least, most;     /* number of operands */
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

/* `words`: the verb's name and all behind it. Returns the exit status. */
int verb_main(const struct verb *verb, int count, char **words);

/* On stdout: usage, what the verb does, its options, exit status, example. */
void verb_print_help(const struct verb *verb);

/* Prints "see 'nvrtccache help VERB'" on stderr and returns EXIT_USAGE. */
int verb_usage(const struct verb *verb);

#endif
