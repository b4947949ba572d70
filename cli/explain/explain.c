/* SPDX-License-Identifier: MIT */
/*
 * explain: prints why a compilation was a miss, was not cached, or was bypassed
 *
 * Each such call is recorded (cache/events.h), with the about section of its request. Each request is compared with
 * those whose results were stored before, as far as the record has them: the newest thousand or more. No entry is read,
 * so the result does not change when one is evicted. Without memory, requests or differences are missing.
 */
#include "cache/agent_client.h"
#include "cache/digits.h"
#include "cache/events.h"
#include "cli/console/console.h"
#include "cli/console/entries.h"
#include "cli/console/verb.h"
#include "cli/explain/differences.h"
#include "keygen/dependencies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct {
	bool json, last;
	uint64_t count; /* the operand behind `last`; the JSON of more than one is an array */
} asked = {.count = 1};

/*
 * One text for each reason that needs one. The same counter is used for results that were not cached and for calls that
 * were bypassed, so each reason has only one text.
 */
static const char *const reasons[COUNTER_COUNT] = {
    [COUNTER_BYPASSED_unwatchable] = "What it reads cannot be observed: 'nvrtccache doctor -- PROGRAM' says why.",
    [COUNTER_BYPASSED_not_watched] = "Another preloaded library or a tracer hides what the compiler reads.",
    [COUNTER_BYPASSED_files] = "The compiler opened a pipe, a device, or a file that could not be read.",
    [COUNTER_BYPASSED_side_effects] = "It wrote or removed files, ran a program or used the network; a hit would not.",
    [COUNTER_BYPASSED_too_new] = "A header changed meanwhile or just before. The next compilation is cached.",
    [COUNTER_BYPASSED_time_macros] =
        "It depends on the time (__DATE__, ...). NVRTCCACHE_SLOPPINESS=time_macros caches it anyway.",
    [COUNTER_BYPASSED_environment] = "A variable that is not in the key was read, or the process's state changed.",
    [COUNTER_BYPASSED_builtins] = "It is not known which libnvrtc-builtins is loaded. Install that of the release.",
    [COUNTER_BYPASSED_return_code] = "The compiler failed in a way that may not repeat, or its log does not say why.",
    [COUNTER_BYPASSED_history] = "An earlier compilation of this handle was not cached. Create a new handle for each.",
    [COUNTER_BYPASSED_sticky_options] = "An option of an earlier compilation affects this one: use it in all or none.",
    [COUNTER_BYPASSED_uncleared_options] = "An option of an earlier compilation may affect later ones.",
    [COUNTER_BYPASSED_slots] = "The process has loaded more copies of compilers than the cache supports.",
    [COUNTER_BYPASSED_threads] = "Threads of the compiler used files that may belong to another compilation.",
    [COUNTER_BYPASSED_exports] = "A module calls the compiler directly: 'nvrtccache doctor -- PROGRAM' names it.",
    [COUNTER_BYPASSED_libraries] = "Constants were folded with an unknown mathematics library.",
    [COUNTER_BYPASSED_too_large] = "It is larger than an eighth of NVRTCCACHE_MAX_SIZE, or than the process may write.",
    [COUNTER_BYPASSED_extensions] = "The program uses a private extension of NVRTC, whose effects are not known.",
    [COUNTER_BYPASSED_precompiled_header] = "Its precompiled header was made of something else. Leave out --pch.",
    [COUNTER_BYPASSED_bundled_headers] = "--use-bundled-headers unpacked NVRTC's headers. Use a lasting directory.",
    [COUNTER_BYPASSED_logs] = "The log contains run times, or parts are missing. Leave out -time and -verbose.",
    [COUNTER_ERRORS_mismatch] = "The compiler's result differs from the cached one: please report that.",
};

enum cause {
	CAUSE_UNFIT,     /* the reason or detail in the record says all */
	CAUSE_STALE,     /* an entry was found, but one of its dependencies has changed */
	CAUSE_GONE,      /* the same request was stored before, and no entry was found */
	CAUSE_REFUSED,   /* the same request was compiled before, and its result was not cached */
	CAUSE_DIFFERENT, /* the request differs from a similar one that was stored before */
	CAUSE_FIRST      /* no similar one was stored before, or the record does not contain the request */
};

struct explanation {
	const struct events_record *record;
	const struct request *request;
	enum cause cause;
	const struct events_record *compared; /* the last call with the same request, or the closest. NULL: none. */
	struct differences differences;       /* from the closest */
};

static struct span text_of(const struct events_record *record, enum events_part part)
{
	return (struct span){record->parts[part].bytes, record->parts[part].size};
}

/* ---- the cause ---- */

/* Returns the requests of all records; without facts where the record has none. NULL: no memory. */
static struct request *read_requests(const struct events *events)
{
	struct request *requests = calloc(events->count + 1, sizeof(*requests));

	for (size_t i = 0; requests && i < events->count; i++) {
		struct span about = text_of(&events->records[i], EVENTS_ABOUT);

		(void)request_read(about.bytes, about.size, &requests[i]);
		requests[i].is_cut = events->records[i].is_cut;
	}
	return requests;
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
	       span_equal(text_of(record, EVENTS_ABOUT), text_of(other, EVENTS_ABOUT));
}

/* Returns the last miss before the record that had the same request; NULL: there is none. */
static const struct events_record *find_earlier(const struct events *events, const struct events_record *record)
{
	for (const struct events_record *other = events->records + events->count; other-- > events->records;) {
		if (other->kind != EVENTS_BYPASSED && is_before(other, record) && is_same_request(record, other)) {
			return other;
		}
	}
	return NULL;
}

/* Finds the stored request that differs least; of several, the newest. */
static void find_closest(const struct events *events, const struct request *requests, struct explanation *explanation)
{
	for (size_t i = 0; i < events->count; i++) {
		const struct events_record *other = &events->records[i];
		struct differences differences;

		/* a cut record is not compared, because options and headers are missing in it */
		if (other->kind != EVENTS_STORED || other->is_cut || !is_before(other, explanation->record) ||
		    !differences_related(explanation->request, &requests[i])) {
			continue;
		}
		differences_find(explanation->request, &requests[i], &differences);
		if (!explanation->compared || differences.weight <= explanation->differences.weight) {
			explanation->compared = other;
			explanation->differences = differences;
		}
	}
}

/* Tests the record itself first, then what was recorded before. Also sets the call that it is compared with. */
static enum cause find_cause(const struct events *events, const struct request *requests,
                             struct explanation *explanation)
{
	const struct events_record *record = explanation->record;

	if (record->kind == EVENTS_BYPASSED || record->why == EVENTS_WHY_UNFIT) {
		return CAUSE_UNFIT;
	}
	explanation->compared = find_earlier(events, record);
	if (record->why == EVENTS_WHY_STALE) {
		return CAUSE_STALE;
	}
	if (explanation->compared) {
		return explanation->compared->kind == EVENTS_STORED ? CAUSE_GONE : CAUSE_REFUSED;
	}
	find_closest(events, requests, explanation);
	return explanation->compared ? CAUSE_DIFFERENT : CAUSE_FIRST;
}

/* ---- for people ---- */

#define SWITCH "  NVRTCCACHE_SLOPPINESS=debug_paths lets it hit where that path is in a log or debug information only"

/* Prints the first line. A bypassed call has neither key nor cost, because it was not looked up. */
static void print_head(const struct explanation *explanation)
{
	const struct events_record *record = explanation->record;
	struct span program = request_text(explanation->request, ABOUT_PROGRAM);
	char text[CONSOLE_NUMBER_BYTES], key[KEY_TEXT_BYTES];

	console_print(stdout, "%.*s (pid %u, %s)  ", SPAN(program.size ? program : span_text("?")), record->pid,
	              console_moment((int64_t)(record->when_ns / 1000000000), "%Y-%m-%d %H:%M:%S", text));
	if (record->kind != EVENTS_BYPASSED) {
		printf("MISS, compiled in %s, ", console_time(record->cost_ns, text));
	}
	if (record->kind == EVENTS_STORED) {
		printf("%sstored as %.*s\n", record->return_code != 0 ? "a failure, " : "", KEY_SHORT,
		       key_spell(record->key, key));
	} else {
		printf("%s: %s\n", record->kind == EVENTS_NOT_KEPT ? "NOT CACHED" : "BYPASSED",
		       counter_name(record->reason));
	}
}

/* Prints the file or variable that the reason is about, what the reason means, and why an entry was not served. */
static void print_why(const struct events_record *record)
{
	struct span detail = text_of(record, EVENTS_DETAIL), refusal = text_of(record, EVENTS_REFUSAL), rest;

	if (refusal.size > 0) {
		console_line("  %.*s", SPAN(refusal));
	}
	if (reasons[record->reason]) {
		printf("  %s\n", reasons[record->reason]);
	} else if (record->reason >= COUNTER_ERRORS_directory && record->reason <= COUNTER_ERRORS_internal) {
		puts("  'nvrtccache doctor' checks the directory.");
	}
	if (record->agent != AGENT_FETCH_NOT_ASKED) {
		printf("  The node's agent %s.\n", agent_outcome_words((enum agent_outcome)record->agent));
	}
	if (record->why == EVENTS_WHY_STALE) {
		puts("the same request was cached before, and that entry is not valid here:");
	}
	if (detail.size > 0) {
		console_line("  %.*s", SPAN(detail));
	}
	if (span_behind(detail, span_text(DEPENDENCIES_BOUND), &rest)) {
		puts(SWITCH);
	}
}

static void print_differences(const struct differences *differences)
{
	for (size_t i = 0; i < differences->count && i < DIFFERENCES_MAX; i++) {
		const struct difference *difference = &differences->list[i];
		struct span now = difference->now, was = difference->was, value = now.bytes ? now : was;

		console_print(stdout, "  %.*s  %.*s", SPAN(difference->what), SPAN(value));
		if (now.bytes && was.bytes && !span_equal(now, was)) {
			console_line("   was %.*s", SPAN(was));
		} else {
			console_line("%s%s", value.bytes ? "   " : "", difference->way);
		}
	}
	if (differences->count > DIFFERENCES_MAX) {
		printf("  and %zu more differences\n", differences->count - DIFFERENCES_MAX);
	}
	if (differences->count == 0) {
		puts("  options, headers or names are in another order, or the difference was not recorded");
	}
}

/* Prints what the call is compared with. */
static void print_compared(const struct explanation *explanation)
{
	const struct events_record *record = explanation->record, *compared = explanation->compared;
	const struct differences *differences = &explanation->differences;
	struct span binder = request_binder(explanation->request);
	char key[KEY_TEXT_BYTES], text[CONSOLE_NUMBER_BYTES];
	const char *distance = compared ? console_span((int64_t)(record->when_ns - compared->when_ns), text) : "";

	if (explanation->cause == CAUSE_GONE) {
		printf("cached %s earlier, and gone since (evicted, cleared, damaged, or no longer trusted)\n",
		       distance);
	} else if (explanation->cause == CAUSE_REFUSED) {
		printf("the same request was compiled before, %s earlier, and not cached: %s\n", distance,
		       counter_name(compared->reason));
	} else if (explanation->cause == CAUSE_DIFFERENT) {
		printf("closest cached entry: %.*s, %s earlier\n", KEY_SHORT, key_spell(compared->key, key), distance);
		print_differences(differences);
		if (differences->paths > 0 && binder.size > 0) {
			console_line("  bound by %.*s", SPAN(binder));
		}
		if (differences->paths == differences->count && binder.size > 0) {
			puts(SWITCH);
		}
	} else if (explanation->cause == CAUSE_FIRST && !record->is_cut) {
		puts("first time: no cached entry of this program or this source is recorded");
	}
	if (record->is_cut) {
		puts("The record does not hold the whole request, so there may be more differences.");
	}
}

/* ---- as JSON ---- */

static void add_key(struct json *json, const char *name, const struct events_record *record)
{
	char text[KEY_TEXT_BYTES];

	json_string(json, name, record && record->has_key ? key_spell(record->key, text) : NULL);
}

static void add_explanation(struct json *json, const struct explanation *explanation)
{
	static const char *const causes[] = {
	    [CAUSE_UNFIT] = "unfit",     [CAUSE_STALE] = "stale",         [CAUSE_GONE] = "gone",
	    [CAUSE_REFUSED] = "refused", [CAUSE_DIFFERENT] = "different", [CAUSE_FIRST] = "first",
	};
	static const char *const outcomes[] = {
	    [EVENTS_STORED] = "stored", [EVENTS_NOT_KEPT] = "not_kept", [EVENTS_BYPASSED] = "bypassed"};
	const struct events_record *record = explanation->record;
	const struct differences *differences = &explanation->differences;

	json_begin_object(json, NULL);
	json_string(json, "outcome", outcomes[record->kind]);
	span_json(json, "program", request_text(explanation->request, ABOUT_PROGRAM));
	/* a stored result has no reason, so the cause of the miss is written instead */
	json_string(json, "reason",
	            record->reason != COUNTER_NONE ? counter_name(record->reason) : causes[explanation->cause]);
	span_json(json, "detail", text_of(record, EVENTS_DETAIL));
	add_key(json, "key", record);
	add_key(json, "nearest", explanation->compared);
	json_begin_array(json, "differences");
	for (size_t i = 0; i < differences->count && i < DIFFERENCES_MAX; i++) {
		json_begin_object(json, NULL);
		span_json(json, "what", differences->list[i].what);
		span_json(json, "now", differences->list[i].now);
		span_json(json, "was", differences->list[i].was);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

/* ---- the verb ---- */

/* Explains `count` records, the last of which is the one before `end`, newest first. */
static int explain_records(const struct events *events, size_t end, size_t count)
{
	struct json json = {.bytes = NULL};
	struct request *requests = read_requests(events);

	if (!requests) {
		console_error("%s", strerror(ENOMEM));
		return EXIT_TROUBLE;
	}
	if (asked.count > 1) {
		json_begin_array(&json, NULL);
	}
	for (size_t i = 0; i < count; i++) {
		struct explanation explanation = {.record = &events->records[end - 1 - i],
		                                  .request = &requests[end - 1 - i]};

		explanation.cause = find_cause(events, requests, &explanation);
		if (asked.json) {
			add_explanation(&json, &explanation);
		} else {
			fputs(i > 0 ? "\n" : "", stdout);
			print_head(&explanation);
			print_why(explanation.record);
			print_compared(&explanation);
		}
	}
	if (asked.count > 1) {
		json_end(&json);
	}
	if (asked.json) {
		console_json_end(&json);
	}
	for (size_t i = 0; i < events->count; i++) {
		request_free(&requests[i]);
	}
	free(requests);
	return EXIT_DONE;
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
	end = events.count;
	while (key && end > 0 && !(events.records[end - 1].has_key && key_begins(events.records[end - 1].key, key))) {
		end--;
	}
	if (end > 0) {
		status = explain_records(&events, end, asked.count < end ? asked.count : end);
	} else {
		console_error("%s: no such miss or bypass is recorded; see 'nvrtccache doctor -- PROGRAM'",
		              key ? key : settings->directory);
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
