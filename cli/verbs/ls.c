/* SPDX-License-Identifier: MIT */
/*
 * ls: prints one line for each entry, most recently used first
 *
 * Entries of one program would look the same in the table, so each line also shows its first name expression.
 */
#include "cache/recency.h"
#include "cli/console/console.h"
#include "cli/console/key.h"
#include "cli/console/progress.h"
#include "cli/console/reading.h"
#include "cli/console/verb.h"
#include "cli/verbs/results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WIDE 100 /* columns of a terminal from which the compiler is shown */

static struct {
	bool json;
	const char *sort;
} asked = {.sort = "used"};

struct list {
	struct listed_result *results;
	size_t count, capacity;
};

static int take_entry(void *context, const struct entry *entry, int64_t used)
{
	struct list *list = context;

	if (list->count == list->capacity) {
		/* the capacity doubles, because there may be a million entries */
		size_t capacity = list->capacity ? 2 * list->capacity : 256;
		struct listed_result *grown = realloc(list->results, capacity * sizeof(*grown));

		if (!grown) {
			return -ENOMEM;
		}
		list->results = grown;
		list->capacity = capacity;
	}
	if (results_copy(entry, used, &list->results[list->count]) != 0) {
		return -ENOMEM;
	}
	list->count++;
	return 0;
}

/* The orders are from the greatest to the least. Equal ones stay in no certain order. */
static int compare_use(const void *a, const void *b)
{
	const struct listed_result *left = a, *right = b;

	return (left->used_ns < right->used_ns) - (left->used_ns > right->used_ns);
}

static int compare_saved(const void *a, const void *b)
{
	const struct listed_result *left = a, *right = b;

	return (left->cost_ns < right->cost_ns) - (left->cost_ns > right->cost_ns);
}

static int compare_size(const void *a, const void *b)
{
	const struct listed_result *left = a, *right = b;

	return (left->bytes < right->bytes) - (left->bytes > right->bytes);
}

static const struct {
	const char *name;
	int (*compare)(const void *a, const void *b);
} orders[] = {{"used", compare_use}, {"saved", compare_saved}, {"size", compare_size}};

#define ORDERS (sizeof(orders) / sizeof(orders[0]))

/* Returns whether the name is a default for programs without a name (struct compiler, `unnamed`). */
static bool is_unnamed(struct span program)
{
	return program.size == 0 || span_is(program, "default_program") || span_is(program, "link") ||
	       span_is(program, "<unnamed>");
}

/* Behind the key and, unless the terminal is narrow, the compiler. What may be long is at the end of the line. */
#define LINE_FORMAT "%-10.*s  %8s  %9s  %-12s  %s"

static void print_line(const struct listed_result *result, bool is_wide)
{
	char saves[CONSOLE_NUMBER_BYTES], size[CONSOLE_NUMBER_BYTES], span[CONSOLE_NUMBER_BYTES];
	char key[KEY_TEXT_BYTES], used[CONSOLE_NUMBER_BYTES + 4];
	struct request request = results_request(result);
	struct span program = request_text(&request, ABOUT_PROGRAM), kernel = request_text(&request, ABOUT_EXPRESSION);
	struct span arch = request_arch(&request);

	key_spell(result->key, key);
	console_print(stdout, "%.*s  ", KEY_SHORT, key);
	if (is_wide) {
		console_print(stdout, "%-9.*s %-5.*s  ", SPAN(request_text(&request, ABOUT_TITLE)),
		              SPAN(request_text(&request, ABOUT_RELEASE)));
	}
	snprintf(used, sizeof(used), "%s ago", console_span(recency_now() - result->used_ns, span));
	/* a default name tells nothing beside a kernel */
	program = is_unnamed(program) && kernel.size ? (struct span){NULL, 0} : program;
	console_line(LINE_FORMAT "%.*s%s%.*s", SPAN(arch), console_time(result->cost_ns, saves),
	             console_bytes(result->bytes, size), used, result->return_code != 0 ? "failed: " : "",
	             SPAN(program), program.size && kernel.size ? " " : "", SPAN(kernel));
	request_free(&request);
}

static void print_table(const struct list *list)
{
	bool is_wide = isatty(STDOUT_FILENO) != 1 || console_width() >= WIDE;

	printf("KEY       %s" LINE_FORMAT "PROGRAM\n", is_wide ? "COMPILER         " : "", 4, "ARCH", "SAVES", "SIZE",
	       "USED", "");
	for (size_t i = 0; i < list->count; i++) {
		print_line(&list->results[i], is_wide);
	}
}

static void print_json(const struct list *list)
{
	struct json json = json_growing(JSON_BYTES_KEPT, 1);

	json_begin_array(&json, NULL);
	for (size_t i = 0; i < list->count; i++) {
		struct request request = results_request(&list->results[i]);

		json_begin_object(&json, NULL);
		results_json(&json, &list->results[i], &request);
		json_end(&json);
		console_json(&json);
		request_free(&request);
	}
	json_end(&json);
	console_json_end(&json);
}

static int list_entries(const struct settings *settings, size_t order)
{
	struct list list = {.count = 0};
	struct reading reading;
	int error = reading_begin(settings, "reading", &reading);
	int status;

	error = error ? error : reading_each(&reading, take_entry, &list);
	reading_end(&reading);
	if (error != 0) {
		status = console_refuse(settings, error);
	} else {
		/* the list of no entries is NULL, which qsort() must not get */
		if (list.count > 1) {
			qsort(list.results, list.count, sizeof(*list.results), orders[order].compare);
		}
		if (asked.json) {
			print_json(&list);
		} else if (list.count > 0) {
			print_table(&list);
		} else {
			console_line("%s has no entries", settings->directory);
		}
		status = reading_report(&reading);
	}
	for (size_t i = 0; i < list.count; i++) {
		results_free(&list.results[i]);
	}
	free(list.results);
	return status;
}

static int run_ls(struct settings *settings, char **operands)
{
	(void)operands;
	for (size_t i = 0; i < ORDERS; i++) {
		if (strcmp(asked.sort, orders[i].name) == 0) {
			return list_entries(settings, i);
		}
	}
	console_error("ls: --sort: bad order '%s': it takes used, saved or size", asked.sort);
	return verb_usage(&verb_ls);
}

const struct verb verb_ls = {
    .name = "ls",
    .arguments = "[--json] [--sort used|saved|size]",
    .summary = "list the entries, most recently used first",
    .more = "PROGRAM is the name under which the source was compiled, and the first name expression.",
    .example = "nvrtccache ls --sort saved",
    .options = (const struct verb_option[]){{"json", 'j', NULL, "print JSON", &asked.json, NULL},
                                            {"sort", 0, "used|saved|size",
                                             "sort by last use (default), saved time or size", NULL, &asked.sort},
                                            {NULL, 0, NULL, NULL, NULL, NULL}},
    .needs = VERB_DIRECTORY,
    .run = run_ls,
};
