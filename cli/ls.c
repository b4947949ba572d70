/* SPDX-License-Identifier: MIT */
/* ls: one line a result, what was used last first */
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/key.h"
#include "cli/results.h"
#include "cli/results_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum sorting { SORT_USED, SORT_SAVED, SORT_SIZE };

static int by_saved(const void *a, const void *b)
{
	const struct listed_result *left = a, *right = b;

	return (left->cost_ns < right->cost_ns) - (left->cost_ns > right->cost_ns);
}

static int by_size(const void *a, const void *b)
{
	const struct listed_result *left = a, *right = b;

	return (left->bytes < right->bytes) - (left->bytes > right->bytes);
}

static void sort(struct results *results, enum sorting sorting)
{
	if (sorting != SORT_USED && results->count > 1) {
		qsort(results->list, results->count, sizeof(results->list[0]),
		      sorting == SORT_SIZE ? by_size : by_saved);
	}
}

/* A terminal shows it: bytes that could command one are left out. At most so many columns, the end of longer ones. */
static void spell_text(const struct about_fact *fact, size_t most, char *ret_text)
{
	size_t skipped = fact->size > most ? fact->size - most : 0;
	size_t size = 0;

	for (size_t i = skipped; i < fact->size; i++) {
		unsigned char byte = (unsigned char)fact->text[i];

		ret_text[size++] = byte < 0x20 || byte >= 0x7f ? '?' : (char)byte;
	}
	if (skipped && size > 3) {
		memcpy(ret_text, "...", 3);
	}
	ret_text[size] = '\0';
}

#define PROGRAM_WIDTH  28
#define COMPILER_WIDTH 15
#define ARCH_WIDTH     12

static void print_line(const struct listed_result *result)
{
	char key[KEY_TEXT_BYTES], program[PROGRAM_WIDTH + 1] = "?", arch[ARCH_WIDTH + 1] = "-";
	char title[COMPILER_WIDTH + 1] = "?", release[COMPILER_WIDTH + 1] = "", compiler[2 * COMPILER_WIDTH + 2];
	char cost[CONSOLE_NUMBER_BYTES], size[CONSOLE_NUMBER_BYTES], age[CONSOLE_NUMBER_BYTES];
	struct about_fact fact;

	key_spell(result->key, key);
	if (results_fact(result, ABOUT_PROGRAM, &fact)) {
		spell_text(&fact, PROGRAM_WIDTH, program);
	}
	if (results_fact(result, ABOUT_TITLE, &fact)) {
		spell_text(&fact, COMPILER_WIDTH, title);
	}
	if (results_fact(result, ABOUT_RELEASE, &fact)) {
		spell_text(&fact, COMPILER_WIDTH, release);
	}
	if (results_arch(result, &fact)) {
		spell_text(&fact, ARCH_WIDTH, arch);
	}
	snprintf(compiler, sizeof(compiler), "%s %s", title, release);
	printf("%.*s  %-*s  %-*s  %-*s  %8s  %9s  %s\n", KEY_SHORT, key, PROGRAM_WIDTH, program, COMPILER_WIDTH,
	       compiler, ARCH_WIDTH, arch, console_time(result->cost_ns, cost), console_bytes(result->bytes, size),
	       console_age(result->used_ns, age));
}

static void print_table(const struct results *results)
{
	if (results->count > 0) {
		printf("%-*s  %-*s  %-*s  %-*s  %8s  %9s  %s\n", KEY_SHORT, "KEY", PROGRAM_WIDTH, "PROGRAM",
		       COMPILER_WIDTH, "COMPILER", ARCH_WIDTH, "ARCH", "SAVES", "SIZE", "USED");
	}
	for (size_t i = 0; i < results->count; i++) {
		print_line(&results->list[i]);
	}
}

static void print_json(const struct results *results)
{
	putchar('[');
	for (size_t i = 0; i < results->count; i++) {
		fputs(i ? ",\n " : "\n ", stdout);
		putchar('{');
		results_json(&results->list[i]);
		putchar('}');
	}
	puts(results->count ? "\n]" : "]");
}

enum form { FORM_TABLE, FORM_JSON };

static int list(const struct settings *settings, enum sorting sorting, enum form form)
{
	char refusal[CONSOLE_REFUSAL_BYTES];
	struct results results;
	int error = results_take(settings, &results);

	if (error != 0) {
		console_error("%s: %s", settings->directory, console_refusal(settings, error, refusal));
		return EXIT_TROUBLE;
	}
	sort(&results, sorting);
	if (form == FORM_JSON) {
		print_json(&results);
	} else {
		print_table(&results);
	}
	if (results.left_out != 0) {
		console_error("%" PRIu64 " damaged or untrusted %s left out", results.left_out,
		              results.left_out == 1 ? "file" : "files");
	}
	if (results.unreadable != 0) {
		console_error("%" PRIu64 " %s could not be read", results.unreadable,
		              results.unreadable == 1 ? "file or directory" : "files or directories");
	}
	error = results.unreadable == 0 ? EXIT_DONE : EXIT_TROUBLE;
	results_free(&results);
	return error;
}

static bool read_sorting(const char *text, enum sorting *ret_sorting)
{
	static const char *const names[] = {[SORT_USED] = "used", [SORT_SAVED] = "saved", [SORT_SIZE] = "size"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]) == 0) {
			*ret_sorting = (enum sorting)i;
			return true;
		}
	}
	console_error("bad order '%s'; one of used, saved, size", text);
	return false;
}

int command_ls(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'},
	                                        {"json", no_argument, NULL, 'j'},
	                                        {"sort", required_argument, NULL, 's'},
	                                        {NULL, 0, NULL, 0}};
	enum sorting sorting = SORT_USED;
	enum form form = FORM_TABLE;
	struct settings settings;
	int option, status;

	while ((option = console_getopt(argc, argv, "h", options)) != -1) {
		if (option == 'h') {
			console_help("ls");
			return EXIT_DONE;
		}
		if (option == 'j') {
			form = FORM_JSON;
		} else if (option != 's' || !read_sorting(optarg, &sorting)) {
			return console_usage("ls");
		}
	}
	if (optind < argc) {
		console_error("ls takes no argument: '%s'", argv[optind]);
		return console_usage("ls");
	}
	if (!console_settings(&settings)) {
		return EXIT_TROUBLE;
	}
	status = console_directory(&settings) ? list(&settings, sorting, form) : EXIT_TROUBLE;
	settings_free(&settings);
	return status;
}
