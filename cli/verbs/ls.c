/* SPDX-License-Identifier: MIT */
/*
 * ls: prints one line for each entry, most recently used first
 *
 * Entries of one program would look the same in the table, so each line also shows its first name expression.
 */
#include "cache/harmless.h"
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

/* ---- the table ---- */

/* Returns the size of the character at `text` in bytes; a byte that is not UTF-8 counts as a character. */
static size_t measure_character(const char *text)
{
	size_t size = 1;

	while (((unsigned char)text[0] & 0xc0) == 0xc0 && ((unsigned char)text[size] & 0xc0) == 0x80) {
		size++;
	}
	return size;
}

enum column { KEY, PROGRAM, COMPILER, ARCH, SAVES, SIZE, USED, COLUMNS };

static const struct {
	const char *title;
	unsigned least;
	bool is_number;
} columns[] = {
    [KEY] = {"KEY", KEY_SHORT, false}, [PROGRAM] = {"PROGRAM", 16, false}, [COMPILER] = {"COMPILER", 15, false},
    [ARCH] = {"ARCH", 10, false},      [SAVES] = {"SAVES", 8, true},       [SIZE] = {"SIZE", 9, true},
    [USED] = {"USED", 17, false},
};

#define GAP           2 /* between columns */
#define PROGRAM_SHOWN 28
#define LINE_SHOWN    107 /* all columns: what a pipe or a file gets */

/* Chooses widths that fit the terminal. 0: the column is left out; those that matter least are left out first. */
static void plan_columns(unsigned ret_widths[COLUMNS])
{
	static const enum column spare[] = {COMPILER, ARCH, SIZE, USED};
	unsigned room = (isatty(STDOUT_FILENO) ? console_width() : LINE_SHOWN) + GAP;

	for (size_t i = 0; i < COLUMNS; i++) {
		ret_widths[i] = columns[i].least;
		room -= columns[i].least + GAP;
	}
	for (size_t i = 0; i < sizeof(spare) / sizeof(spare[0]) && (int)room < 0; i++) {
		ret_widths[spare[i]] = 0;
		room += columns[spare[i]].least + GAP;
	}
	ret_widths[PROGRAM] +=
	    room < PROGRAM_SHOWN - columns[PROGRAM].least ? room : PROGRAM_SHOWN - columns[PROGRAM].least;
}

/*
 * Prints a text in its column, numbers at its right end. Of a longer text the end is printed, after "...". Each
 * character counts as one column, which is right for most scripts.
 */
static void print_cell(const unsigned widths[COLUMNS], enum column column, char *text)
{
	const char *from = text;
	size_t count = 0, width = widths[column];
	int blanks;

	if (width == 0) {
		return;
	}
	harmless_text(text);
	for (const char *at = text; *at != '\0'; at += measure_character(at)) {
		count++;
	}
	printf("%*s", column == KEY ? 0 : GAP, "");
	if (count > width) {
		for (; count > width - 3; count--) {
			from += measure_character(from);
		}
		fputs("...", stdout);
		count = width;
	}
	blanks = column == USED ? 0 : (int)(width - count);
	printf("%*s%s%*s", columns[column].is_number ? blanks : 0, "", from, columns[column].is_number ? 0 : blanks,
	       "");
}

/* Prints two texts with a blank between them, or a dash if both are empty. */
static void print_pair(const unsigned widths[COLUMNS], enum column column, struct span first, struct span second)
{
	char *text;

	if (first.size + second.size == 0) {
		first = (struct span){"-", 1};
	}
	if (asprintf(&text, "%.*s%s%.*s", SPAN(first), first.size && second.size ? " " : "", SPAN(second)) >= 0) {
		print_cell(widths, column, text);
		free(text);
	}
}

/* Prints numbers, times and the like, and a mark behind them: "failed". */
static void print_word(const unsigned widths[COLUMNS], enum column column, const char *word, const char *mark)
{
	print_pair(widths, column, (struct span){word, strlen(word)}, (struct span){mark, strlen(mark)});
}

static void print_line(const struct listed_result *result, const unsigned widths[COLUMNS])
{
	char number[CONSOLE_NUMBER_BYTES], key[KEY_TEXT_BYTES];
	const struct span none = {NULL, 0};
	struct request request = results_request(result);
	struct span program = request_text(&request, ABOUT_PROGRAM), kernel = request_text(&request, ABOUT_EXPRESSION);

	key_spell(result->key, key);
	print_pair(widths, KEY, (struct span){key, KEY_SHORT}, none);
	/* a default name tells nothing, and the kernel has the room instead */
	print_pair(widths, PROGRAM, is_unnamed(program) && kernel.size ? none : program, kernel);
	print_pair(widths, COMPILER, request_text(&request, ABOUT_TITLE), request_text(&request, ABOUT_RELEASE));
	print_pair(widths, ARCH, request_arch(&request), none);
	print_word(widths, SAVES, console_time(result->cost_ns, number), "");
	print_word(widths, SIZE, console_bytes(result->bytes, number), "");
	print_word(widths, USED, console_span(recency_now() - result->used_ns, number),
	           result->return_code != 0 ? "ago failed" : "ago");
	putchar('\n');
	request_free(&request);
}

static void print_table(const struct list *list)
{
	unsigned widths[COLUMNS];

	plan_columns(widths);
	for (enum column column = 0; column < COLUMNS; column++) {
		print_word(widths, column, columns[column].title, "");
	}
	putchar('\n');
	for (size_t i = 0; i < list->count; i++) {
		print_line(&list->results[i], widths);
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
