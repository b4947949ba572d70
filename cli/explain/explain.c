/* SPDX-License-Identifier: MIT */
/* explain: why something was a miss, was not kept, or was passed through */
#include "cache/tools/inventory.h"
#include "cli/console/commands.h"
#include "cli/console/console.h"
#include "cli/console/key.h"
#include "cli/console/options.h"
#include "cli/explain/explanation.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LAST_MAX 100000

enum form { FORM_WORDS, FORM_JSON };

/* One object where one was asked for, else an array. */
enum number { NUMBER_ONE, NUMBER_SEVERAL };

static void print_json(const struct explanation *list, size_t count, enum number number)
{
	struct json json = json_growing(JSON_BYTES_KEPT, number == NUMBER_SEVERAL ? 3 : 2);

	if (number == NUMBER_SEVERAL) {
		json_begin_array(&json, NULL);
	}
	for (size_t i = 0; i < count; i++) {
		explain_json(&json, &list[i]);
		console_json(&json);
	}
	if (number == NUMBER_SEVERAL) {
		json_end(&json);
	}
	console_json_end(&json);
}

static int explain(const struct settings *settings, const struct journal *journal, const struct journal_record *records,
                   size_t count, enum number number, enum form form)
{
	char refusal[CONSOLE_REFUSAL_BYTES];
	struct explanation *list;
	int error = explanations_make(settings, journal, records, count, &list);

	if (error != 0) {
		console_error("%s: %s", settings->directory, console_refusal(settings, error, refusal));
		return EXIT_TROUBLE;
	}
	if (form == FORM_JSON) {
		print_json(list, count, number);
	} else {
		for (size_t i = 0; i < count; i++) {
			fputs(i ? "\n" : "", stdout);
			explain_in_words(&list[i]);
		}
	}
	explanations_free(list, count);
	return EXIT_DONE;
}

/* The newest first. */
static int explain_last(const struct settings *settings, const struct journal *journal, size_t last, enum form form)
{
	size_t count = last < journal->count ? last : journal->count;
	struct journal_record *records = calloc(count + 1, sizeof(*records));
	int status;

	if (count == 0) {
		console_error("%s: no miss and nothing that was passed through is noted there; 'nvrtccache doctor "
		              "-- PROGRAM' says whether a program is reached",
		              settings->directory);
		free(records);
		return EXIT_TROUBLE;
	}
	if (!records) {
		console_error("%s", strerror(ENOMEM));
		return EXIT_TROUBLE;
	}
	for (size_t i = 0; i < count; i++) {
		records[i] = journal->records[journal->count - 1 - i];
	}
	status = explain(settings, journal, records, count, last == 1 ? NUMBER_ONE : NUMBER_SEVERAL, form);
	free(records);
	return status;
}

static bool begins_with(const struct journal_record *record, const char *digits)
{
	char key[KEY_TEXT_BYTES];

	if (!record->has_key) {
		return false;
	}
	key_spell(record->key, key);
	return strncasecmp(key, digits, strlen(digits)) == 0;
}

/* 0: none has it, so that the cache is to be asked; -EEXIST: several keys begin so, which was said. */
static int find_record(const struct journal *journal, const char *digits, const struct journal_record **ret_record)
{
	const struct journal_record *found = NULL;

	for (size_t i = 0; i < journal->count; i++) {
		const struct journal_record *record = &journal->records[i];

		if (!begins_with(record, digits)) {
			continue;
		}
		if (found && memcmp(found->key, record->key, ENTRY_KEY_BYTES) != 0) {
			char one[KEY_TEXT_BYTES], other[KEY_TEXT_BYTES];
			int shown = KEY_SHORT; /* as many as tell them apart */

			key_spell(found->key, one);
			key_spell(record->key, other);
			while (strncmp(one, other, (size_t)shown) == 0) {
				shown++;
			}
			console_error("several results begin with %s; more digits tell which: %.*s %.*s", digits, shown,
			              one, shown, other);
			return -EEXIST;
		}
		found = record;
	}
	*ret_record = found;
	return 0;
}

/* The newest result of a key as a record of when it was stored; its about is a copy. */
static int take_result(void *context, const struct entry *entry)
{
	struct journal_record *record = context;
	const struct entry_info *info = entry_info(entry);
	struct section about;

	free((void *)record->about.bytes);
	*record = (struct journal_record){
	    .when_ns = info->created_ns,
	    .cost_ns = info->cost_ns,
	    .took_ns = info->cost_ns,
	    .outcome = JOURNAL_STORED,
	    .has_key = true,
	};
	memcpy(record->key, info->key, sizeof(record->key));
	record->has_failed = entry_section(entry, ABOUT_CODE_SECTION, &about) && about.value != 0;
	if (entry_section(entry, ABOUT_SECTION, &about)) {
		char *copy = malloc(about.size + 1);

		if (!copy) {
			return -ENOMEM;
		}
		memcpy(copy, about.bytes, about.size);
		record->about = (struct journal_text){copy, about.size};
	}
	return 0;
}

static int explain_result(const struct settings *settings, const struct journal *journal, const char *digits,
                          enum form form)
{
	const struct directory directory = {.path = settings->directory, .shared = settings->shared};
	struct journal_record record = {.outcome = JOURNAL_STORED};
	struct inventory_record found;
	int status = key_find(settings, digits, &found);
	int error;

	if (status != EXIT_DONE) {
		return status;
	}
	error = inventory_read(&directory, found.key, take_result, &record);
	if (error != 0 && !record.has_key) {
		console_error("%s: %s", settings->directory,
		              error == -EBADMSG ? "that result is damaged" : console_reason(error));
		status = EXIT_TROUBLE;
	} else {
		status = explain(settings, journal, &record, 1, NUMBER_ONE, form);
	}
	free((void *)record.about.bytes);
	return status;
}

static int explain_key(const struct settings *settings, const struct journal *journal, const char *digits,
                       enum form form)
{
	const struct journal_record *record = NULL;

	if (*digits != '\0' && find_record(journal, digits, &record) != 0) {
		return EXIT_TROUBLE;
	}
	return record ? explain(settings, journal, record, 1, NUMBER_ONE, form)
	              : explain_result(settings, journal, digits, form);
}

struct asked {
	const char *key; /* NULL: the last ones */
	size_t last;
	enum form form;
};

static int answer(const struct settings *settings, const struct asked *asked)
{
	const struct directory directory = {.path = settings->directory, .shared = settings->shared};
	char refusal[CONSOLE_REFUSAL_BYTES];
	struct journal journal;
	int status;
	int error = journal_read(&directory, &journal);

	if (error != 0) {
		console_error("%s: %s", settings->directory, console_refusal(settings, error, refusal));
		return EXIT_TROUBLE;
	}
	status = asked->key ? explain_key(settings, &journal, asked->key, asked->form)
	                    : explain_last(settings, &journal, asked->last, asked->form);
	journal_free(&journal);
	return status;
}

static bool read_number(const char *text, size_t *ret_number)
{
	char *end = NULL;
	unsigned long number = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;

	if (number == 0 || number > LAST_MAX || *end != '\0') {
		console_error("bad number '%s'; how many of the last ones: 1 to %d", text, LAST_MAX);
		return false;
	}
	*ret_number = number;
	return true;
}

/* False: it was said what is wrong. */
static bool read_operands(int count, char **operands, bool last, struct asked *asked)
{
	if (count > 1) {
		console_error("explain takes one %s: '%s'", last ? "number" : "key", operands[1]);
		return false;
	}
	asked->last = 1;
	if (last || count == 0) {
		return count == 0 || read_number(operands[0], &asked->last);
	}
	asked->key = operands[0];
	return true;
}

/* --last=N */
static bool read_joined(int count, char **operands, const char *number, struct asked *asked)
{
	if (count > 0) {
		console_error("explain takes one number: '%s'", operands[0]);
		return false;
	}
	return read_number(number, &asked->last);
}

int command_explain(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'},
	                                        {"json", no_argument, NULL, 'j'},
	                                        {"last", optional_argument, NULL, 'l'},
	                                        {NULL, 0, NULL, 0}};
	struct asked asked = {.form = FORM_WORDS};
	struct settings settings;
	const char *number = NULL; /* of the last ones, where it stands in the option's own word */
	bool last = false;
	int option, status;

	while ((option = options_getopt(argc, argv, "hjl::", options)) != -1) {
		switch (option) {
		case 'h':
			options_help("explain");
			return EXIT_DONE;
		case 'j':
			asked.form = FORM_JSON;
			break;
		case 'l':
			last = true;
			number = optarg;
			break;
		default:
			return options_usage("explain");
		}
	}
	if (!(number ? read_joined(argc - optind, argv + optind, number, &asked)
	             : read_operands(argc - optind, argv + optind, last, &asked))) {
		return options_usage("explain");
	}
	if (!console_settings(&settings)) {
		return EXIT_TROUBLE;
	}
	status = console_directory(&settings) ? answer(&settings, &asked) : EXIT_TROUBLE;
	settings_free(&settings);
	return status;
}
