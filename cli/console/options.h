/* SPDX-License-Identifier: MIT */
/*
 * options: the options and operands of a command line, and what each means
 *
 * Purpose: a table has the words for each option of each command. A command hands over its own table of names; what is
 * in neither is refused, and --help prints what is in both.
 *
 * Calling sequence: options_getopt() as getopt_long(), or options_none() or options_one_file() for commands without
 * options. Threads: one. Errors: said on stderr; the status is EXIT_USAGE (commands.h).
 */
#ifndef CLI_CONSOLE_OPTIONS_H
#define CLI_CONSOLE_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>

/*
 * Goes over the options of a command that takes none but --help. Returns true when it may go on; else *ret_status is
 * the exit status.
 */
bool options_none(const char *command, int argc, char **argv, int *ret_status);

/* The same for a command that takes the name of one file. */
bool options_one_file(const char *command, int argc, char **argv, const char **ret_file, int *ret_status);

/*
 * In place of getopt_long(): complains about what is not in the table, with the nearest that is, and returns '?'. What
 * options_help() prints is made from the table that was handed over last and from the words that options.c has for
 * each option, so that nothing is accepted that help does not show, nor the other way round. `letters` as getopt has
 * them; a command's table has "help" with the letter h.
 */
int options_getopt(int argc, char **argv, const char *letters, const struct option *options);
/* On stdout: usage, what the command does, its options, exit status, example. */
void options_help(const char *command);
/* "see 'nvrtccache help NAME'" on stderr; returns EXIT_USAGE. */
int options_usage(const char *command);

#endif
