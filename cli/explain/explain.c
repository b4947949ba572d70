/* SPDX-License-Identifier: MIT */
/*
 * explain: prints why a compilation was a miss, was not cached, or was bypassed
 *
 * The journal has a record of each such call, with the about section of its request. explanation.c finds the cause, and
 * this file prints it as text or as JSON. For a key without a record, its newest entry is explained as if it had just
 * been stored.
 */
#include "cache/agent.h"
#include "cache/tools/inventory.h"
#include "cli/console/console.h"
#include "cli/console/key.h"
#include "cli/console/verb.h"
#include "cli/explain/explanation.h"
#include "keygen/dependencies.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define LAST_MAX          100000
#define WHEN_BYTES        32
#define WHAT_WIDTH        40
#define DIFFERENCES_SHOWN 20

static struct {
	bool json;
	const char *last; /* "": --last without a number, which means 1; NULL: not given */
} asked;

static struct span span_of_text(const struct journal_text *text)
{
	return (struct span){text->bytes, text->size};
}

/*
 * Finds the two directories in a detail "bound to A, and now it is B", which keygen/dependencies.c writes for a
 * path-dependent entry. Returns false if the entry is stale for another reason.
 */
static bool split_moved(const struct explanation *explanation, struct span *ret_now, struct span *ret_was)
{
	const size_t size = strlen(DEPENDENCIES_NOW);
	struct span was;
	const char *middle;

	if (!span_behind(span_of_text(&explanation->record.detail), DEPENDENCIES_BOUND, &was)) {
		return false;
	}
	middle = memmem(was.bytes, was.size, DEPENDENCIES_NOW, size);
	if (!middle) {
		return false;
	}
	*ret_was = (struct span){was.bytes, (size_t)(middle - (const char *)was.bytes)};
	*ret_now = (struct span){middle + size, was.size - ret_was->size - size};
	return true;
}

/* ---- in words ---- */

/* Writes the local time, without the date if it was less than 20 hours ago. */
static const char *spell_when(uint64_t when_ns, char ret_text[WHEN_BYTES])
{
	time_t when = (time_t)(when_ns / 1000000000), now = time(NULL);
	/* 20 hours and not 24, so that a time of yesterday cannot be mistaken for one of today */
	bool is_recent = when <= now && now - when < 20 * 3600;
	struct tm parts = {0};

	if (!localtime_r(&when, &parts) ||
	    strftime(ret_text, WHEN_BYTES, is_recent ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &parts) == 0) {
		snprintf(ret_text, WHEN_BYTES, "%" PRIu64 " s", when_ns / 1000000000);
	}
	return ret_text;
}

/* Returns how much older the closest entry is, in the largest unit of which there are at least two. */
static const char *spell_distance(const struct explanation *explanation, char ret_text[WHEN_BYTES])
{
	static const struct {
		uint64_t seconds;
		const char *unit;
	} units[] = {{86400, "days"}, {3600, "h"}, {60, "min"}, {1, "s"}};
	uint64_t when = explanation->record.when_ns, before = explanation->closest.created_ns;
	uint64_t seconds = when > before ? (when - before) / 1000000000 : 0;
	size_t i = 0;

	while (units[i].seconds > 1 && seconds < 2 * units[i].seconds) {
		i++;
	}
	snprintf(ret_text, WHEN_BYTES, "%" PRIu64 " %s earlier", seconds / units[i].seconds, units[i].unit);
	return ret_text;
}

/* Prints the outcome in the first line. A bypassed call has neither key nor cost, because it was not looked up. */
static void print_outcome(const struct journal_record *record)
{
	char cost[CONSOLE_NUMBER_BYTES], key[KEY_TEXT_BYTES];

	console_time(record->cost_ns, cost);
	if (record->outcome == JOURNAL_STORED) {
		key_spell(record->key, key);
		printf("MISS, compiled in %s%s, stored as %.*s\n", cost, record->has_failed ? ", a failure" : "",
		       KEY_SHORT, key);
		return;
	}
	if (record->outcome == JOURNAL_NOT_KEPT) {
		printf("MISS, compiled in %s, ", cost);
	}
	fputs(record->outcome == JOURNAL_NOT_KEPT ? "NOT CACHED: " : "BYPASSED: ", stdout);
	for (size_t i = 0; i < record->reason.size; i++) { /* too_new -> too new */
		char byte = record->reason.bytes[i];

		/* other bytes are replaced, because other users can write to the journal of a shared cache */
		putchar(byte == '_' ? ' ' : byte >= 'a' && byte <= 'z' ? byte : '?');
	}
	putchar('\n');
}

/* Prints the first line. A program without a name is shown as "?". An entry without a record has no process id. */
static void print_head(const struct explanation *explanation)
{
	const struct journal_record *record = &explanation->record;
	struct span program = request_text(&explanation->request, ABOUT_PROGRAM);
	char when[WHEN_BYTES];

	console_print(stdout, "%.*s", SPAN(program));
	fputs(program.size ? " (" : "? (", stdout);
	if (record->pid != 0) {
		printf("pid %" PRIu32 ", ", record->pid);
	}
	printf("%s)  ", spell_when(record->when_ns, when));
	print_outcome(record);
}

/* Prints the file or variable that the reason is about, and what the reason means. */
static void print_why(const struct journal_record *record)
{
	enum counter reason = reasons_find(span_of_text(&record->reason));

	/* the detail of a stale entry is printed with its differences */
	if (record->detail.size > 0 && !record->is_stale) {
		console_print(stdout, "  %.*s.", SPAN(span_of_text(&record->detail)));
		putchar('\n');
	}
	if (record->refusal.size > 0) {
		console_print(stdout, "  %.*s.", SPAN(span_of_text(&record->refusal)));
		putchar('\n');
	}
	if (reason != COUNTER_NONE) {
		printf("  %s\n", reasons_words(reason));
	}
	if (record->agent != AGENT_FETCH_NOT_ASKED) {
		printf("  The node's agent %s.\n", agent_outcome_words((enum agent_outcome)record->agent));
	}
}

static void print_differences(const struct explanation *explanation)
{
	const struct differences *differences = &explanation->differences;
	size_t shown = differences->count < DIFFERENCES_SHOWN ? differences->count : DIFFERENCES_SHOWN;
	struct difference_words words;
	int width = 0;

	for (size_t i = 0; i < shown; i++) {
		int size;

		differences_spell(&differences->list[i], &explanation->request, &words);
		/* the texts are written twice: here for the width of the column, below to be printed */
		size = (int)strlen(words.what);
		width = size > width && size <= WHAT_WIDTH ? size : width;
	}
	for (size_t i = 0; i < shown; i++) {
		differences_spell(&differences->list[i], &explanation->request, &words);
		console_print(stdout, "  %-*s  %s", width, words.what, words.words);
		putchar('\n');
	}
	/* two unrelated command lines may differ in hundreds of options */
	if (differences->count > shown) {
		printf("  and %zu more differences; --json has them all\n", differences->count - shown);
	}
}

/* Returns whether no difference is of one of these kinds. */
static bool has_none(const struct differences *differences, const enum difference_kind *kinds, size_t count)
{
	for (size_t i = 0; i < differences->count; i++) {
		for (size_t j = 0; j < count; j++) {
			if (differences->list[i].kind == kinds[j]) {
				return false;
			}
		}
	}
	return true;
}

#define HAS_NONE(differences, ...)                                           \
	has_none((differences), (const enum difference_kind[]){__VA_ARGS__}, \
	         sizeof((const enum difference_kind[]){__VA_ARGS__}) / sizeof(enum difference_kind))

static bool has_headers(const struct request *request)
{
	struct span rest;

	for (size_t i = 0; i < request->counts[ABOUT_PART]; i++) {
		if (span_behind(span_of(&request->facts[ABOUT_PART][i]), "header ", &rest)) {
			return true;
		}
	}
	return false;
}

static void print_same(bool is_same, struct span what, const char **separator)
{
	if (is_same) {
		console_print(stdout, "%s%.*s", *separator, SPAN(what));
		*separator = ", ";
	}
}

/*
 * Prints " Same source, NVRTC, headers.", because users suspect these parts first. Headers and options are left out if
 * the request has none, or if its record is cut, because the missing ones are unknown.
 */
static void print_sameness(const struct explanation *explanation)
{
	const struct request *request = &explanation->request;
	const struct differences *differences = &explanation->differences;
	const char *text = request_part(request, "source") ? "source" : "input", *separator = " Same ";

	print_same(
	    HAS_NONE(differences, DIFFERENCE_SOURCE, DIFFERENCE_INPUT, DIFFERENCE_EARLIER, DIFFERENCE_EARLIER_INPUTS),
	    (struct span){text, strlen(text)}, &separator);
	print_same(HAS_NONE(differences, DIFFERENCE_COMPILER, DIFFERENCE_BUILD), request_text(request, ABOUT_TITLE),
	           &separator);
	print_same(has_headers(request) && !request->is_cut &&
	               HAS_NONE(differences, DIFFERENCE_HEADER, DIFFERENCE_HEADER_ORDER),
	           (struct span){"headers", 7}, &separator);
	print_same(request->option_count > 0 && !request->is_cut &&
	               HAS_NONE(differences, DIFFERENCE_OPTION, DIFFERENCE_OPTION_ORDER),
	           (struct span){"options", 7}, &separator);
	puts(*separator == ',' ? "." : "");
}

static void print_switch(void)
{
	puts("  NVRTCCACHE_SLOPPINESS=debug_paths lets it hit where that path is in a log or debug information only");
}

/* Prints the closest entry. It may have been removed; then its request comes from the journal. */
static void print_closest(const struct explanation *explanation)
{
	static const char *const places[] = {
	    [CLOSEST_NOWHERE] = "",
	    [CLOSEST_CACHED] = "",
	    [CLOSEST_BELOW] = ", in a directory of NVRTCCACHE_LOWER",
	    [CLOSEST_GONE] = ", and gone since",
	};
	char key[KEY_TEXT_BYTES], distance[WHEN_BYTES];

	key_spell(explanation->closest.key, key);
	printf("closest cached entry: %.*s, %s%s.", KEY_SHORT, key, spell_distance(explanation, distance),
	       places[explanation->closest.place]);
	print_sameness(explanation);
	print_differences(explanation);
	if (explanation->differences.count == 0) {
		puts("No difference was recorded.");
	}
	if (differences_are_paths(&explanation->differences, &explanation->request)) {
		print_switch();
	}
	if (explanation->record.is_cut) {
		puts("The record does not hold the whole request, so there may be more differences.");
	}
}

/* Prints why an entry with the same key was not used: the record's detail names the dependency that changed. */
static void print_stale(const struct explanation *explanation)
{
	struct span now, was;
	char distance[WHEN_BYTES];

	fputs("the same request was cached before", stdout);
	if (explanation->closest.has_same_key) {
		printf(", %s", spell_distance(explanation, distance));
	}
	puts(", and that entry is not valid here:");
	if (split_moved(explanation, &now, &was)) {
		console_print(stdout, "  bound to %.*s, a path that is in its artifacts; now it is %.*s", SPAN(was),
		              SPAN(now));
		putchar('\n');
		print_switch();
		return;
	}
	console_print(stdout, "  %.*s", SPAN(span_of_text(&explanation->record.detail)));
	putchar('\n');
	print_differences(explanation);
}

static void print_words(const struct explanation *explanation)
{
	char when[WHEN_BYTES];

	print_head(explanation);
	print_why(&explanation->record);
	switch (explanation->cause) {
	case CAUSE_STALE:
		print_stale(explanation);
		break;
	case CAUSE_GONE:
		printf("cached at %s, and gone since (evicted, cleared, damaged, or no longer trusted)\n",
		       spell_when(explanation->stored_ns, when));
		break;
	case CAUSE_DIFFERENT:
		print_closest(explanation);
		break;
	case CAUSE_FIRST:
		puts(explanation->record.is_cut
		         ? "the record does not hold the whole request, so it cannot be compared"
		         : "first time: no entry of this program or this source was cached before");
		break;
	case CAUSE_UNKNOWN:
		puts("the record does not say what was requested");
		break;
	case CAUSE_BROUGHT:
		puts("the same request has an older entry now: it was imported after this call, or "
		     "is in "
		     "a directory that this process did not search or could not read");
		break;
	case CAUSE_PASSED:
	case CAUSE_UNFIT:
		break;
	}
}

/* ---- as JSON ---- */

static void add_span(struct json *json, const char *name, struct span span)
{
	if (span.bytes) {
		json_text(json, name, span.bytes, span.size);
	} else {
		json_null(json, name);
	}
}

/* Adds null if the text is empty. */
static void add_text(struct json *json, const char *name, struct span text)
{
	add_span(json, name, text.size ? text : (struct span){NULL, 0});
}

static void add_key(struct json *json, const char *name, const uint8_t *key)
{
	char text[KEY_TEXT_BYTES];

	if (key) {
		key_spell(key, text);
	}
	json_string(json, name, key ? text : NULL);
}

static void add_difference(struct json *json, struct span what, struct span now, struct span was, struct span words)
{
	json_begin_object(json, NULL);
	add_span(json, "what", what);
	add_span(json, "now", now);
	add_span(json, "was", was);
	add_text(json, "words", words);
	json_end(json);
}

/* Adds the detail "header changed: inc/vec.h" as "what": "header changed", "now": "inc/vec.h". */
static void add_stale(struct json *json, const struct explanation *explanation)
{
	struct span detail = span_of_text(&explanation->record.detail), what = detail, now = {NULL, 0}, was = {NULL, 0};
	const char *colon = detail.size ? memmem(detail.bytes, detail.size, ": ", 2) : NULL;

	if (split_moved(explanation, &now, &was)) {
		what = (struct span){differences_name(DIFFERENCE_PLACE), strlen(differences_name(DIFFERENCE_PLACE))};
	} else if (colon) {
		what.size = (size_t)(colon - (const char *)detail.bytes);
		now = (struct span){colon + 2, detail.size - what.size - 2};
	}
	add_difference(json, what, now, was, detail);
}

static void add_differences(struct json *json, const struct explanation *explanation)
{
	struct span now, was;

	json_begin_array(json, "differences");
	if (explanation->cause == CAUSE_STALE) {
		add_stale(json, explanation);
	}
	for (size_t i = 0; i < explanation->differences.count && !split_moved(explanation, &now, &was); i++) {
		struct difference_words words;

		differences_spell(&explanation->differences.list[i], &explanation->request, &words);
		add_difference(json, (struct span){words.what, strlen(words.what)},
		               (struct span){words.knows_now ? words.now : NULL, strlen(words.now)},
		               (struct span){words.knows_was ? words.was : NULL, strlen(words.was)},
		               (struct span){words.words, strlen(words.words)});
	}
	json_end(json);
}

static void add_explanation(struct json *json, const struct explanation *explanation)
{
	/* these names differ from the printed words and must not change, because scripts compare them */
	static const char *const causes[] = {
	    [CAUSE_UNKNOWN] = "unknown", [CAUSE_BROUGHT] = "brought",     [CAUSE_PASSED] = "bypassed",
	    [CAUSE_STALE] = "stale",     [CAUSE_UNFIT] = "unfit",         [CAUSE_GONE] = "gone",
	    [CAUSE_FIRST] = "first",     [CAUSE_DIFFERENT] = "different",
	};
	static const char *const places[] = {[CLOSEST_NOWHERE] = NULL,
	                                     [CLOSEST_CACHED] = "kept",
	                                     [CLOSEST_BELOW] = "kept_below",
	                                     [CLOSEST_GONE] = "gone"};
	static const char *const outcomes[] = {
	    [JOURNAL_STORED] = "stored", [JOURNAL_NOT_KEPT] = "not_kept", [JOURNAL_PASSED] = "bypassed"};
	const struct journal_record *record = &explanation->record;
	const struct closest *closest = &explanation->closest;
	enum counter reason = reasons_find(span_of_text(&record->reason));

	json_begin_object(json, NULL);
	json_string(json, "outcome", outcomes[record->outcome]);
	add_span(json, "program", request_text(&explanation->request, ABOUT_PROGRAM));
	/* a miss has no reason for a refusal or bypass, so its cause is written instead */
	json_string(json, "reason", reason != COUNTER_NONE ? counter_name(reason) : causes[explanation->cause]);
	json_string(json, "cause", causes[explanation->cause]);
	json_bool(json, "cut", record->is_cut);
	json_bool(json, "failed", record->has_failed);
	json_string(json, "advice", reason != COUNTER_NONE ? reasons_words(reason) : NULL);
	add_text(json, "detail", span_of_text(&record->detail));
	add_text(json, "refusal", span_of_text(&record->refusal));
	json_string(json, "agent",
	            record->agent != AGENT_FETCH_NOT_ASKED ? agent_outcome_name((enum agent_outcome)record->agent)
	                                                   : NULL);
	add_key(json, "key", record->has_key ? record->key : NULL);
	add_key(json, "nearest", closest->place != CLOSEST_NOWHERE ? closest->key : NULL);
	json_string(json, "nearest_is", places[closest->place]);
	add_span(json, "compiler", request_text(&explanation->request, ABOUT_COMPILER));
	add_span(json, "version", request_text(&explanation->request, ABOUT_RELEASE));
	json_number(json, "pid", record->pid);
	json_thousandths(json, "time", (int64_t)(record->when_ns / 1000000));
	json_number(json, "cost_ns", record->cost_ns);
	add_differences(json, explanation);
	json_end(json);
}

/* ---- the verb ---- */

/* Whether the JSON is one object or an array. */
enum number { NUMBER_ONE, NUMBER_SEVERAL };

static void print_json(const struct explanation *list, size_t count, enum number number)
{
	struct json json = json_growing(JSON_BYTES_KEPT, number == NUMBER_SEVERAL ? 3 : 2);

	if (number == NUMBER_SEVERAL) {
		json_begin_array(&json, NULL);
	}
	for (size_t i = 0; i < count; i++) {
		add_explanation(&json, &list[i]);
		console_json(&json);
	}
	if (number == NUMBER_SEVERAL) {
		json_end(&json);
	}
	console_json_end(&json);
}

static int explain(const struct settings *settings, const struct journal *journal, const struct journal_record *records,
                   size_t count, enum number number)
{
	struct explanation *list;
	int error = explanations_make(settings, journal, records, count, &list);

	if (error != 0) {
		return console_refuse(settings, error);
	}
	if (asked.json) {
		print_json(list, count, number);
	} else {
		for (size_t i = 0; i < count; i++) {
			fputs(i ? "\n" : "", stdout);
			print_words(&list[i]);
		}
	}
	explanations_free(list, count);
	return EXIT_DONE;
}

/* Explains the last records, newest first. */
static int explain_last(const struct settings *settings, const struct journal *journal, size_t last)
{
	size_t count = last < journal->count ? last : journal->count;
	struct journal_record *records = calloc(count + 1, sizeof(*records));
	int status = EXIT_TROUBLE;

	if (count == 0) {
		console_error(
		    "%s: no miss and no bypass is recorded; 'nvrtccache doctor -- PROGRAM' says whether a program "
		    "uses the cache",
		    settings->directory);
	} else if (!records) {
		console_error("%s", strerror(ENOMEM));
	} else {
		for (size_t i = 0; i < count; i++) {
			/* the journal has the oldest record first */
			records[i] = journal->records[journal->count - 1 - i];
		}
		status = explain(settings, journal, records, count, last == 1 ? NUMBER_ONE : NUMBER_SEVERAL);
	}
	free(records);
	return status;
}

/* Returns whether the record has a key that begins with these digits, of either case. */
static bool begins_with(const struct journal_record *record, const char *digits)
{
	char key[KEY_TEXT_BYTES];

	key_spell(record->key, key);
	return record->has_key && strncasecmp(key, digits, strlen(digits)) == 0;
}

/*
 * Finds the newest record whose key begins with `digits`; *ret_record is NULL if there is none. Returns EXIT_TROUBLE
 * after a message if several keys of the journal begin with them.
 */
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
			int shown = KEY_SHORT; /* more digits if the two keys begin alike */

			key_spell(found->key, one);
			key_spell(record->key, other);
			while (strncmp(one, other, (size_t)shown) == 0) {
				shown++;
			}
			console_error("%s: ambiguous key: several keys begin with it: %.*s %.*s", digits, shown, one,
			              shown, other);
			return EXIT_TROUBLE;
		}
		found = record;
	}
	*ret_record = found;
	return EXIT_DONE;
}

/* Explains the newest entry of a key without a record in the journal, as if it had just been stored. */
static int explain_entry(const struct settings *settings, const struct journal *journal, const char *digits)
{
	struct journal_record record = {.outcome = JOURNAL_STORED, .has_key = true};
	struct inventory_record found;
	struct key_entries entries;
	const struct entry_info *info;
	struct section section;
	int status = key_find(settings, digits, &found);

	if (status != EXIT_DONE) {
		return status;
	}
	status = key_read(settings, found.key, &entries);
	if (entries.count > 0) {
		info = entry_info(entries.list[0]);
		record.when_ns = info->created_ns;
		record.cost_ns = record.took_ns = info->cost_ns;
		memcpy(record.key, info->key, sizeof(record.key));
		/* a cached failure has a return code other than 0 */
		record.has_failed = entry_section(entries.list[0], ABOUT_CODE_SECTION, &section) && section.value != 0;
		if (entry_section(entries.list[0], ABOUT_SECTION, &section)) {
			record.about = (struct journal_text){section.bytes, section.size};
		}
		status = explain(settings, journal, &record, 1, NUMBER_ONE);
	}
	key_release(&entries);
	return status;
}

static int explain_key(const struct settings *settings, const struct journal *journal, const char *digits)
{
	const struct journal_record *record = NULL;

	if (find_record(journal, digits, &record) != EXIT_DONE) {
		return EXIT_TROUBLE;
	}
	return record ? explain(settings, journal, record, 1, NUMBER_ONE) : explain_entry(settings, journal, digits);
}

/* Returns false after a message if the options are wrong. */
static bool read_options(char **operands, size_t *ret_last)
{
	char *end = NULL;

	*ret_last = 1;
	if (asked.last && operands[0]) {
		console_error("explain: --last and KEY exclude each other");
		return false;
	}
	if (asked.last && *asked.last) {
		/* strtoul() alone would accept a sign or a blank before the number */
		*ret_last = strspn(asked.last, "0123456789") > 0 ? strtoul(asked.last, &end, 10) : 0;
		if (*ret_last == 0 || *ret_last > LAST_MAX || *end != '\0') {
			console_error("explain: --last: bad number '%s': it takes 1 to %d", asked.last, LAST_MAX);
			return false;
		}
	}
	return true;
}

static int run_explain(struct settings *settings, char **operands)
{
	const struct directory directory = {.path = settings->directory, .shared = settings->shared};
	struct journal journal;
	size_t last;
	int error, status;

	if (!read_options(operands, &last)) {
		return verb_usage(&verb_explain);
	}
	error = journal_read(&directory, &journal);
	if (error != 0) {
		return console_refuse(settings, error);
	}
	status = operands[0] ? explain_key(settings, &journal, operands[0]) : explain_last(settings, &journal, last);
	journal_free(&journal);
	return status;
}

const struct verb verb_explain = {
    .name = "explain",
    .arguments = "[--json] [--last [N] | KEY]",
    .summary = "explain why a compilation was not served from the cache",
    .more =
        "KEY is a key or its beginning, as 'nvrtccache ls' shows it. Without arguments: --last. Only the most recent\n"
        "misses and bypassed calls are recorded; hits are not.",
    .example = "nvrtccache explain --last",
    .options =
        (const struct verb_option[]){
            {"json", 'j', NULL, "print JSON", &asked.json, NULL},
            {"last", 'l', "[=N]", "explain the last call (default), or the last N, newest first", NULL, &asked.last},
            {NULL, 0, NULL, NULL, NULL, NULL}},
    .needs = VERB_DIRECTORY,
    .operand = "KEY",
    .most = 1,
    .run = run_explain,
};
