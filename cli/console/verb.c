/* SPDX-License-Identifier: MIT */
/*
 * The table of a verb is converted to the tables of getopt_long(), so that abbreviations, "--name=value", letters and
 * the messages about options are those of other programs.
 */
#include "cli/console/verb.h"

#include "cache/digits.h"
#include "cli/console/console.h"
#include "cli/console/progress.h"

#include <getopt.h>
#include <limits.h>
#include <string.h>

#define OPTIONS_MAX  32
#define OPTION_FIRST 256 /* of a row without a letter; greater than any letter */

static bool show_help;
static const struct verb_option help_row = {"help", 'h', NULL, "show this text", &show_help, NULL};

/* The verb's rows followed by --help, in the form that getopt takes. */
struct table {
	const struct verb_option *rows[OPTIONS_MAX];
	struct option options[OPTIONS_MAX + 1];
	char letters[2 * OPTIONS_MAX + 2];
	size_t count;
};

static void add_row(struct table *table, const struct verb_option *row)
{
	int has_arg = row->argument ? required_argument : no_argument;
	size_t end = strlen(table->letters);

	table->rows[table->count] = row;
	table->options[table->count] =
	    (struct option){row->name, has_arg, NULL, row->letter ? row->letter : OPTION_FIRST + (int)table->count};
	if (row->letter) {
		snprintf(table->letters + end, sizeof(table->letters) - end, "%c%.*s", row->letter, has_arg, ":");
	}
	table->count++;
}

/* '+' makes getopt stop at the first operand, because the words after it are options of the program that is run. */
static struct table make_table(const struct verb *verb)
{
	struct table table = {.letters = {verb->kind == VERB_OPERANDS_COMMAND ? '+' : '\0'}};

	for (const struct verb_option *row = verb->options; row && row->name; row++) {
		add_row(&table, row);
	}
	add_row(&table, &help_row);
	return table;
}

static void print_option(const struct verb_option *row)
{
	char name[64];

	snprintf(name, sizeof(name), "%s %s", row->name, row->argument ? row->argument : "");
	printf(row->letter ? "  -%c, --%-20s  %s\n" : "  %c   --%-20s  %s\n", row->letter ? row->letter : ' ', name,
	       row->words);
}

void verb_print_help(const struct verb *verb)
{
	printf("usage: nvrtccache %s%s%s\n\n%s\n\nOptions:\n", verb->name, *verb->arguments ? " " : "", verb->arguments,
	       verb->summary);
	for (const struct verb_option *row = verb->options; row && row->name; row++) {
		print_option(row);
	}
	print_option(&help_row);
	if (verb->more) {
		printf("\n%s\n", verb->more);
	}
	printf("\nExit status: %s\n\nExample:\n  %s\n",
	       verb->exits ? verb->exits
	                   : "0: success; 1: failure (reason on stderr); 2: unknown option or invalid value.",
	       verb->example);
}

int verb_usage(const struct verb *verb)
{
	fprintf(stderr, "nvrtccache: see 'nvrtccache help %s'\n", verb->name);
	return EXIT_USAGE;
}

int verb_refuse(const struct verb *verb, const char *option, const char *value, const char *wanted)
{
	console_error("%s: --%s: bad value '%s': it takes %s", verb->name, option, value, wanted);
	return verb_usage(verb);
}

/* Months and years are not supported, because they have no fixed length. */
static const struct {
	char letter;
	int32_t seconds;
} units_of_time[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 24 * 3600}, {'w', 7 * 24 * 3600}};

int verb_age(const struct verb *verb, const char *option, const char *value, int64_t *ret_ns)
{
	uint64_t number;
	const char *rest = value ? digits_number(value, UINT_MAX, &number) : NULL;

	for (size_t i = 0; rest && i < sizeof(units_of_time) / sizeof(units_of_time[0]); i++) {
		const int64_t unit = units_of_time[i].seconds * INT64_C(1000000000);

		if (rest[0] == units_of_time[i].letter && rest[1] == '\0' && number < (uint64_t)(INT64_MAX / unit)) {
			*ret_ns = (int64_t)number * unit;
			return EXIT_DONE;
		}
	}
	return value ? verb_refuse(verb, option, value, "a whole number and s, m, h, d or w, such as 36h or 2w")
	             : EXIT_DONE;
}

static const struct verb_option *find_row(const struct table *table, int option)
{
	for (size_t i = 0; i < table->count; i++) {
		if (option == table->options[i].val) {
			return table->rows[i];
		}
	}
	return NULL;
}

/* Stores the option's value. Returns false after a message if the value is empty. */
static bool take_option(const struct verb *verb, const struct verb_option *row)
{
	if (row->flag) {
		*row->flag = true;
	} else if (optarg[0] == '\0') {
		console_error("%s: --%s: %s is empty", verb->name, row->name, row->argument);
		return false;
	} else {
		*row->value = optarg;
	}
	return true;
}

/* Returns false after a message if an option is wrong. getopt begins its messages with the first word. */
static bool parse_options(const struct verb *verb, int count, char **words)
{
	static char name[] = "nvrtccache";
	const struct table table = make_table(verb);
	int option;

	words[0] = name;
	optind = 0; /* makes glibc's getopt reinitialise its state */
	/* --help ends the parsing: it is shown even if a later option is wrong */
	while (!show_help && (option = getopt_long(count, words, table.letters, table.options, NULL)) != -1) {
		const struct verb_option *row = find_row(&table, option);

		if (!row || !take_option(verb, row)) {
			return false;
		}
	}
	return true;
}

static bool check_operands(const struct verb *verb, int count, char **operands)
{
	if (count < verb->least) {
		console_error("%s: %s is missing", verb->name, verb->operand);
		return false;
	}
	if (count > verb->most) {
		console_error("%s: %s: unexpected argument", verb->name, operands[verb->most]);
		return false;
	}
	for (int i = 0; i < count && verb->kind == VERB_OPERANDS_OWN; i++) {
		if (operands[i][0] == '\0') {
			console_error("%s: %s is empty", verb->name, verb->operand);
			return false;
		}
	}
	return true;
}

static int run_verb(const struct verb *verb, char **operands)
{
	struct settings settings = {.directory = NULL};
	int status = EXIT_TROUBLE;

	if (verb->needs == VERB_NOTHING || console_settings(&settings)) {
		if (verb->needs != VERB_DIRECTORY || console_directory(&settings)) {
			status = verb->run(&settings, operands);
		}
		settings_free(&settings);
	}
	interrupt_release();
	return status;
}

int verb_main(const struct verb *verb, int count, char **words)
{
	if (!parse_options(verb, count, words)) {
		return console_finish(verb_usage(verb));
	}
	if (show_help) {
		verb_print_help(verb);
		return console_finish(EXIT_DONE);
	}
	return console_finish(check_operands(verb, count - optind, words + optind) ? run_verb(verb, words + optind)
	                                                                           : verb_usage(verb));
}
