/* SPDX-License-Identifier: MIT */
/*
 * ls: prints one line for each entry, most recently used first
 *
 * Entries of one program would look the same in the table, so each line also shows its first name expression. Of each
 * entry only its line and the value by which it is sorted are kept, because there may be a million.
 */
#include "cache/harmless.h"
#include "cache/recency.h"
#include "cli/console/console.h"
#include "cli/console/entries.h"
#include "cli/console/progress.h"
#include "cli/console/verb.h"
#include "cli/verbs/results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct {
	bool json;
	const char *sort;
} asked = {.sort = "used"};

enum order { ORDER_USED, ORDER_SAVED, ORDER_SIZE };

struct line {
	int64_t value; /* by which it is sorted */
	char *text;
};

struct list {
	struct line *lines;
	size_t count, capacity;
	enum order order;
};

/* From the greatest to the least. Equal ones stay in no certain order. */
static int compare_lines(const void *a, const void *b)
{
	const struct line *left = a, *right = b;

	return (left->value < right->value) - (left->value > right->value);
}

/* What may be long is at the end of the line. */
#define LINE_FORMAT "%-8.*s  %-9.*s %-5.*s  %-10.*s  %8s  %9s  %-12s  "

/* Returns the line, which the caller frees; NULL: no memory. */
static char *spell_line(const struct entry *entry, int64_t used_ns, const struct request *request)
{
	const struct entry_info *info = entry_info(entry);
	char saves[CONSOLE_NUMBER_BYTES], size[CONSOLE_NUMBER_BYTES], span[CONSOLE_NUMBER_BYTES];
	char key[KEY_TEXT_BYTES], used[CONSOLE_NUMBER_BYTES + 4], *line;
	struct span program = request_text(request, ABOUT_PROGRAM), kernel = request_text(request, ABOUT_EXPRESSION);

	snprintf(used, sizeof(used), "%s ago", console_span(recency_now() - used_ns, span));
	if (asprintf(&line, LINE_FORMAT "%s%.*s%s%.*s", KEY_SHORT, key_spell(info->key, key),
	             SPAN(request_text(request, ABOUT_TITLE)), SPAN(request_text(request, ABOUT_RELEASE)),
	             SPAN(request_arch(request)), console_time(info->cost_ns, saves),
	             console_bytes(info->total_size, size), used, results_return_code(entry) != 0 ? "failed: " : "",
	             SPAN(program), program.size && kernel.size ? " " : "", SPAN(kernel)) < 0) {
		return NULL;
	}
	harmless_text(line);
	return line;
}

/* Returns a member of the array; NULL: no memory. */
static char *spell_object(const struct entry *entry, int64_t used_ns, const struct request *request)
{
	struct json json = {.bytes = NULL};
	char *text;

	json_begin_object(&json, NULL);
	results_json(&json, entry, used_ns, request);
	json_end(&json);
	text = json.failed ? NULL : strndup(json.bytes, json.size);
	json_free(&json);
	return text;
}

static int take_entry(void *context, const struct entry *entry, int64_t used_ns)
{
	struct list *list = context;
	const int64_t values[] = {[ORDER_USED] = used_ns,
	                          [ORDER_SAVED] = (int64_t)entry_info(entry)->cost_ns,
	                          [ORDER_SIZE] = (int64_t)entry_info(entry)->total_size};
	struct request request;
	char *text;

	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? 2 * list->capacity : 256;
		struct line *grown = realloc(list->lines, capacity * sizeof(*grown));

		if (!grown) {
			return -ENOMEM;
		}
		list->lines = grown;
		list->capacity = capacity;
	}
	request = results_request(entry);
	text = (asked.json ? spell_object : spell_line)(entry, used_ns, &request);
	request_free(&request);
	if (!text) {
		return -ENOMEM;
	}
	list->lines[list->count++] = (struct line){values[list->order], text};
	return 0;
}

static void print_list(const struct settings *settings, const struct list *list)
{
	if (asked.json) {
		putchar('[');
	} else if (list->count == 0) {
		console_line("%s has no entries", settings->directory);
	} else {
		printf(LINE_FORMAT "PROGRAM\n", 3, "KEY", 8, "COMPILER", 0, "", 4, "ARCH", "SAVES", "SIZE", "USED");
	}
	for (size_t i = 0; i < list->count; i++) {
		printf("%s%s%s", asked.json && i > 0 ? "," : "", list->lines[i].text, asked.json ? "" : "\n");
	}
	if (asked.json) {
		puts("]");
	}
}

static int list_entries(const struct settings *settings, enum order order)
{
	struct list list = {.order = order};
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
			qsort(list.lines, list.count, sizeof(*list.lines), compare_lines);
		}
		print_list(settings, &list);
		status = reading_report(&reading);
	}
	for (size_t i = 0; i < list.count; i++) {
		free(list.lines[i].text);
	}
	free(list.lines);
	return status;
}

static int run_ls(struct settings *settings, char **operands)
{
	static const char *const orders[] = {[ORDER_USED] = "used", [ORDER_SAVED] = "saved", [ORDER_SIZE] = "size"};

	(void)operands;
	for (int i = 0; i <= ORDER_SIZE; i++) {
		if (strcmp(asked.sort, orders[i]) == 0) {
			return list_entries(settings, (enum order)i);
		}
	}
	return verb_refuse(&verb_ls, "sort", asked.sort, "used, saved or size");
}

const struct verb verb_ls = {
    .name = "ls",
    .arguments = "[--json] [--sort used|saved|size]",
    .summary = "list the entries, most recently used first",
    .more = "PROGRAM is the name under which the source was compiled, and the first name expression.",
    .example = "nvrtccache ls --sort saved",
    .options = VERB_OPTIONS(
        VERB_FLAG("json", 'j', "print JSON", &asked.json),
        VERB_VALUE("sort", 0, "used|saved|size", "sort by last use (default), saved time or size", &asked.sort)),
    .needs = VERB_DIRECTORY,
    .run = run_ls,
};
