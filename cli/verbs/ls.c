/* SPDX-License-Identifier: MIT */
/* ls: one line a result, what was used last first */
#include "cli/console/commands.h"
#include "cli/console/console.h"
#include "cli/console/key.h"
#include "cli/console/options.h"
#include "cli/verbs/results.h"

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

/* How many bytes the character has that begins there: what is no UTF-8 is one each. */
static size_t character(const char *text)
{
	size_t size = 1;

	while (((unsigned char)text[0] & 0xc0) == 0xc0 && ((unsigned char)text[size] & 0xc0) == 0x80) {
		size++;
	}
	return size;
}

/*
 * As a terminal shows it, with as many blanks as make it so many columns: bytes that could command one are left out, and
 * of what is longer the end is shown. A column a character, which holds for most scripts.
 */
static void print_text(const struct about_fact *fact, const char *otherwise, size_t columns)
{
	char *text = fact ? strndup(fact->text, fact->size) : strdup(otherwise);
	const char *from = text;
	size_t count = 0;

	if (text) {
		console_disarm(text);
		for (const char *at = text; *at != '\0'; at += character(at)) {
			count++;
		}
		if (count > columns) {
			for (; count > columns - 3; count--) {
				from += character(from);
			}
			fputs("...", stdout);
			count = columns;
		}
		fputs(from, stdout);
	}
	printf("%*s", (int)(columns - count), "");
	free(text);
}

#define PROGRAM_WIDTH  28
#define COMPILER_WIDTH 15
#define ARCH_WIDTH     12

static void print_fact(const struct listed_result *result, enum about_kind kind, size_t columns)
{
	struct about_fact fact;

	print_text(results_fact(result, kind, &fact) ? &fact : NULL, "?", columns);
}

/* "NVRTC 13.0" */
static void print_compiler(const struct listed_result *result)
{
	struct about_fact title, release;
	char text[2 * COMPILER_WIDTH] = "?";
	bool has_release = results_fact(result, ABOUT_RELEASE, &release);

	if (results_fact(result, ABOUT_TITLE, &title)) {
		snprintf(text, sizeof(text), "%.*s %.*s", (int)title.size, title.text,
		         has_release ? (int)release.size : 0, has_release ? release.text : "");
	}
	print_text(NULL, text, COMPILER_WIDTH);
}

static void print_line(const struct listed_result *result)
{
	char cost[CONSOLE_NUMBER_BYTES], size[CONSOLE_NUMBER_BYTES], age[CONSOLE_NUMBER_BYTES], key[KEY_TEXT_BYTES];
	struct about_fact arch;

	key_spell(result->key, key);
	printf("%.*s  ", KEY_SHORT, key);
	print_fact(result, ABOUT_PROGRAM, PROGRAM_WIDTH);
	fputs("  ", stdout);
	print_compiler(result);
	fputs("  ", stdout);
	print_text(results_arch(result, &arch) ? &arch : NULL, "-", ARCH_WIDTH);
	printf("  %8s  %9s  %s%s\n", console_time(result->cost_ns, cost), console_bytes(result->bytes, size),
	       console_age(result->used_ns, age), result->return_code != 0 ? ", a failure" : "");
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
	struct json json = json_growing(JSON_BYTES_KEPT, 1);

	json_begin_array(&json, NULL);
	for (size_t i = 0; i < results->count; i++) {
		json_begin_object(&json, NULL);
		results_json(&json, &results->list[i]);
		json_end(&json);
		console_json(&json);
	}
	json_end(&json);
	console_json_end(&json);
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

	while ((option = options_getopt(argc, argv, "hj", options)) != -1) {
		if (option == 'h') {
			options_help("ls");
			return EXIT_DONE;
		}
		if (option == 'j') {
			form = FORM_JSON;
		} else if (option != 's' || !read_sorting(optarg, &sorting)) {
			return options_usage("ls");
		}
	}
	if (optind < argc) {
		console_error("ls takes no argument: '%s'", argv[optind]);
		return options_usage("ls");
	}
	if (!console_settings(&settings)) {
		return EXIT_TROUBLE;
	}
	status = console_directory(&settings) ? list(&settings, sorting, form) : EXIT_TROUBLE;
	settings_free(&settings);
	return status;
}
