/* SPDX-License-Identifier: MIT */
/*
 * The table of a verb is converted to the tables of getopt_long(), so that abbreviations, "--name=value" and letters
 * work as in other programs. This file prints the messages itself, because those of getopt begin with the verb's name
 * instead of the command's, suggest no other option, and do not appear in the output of --json.
 */
#include "cli/console/verb.h"

#include "cache/nearest.h"
#include "cli/console/console.h"
#include "cli/console/progress.h"

#include <ctype.h>
#include <getopt.h>
#include <string.h>

#define OPTIONS_MAX   32
#define OPTION_WIDTH  28
#define OPTION_INDENT 6
#define USAGE_INDENT  8
#define OPTION_FIRST  256 /* what getopt returns for the first row; greater than any letter */

static bool show_help;
static const struct verb_option help_row = {"help", 'h', NULL, "show this text", &show_help, NULL};

/* The verb's rows followed by --help, in the form that getopt takes. */
struct table {
	const struct verb_option *rows[OPTIONS_MAX];
	struct option options[OPTIONS_MAX + 1];
	char letters[3 * OPTIONS_MAX + 3];
	size_t count;
};

static void add_row(struct table *table, const struct verb_option *row)
{
	bool is_optional = row->argument && row->argument[0] == '[';
	int has_arg = !row->argument ? no_argument : is_optional ? optional_argument : required_argument;
	size_t end = strlen(table->letters);

	table->rows[table->count] = row;
	table->options[table->count] = (struct option){row->name, has_arg, NULL, OPTION_FIRST + (int)table->count};
	if (row->letter) {
		/* "a", "a:" or "a::": no value, a value, an optional value */
		snprintf(table->letters + end, sizeof(table->letters) - end, "%c%s", row->letter,
		         !row->argument ? ""
		         : is_optional  ? "::"
		                        : ":");
	}
	table->count++;
}

/*
 * ':' makes getopt distinguish a missing value from an unknown option. '+' makes it stop at the first operand, because
 * the words after it are options of the program that is run.
 */
static struct table make_table(const struct verb *verb)
{
	struct table table = {.count = 0};

	strcpy(table.letters, verb->kind == VERB_OPERANDS_COMMAND ? "+:" : ":");
	for (const struct verb_option *row = verb->options; row && row->name; row++) {
		add_row(&table, row);
	}
	add_row(&table, &help_row);
	return table;
}

static void print_option(const struct verb_option *row)
{
	bool is_optional = row->argument && row->argument[0] == '[';
	int width = printf("  %c%c%c --%s%s%s", row->letter ? '-' : ' ', row->letter ? row->letter : ' ',
	                   row->letter ? ',' : ' ', row->name, row->argument && !is_optional ? " " : "",
	                   row->argument ? row->argument : "");

	if (console_width() < 2 * OPTION_WIDTH) { /* the words have lines of their own */
		printf("\n%*s", OPTION_INDENT, "");
		console_fold(OPTION_INDENT, OPTION_INDENT, row->words);
	} else {
		int gap = width < OPTION_WIDTH - 2 ? OPTION_WIDTH - width : 2;

		printf("%*s", gap, "");
		console_fold((unsigned)(width + gap), OPTION_WIDTH, row->words);
	}
}

void verb_print_help(const struct verb *verb)
{
	console_fold((unsigned)printf("usage: nvrtccache %s%s", verb->name, *verb->arguments ? " " : ""), USAGE_INDENT,
	             verb->arguments);
	putchar('\n');
	console_fold(0, 0, verb->summary);
	puts("\nOptions:");
	for (const struct verb_option *row = verb->options; row && row->name; row++) {
		print_option(row);
	}
	print_option(&help_row);
	if (verb->more) {
		putchar('\n');
		console_fold(0, 0, verb->more);
	}
	putchar('\n');
	console_fold((unsigned)printf("Exit status: "), 0,
	             verb->exits ? verb->exits
	                         : "0: success; 1: failure (reason on stderr); 2: unknown option or invalid value.");
	printf("\nExample:\n  %s\n", verb->example);
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

/* Returns the length of "--name" in "--name=value". */
static size_t name_size(const char *typed)
{
	return strcspn(typed, "=");
}

static void complain_of_name(const struct verb *verb, const struct table *table, const char *typed)
{
	char names[OPTIONS_MAX][32], suggestion[NEAREST_TEXT_BYTES];
	const char *words[OPTIONS_MAX];
	int size = (int)name_size(typed);

	for (size_t i = 0; i < table->count; i++) {
		snprintf(names[i], sizeof(names[i]), "--%s", table->rows[i]->name);
		/* the candidates include the dashes, because the suggestion is printed with them */
		words[i] = names[i];
	}
	console_error("%s: %.*s: unknown option%s", verb->name, size, typed,
	              nearest_suggest(typed + 2, (size_t)size - 2, words, table->count, 2, suggestion));
}

/* optopt is 0 for a long name that is unknown, or begins several, and the option's number if it takes no value. */
static void complain_of_option(const struct verb *verb, const struct table *table, int option, const char *typed)
{
	if (option == ':') {
		console_error("%s: option '%s' requires an argument", verb->name, typed);
	} else if (optopt == 0) {
		complain_of_name(verb, table, typed);
	} else if (optopt >= OPTION_FIRST) {
		console_error("%s: option '%.*s' takes no argument", verb->name, (int)name_size(typed), typed);
	} else {
		console_error("%s: -%c: unknown option", verb->name, optopt);
	}
}

static const struct verb_option *find_row(const struct table *table, int option)
{
	for (size_t i = 0; i < table->count; i++) {
		if (option == OPTION_FIRST + (int)i || option == table->rows[i]->letter) {
			return table->rows[i];
		}
	}
	return NULL;
}

/* Stores the option's value. Returns false after a message if the value is empty. */
static bool take_option(const struct verb *verb, const struct verb_option *row, int count, char **words)
{
	bool is_optional = row->argument && row->argument[0] == '[';

	if (row->flag) {
		*row->flag = true;
		return true;
	}
	/* getopt finds an optional value only in the same word; people type "--last 5" */
	if (is_optional && !optarg) {
		optarg = optind < count && isdigit((unsigned char)words[optind][0]) ? words[optind++] : (char *)"";
	} else if (optarg[0] == '\0') {
		console_error("%s: --%s: %s is empty", verb->name, row->name, row->argument);
		return false;
	}
	*row->value = optarg;
	return true;
}

/* Returns false after a message if an option is wrong. */
static bool parse_options(const struct verb *verb, int count, char **words)
{
	const struct table table = make_table(verb);
	int option;

	opterr = 0;
	optind = 0; /* makes glibc's getopt reinitialise its state */
	/* --help ends the parsing: it is shown even if a later option is wrong */
	while (!show_help && (option = getopt_long(count, words, table.letters, table.options, NULL)) != -1) {
		const struct verb_option *row = option == '?' || option == ':' ? NULL : find_row(&table, option);

		if (!row) {
			complain_of_option(verb, &table, option, words[optind - 1]);
		}
		if (!row || !take_option(verb, row, count, words)) {
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
