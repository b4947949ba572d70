/* SPDX-License-Identifier: MIT */
/*
 * explain: prints why a compilation was a miss, was not cached, or was bypassed
 *
 * Each such call is recorded (cache/events.h), with the about section of its request. Each request is compared with
 * those whose results were stored before, as far as the record has them: the newest thousand or more. No entry is read,
 * so the result does not change when one is evicted. The cause is found by several tests in order, first those of the
 * record itself, then those of what was recorded before. Without memory, requests or differences are missing.
 */
#include "cache/digits.h"
#include "cli/console/console.h"
#include "cli/console/entries.h"
#include "cli/console/verb.h"
#include "cli/explain/explanation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct {
	bool json, last;
	uint64_t count; /* the operand behind `last`; the JSON of more than one is an array */
} asked = {.count = 1};

/* ---- the cause ---- */

struct history {
	const struct events *events;
	struct request *requests; /* of each record; without facts if the record does not contain it */
};

static int read_history(const struct events *events, struct history *ret_history)
{
	struct request *requests = calloc(events->count + 1, sizeof(*requests));

	if (!requests) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < events->count; i++) {
		const struct events_record *record = &events->records[i];

		const struct events_text *about = &record->parts[EVENTS_ABOUT];

		if (request_read(about->bytes, about->size, &requests[i]) == 0) {
			requests[i].is_cut = record->is_cut;
		}
	}
	*ret_history = (struct history){events, requests};
	return 0;
}

static void free_history(struct history *history)
{
	for (size_t i = 0; i < history->events->count; i++) {
		request_free(&history->requests[i]);
	}
	free(history->requests);
}

/* Returns whether the other call had ended when this one began, so that this one could have found its entry. */
static bool is_before(const struct events_record *other, const struct events_record *record)
{
	return other->when_ns + record->took_ns < record->when_ns;
}

/* Returns whether both calls asked for the same. Requests without a key are compared by what is recorded of them. */
static bool is_same_request(const struct events_record *record, const struct events_record *other)
{
	if (record->has_key || other->has_key) {
		return record->has_key && other->has_key && memcmp(record->key, other->key, ENTRY_KEY_BYTES) == 0;
	}
	return record->parts[EVENTS_ABOUT].size > 0 &&
	       span_equal(span_of_record(record, EVENTS_ABOUT), span_of_record(other, EVENTS_ABOUT));
}

/* Returns the last miss before the record that had the same request; NULL: there is none. */
static const struct events_record *find_earlier(const struct events *events, const struct events_record *record)
{
	const struct events_record *found = NULL;

	for (size_t i = 0; i < events->count; i++) {
		const struct events_record *other = &events->records[i];

		if (other->kind != EVENTS_BYPASSED && is_before(other, record) &&
		    (!found || other->when_ns > found->when_ns) && is_same_request(record, other)) {
			found = other;
		}
	}
	return found;
}

/* Finds the stored request that differs least; of several, the newest. */
static void find_closest(const struct history *history, struct explanation *explanation)
{
	for (size_t i = 0; i < history->events->count; i++) {
		const struct events_record *other = &history->events->records[i];
		struct differences differences;

		/* a cut record is not compared, because options and headers are missing in it */
		if (other->kind != EVENTS_STORED || other->is_cut || !is_before(other, explanation->record) ||
		    !differences_related(explanation->request, &history->requests[i])) {
			continue;
		}
		differences_find(explanation->request, &history->requests[i], &differences);
		if (!explanation->compared || differences.weight <= explanation->differences.weight) {
			differences_free(&explanation->differences);
			explanation->compared = other;
			explanation->differences = differences;
		} else {
			differences_free(&differences);
		}
	}
}

/* Also sets the call that the explained one is compared with. */
static enum cause find_cause(const struct history *history, struct explanation *explanation)
{
	const struct events_record *record = explanation->record;

	if (record->kind == EVENTS_BYPASSED) {
		return CAUSE_PASSED;
	}
	if (record->why == EVENTS_WHY_UNFIT) {
		return CAUSE_UNFIT;
	}
	explanation->compared = find_earlier(history->events, record);
	if (record->why == EVENTS_WHY_STALE) {
		return CAUSE_STALE;
	}
	if (explanation->compared) {
		return explanation->compared->kind == EVENTS_STORED ? CAUSE_GONE : CAUSE_REFUSED;
	}
	if (explanation->request->counts[ABOUT_COMPILER] == 0) {
		return CAUSE_UNKNOWN;
	}
	find_closest(history, explanation);
	return explanation->compared ? CAUSE_DIFFERENT : CAUSE_FIRST;
}

/* ---- as JSON ---- */

static void add_key(struct json *json, const char *name, const uint8_t *key)
{
	char text[KEY_TEXT_BYTES];

	json_string(json, name, key ? key_spell(key, text) : NULL);
}

/* A stale entry has no differences in its request: `detail` names what changed. */
static void add_differences(struct json *json, const struct explanation *explanation)
{
	json_begin_array(json, "differences");
	for (size_t i = 0; i < explanation->differences.count; i++) {
		const struct difference *difference = &explanation->differences.list[i];
		struct difference_words words;

		differences_spell(difference, &words);
		json_begin_object(json, NULL);
		json_string(json, "what", words.what);
		span_json(json, "now", difference->now);
		span_json(json, "was", difference->was);
		json_string(json, "words", words.words);
		json_end(json);
	}
	json_end(json);
}

static void add_explanation(struct json *json, const struct explanation *explanation)
{
	/* these names differ from the printed words and must not change, because scripts compare them */
	static const char *const causes[] = {
	    [CAUSE_UNKNOWN] = "unknown", [CAUSE_PASSED] = "bypassed",     [CAUSE_STALE] = "stale",
	    [CAUSE_UNFIT] = "unfit",     [CAUSE_GONE] = "gone",           [CAUSE_REFUSED] = "refused",
	    [CAUSE_FIRST] = "first",     [CAUSE_DIFFERENT] = "different",
	};
	static const char *const outcomes[] = {
	    [EVENTS_STORED] = "stored", [EVENTS_NOT_KEPT] = "not_kept", [EVENTS_BYPASSED] = "bypassed"};
	const struct events_record *record = explanation->record, *compared = explanation->compared;
	const char *cause = causes[explanation->cause];
	bool is_refused = explanation->cause == CAUSE_REFUSED;

	json_begin_object(json, NULL);
	json_string(json, "outcome", outcomes[record->kind]);
	span_json(json, "program", request_text(explanation->request, ABOUT_PROGRAM));
	/* a miss has no reason for a refusal or bypass, so its cause is written instead */
	json_string(json, "reason", record->reason != COUNTER_NONE ? counter_name(record->reason) : cause);
	json_string(json, "cause", cause);
	json_bool(json, "cut", record->is_cut);
	span_json_filled(json, "detail", span_of_record(record, EVENTS_DETAIL));
	span_json_filled(json, "refusal", span_of_record(record, EVENTS_REFUSAL));
	json_string(json, "before", is_refused ? counter_name(compared->reason) : NULL);
	add_key(json, "key", record->has_key ? record->key : NULL);
	add_key(json, "nearest", compared && compared->has_key ? compared->key : NULL);
	json_thousandths(json, "time", record->when_ns / 1000000);
	add_differences(json, explanation);
	json_end(json);
}

/* ---- the verb ---- */

static void explain_record(const struct history *history, size_t index, struct json *json)
{
	struct explanation explanation = {.record = &history->events->records[index],
	                                  .request = &history->requests[index]};

	explanation.cause = find_cause(history, &explanation);
	if (asked.json) {
		add_explanation(json, &explanation);
		console_json(json);
	} else {
		explanation_print(&explanation);
	}
	differences_free(&explanation.differences);
}

/* Explains `count` records, the last of which is the one before `end`, newest first. */
static int explain_records(const struct settings *settings, const struct events *events, size_t end, size_t count)
{
	bool is_array = asked.json && asked.count > 1;
	struct json json = json_growing(JSON_BYTES_KEPT);
	struct history history;
	int error = read_history(events, &history);

	if (error != 0) {
		return console_refuse(settings, error);
	}
	if (is_array) {
		json_begin_array(&json, NULL);
	}
	for (size_t i = 0; i < count; i++) {
		fputs(i > 0 && !asked.json ? "\n" : "", stdout);
		explain_record(&history, end - 1 - i, &json);
	}
	if (is_array) {
		json_end(&json);
	}
	if (asked.json) {
		console_json_end(&json);
	}
	free_history(&history);
	return EXIT_DONE;
}

/*
 * Finds the end of the records that are explained: behind the last one, or the newest one whose key begins with
 * `digits`. Returns 0 after a message if there is none.
 */
static size_t find_end(const struct settings *settings, const struct events *events, const char *digits)
{
	size_t end = 0;

	for (size_t i = 0; i < events->count; i++) {
		const struct events_record *record = &events->records[i];

		if (digits && (!record->has_key || !key_begins(record->key, digits))) {
			continue;
		}
		if (digits && end > 0 && memcmp(events->records[end - 1].key, record->key, ENTRY_KEY_BYTES) != 0) {
			console_error("%s: ambiguous key: several recorded keys begin with it", digits);
			return 0;
		}
		end = i + 1;
	}
	if (end == 0 && digits) {
		console_error(
		    "%s: no miss with such a key is recorded; 'nvrtccache ls' lists entries, 'show' describes one",
		    digits);
	} else if (end == 0) {
		console_error(
		    "%s: no miss and no bypass is recorded; 'nvrtccache doctor -- PROGRAM' says whether a program "
		    "uses the cache",
		    settings->directory);
	}
	return end;
}

static int run_explain(struct settings *settings, char **operands)
{
	const struct directory directory = {.path = settings->directory, .shared = settings->shared};
	struct events events;
	int error, status = EXIT_TROUBLE;
	const char *key = asked.last ? NULL : operands[0], *number = asked.last ? operands[0] : NULL;
	const char *rest = number ? digits_number(number, 100000, &asked.count) : "";
	size_t end;

	if (!rest || *rest || asked.count == 0) {
		return verb_refuse(&verb_explain, "last", number, "1 to 100000");
	}
	if (key && !key_check(key)) {
		return EXIT_USAGE;
	}
	error = events_read(&directory, EVENTS_ALL, &events);
	if (error != 0) {
		return console_refuse(settings, error);
	}
	end = find_end(settings, &events, key);
	if (end > 0) {
		status = explain_records(settings, &events, end, asked.count < end ? asked.count : end);
	}
	events_free(&events);
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
    .options = VERB_OPTIONS(
        VERB_FLAG("json", 'j', "print JSON", &asked.json),
        VERB_FLAG("last", 'l', "explain the last call (default), or the last N, newest first", &asked.last)),
    .needs = VERB_DIRECTORY,
    .operand = "KEY",
    .most = 1,
    .run = run_explain,
};
