/* SPDX-License-Identifier: MIT */
#include "cache/agent.h"
#include "cli/explain/explanation.h"

#include "cli/console/console.h"
#include "cli/console/key.h"

#include <stdio.h>
#include <string.h>

static void add_span(struct json *json, const char *name, struct span span)
{
	if (span.bytes) {
		json_text(json, name, span.bytes, span.size);
	} else {
		json_null(json, name);
	}
}

static void add_text(struct json *json, const char *name, const char *text)
{
	json_string(json, name, *text != '\0' ? text : NULL);
}

static void add_words(struct json *json, const struct difference_words *words)
{
	json_begin_object(json, NULL);
	json_string(json, "what", words->what);
	json_string(json, "now", words->knows_now ? words->now : NULL);
	json_string(json, "was", words->knows_was ? words->was : NULL);
	add_text(json, "words", words->words);
	json_end(json);
}

struct listing {
	struct json *json;
	struct span title; /* of the compiler */
};

static void add_difference(const struct difference *difference, void *context)
{
	struct listing *listing = context;
	struct difference_words words;

	difference_in_words(difference, listing->title, &words);
	add_words(listing->json, &words);
}

/* "header changed: inc/vec.h" is "header changed", now "inc/vec.h". */
static void add_stale(const struct explanation *explanation, struct listing *listing)
{
	struct span detail = explanation_text(&explanation->record.detail), now, was;
	const char *colon = detail.size ? memmem(detail.bytes, detail.size, ": ", 2) : NULL;
	size_t head = colon ? (size_t)(colon - (const char *)detail.bytes) : detail.size;
	bool moved = explanation_moved(explanation, &now, &was);
	struct difference_words words = {.what = ""};

	if (moved) {
		snprintf(words.what, sizeof(words.what), "%s", difference_name(DIFFERENCE_PLACE));
		snprintf(words.now, sizeof(words.now), "%.*s", (int)now.size, (const char *)now.bytes);
		snprintf(words.was, sizeof(words.was), "%.*s", (int)was.size, (const char *)was.bytes);
	} else {
		snprintf(words.what, sizeof(words.what), "%.*s", (int)head, (const char *)detail.bytes);
		snprintf(words.now, sizeof(words.now), "%.*s", colon ? (int)(detail.size - head - 2) : 0,
		         colon ? colon + 2 : "");
	}
	words.knows_now = words.now[0] != '\0';
	words.knows_was = words.was[0] != '\0';
	snprintf(words.words, sizeof(words.words), "%.*s", (int)detail.size, (const char *)detail.bytes);
	add_words(listing->json, &words);
	if (!moved) {
		explanation_tell_moved(explanation, add_difference, listing);
	}
}

static const char *outcome_name(enum journal_outcome outcome)
{
	return outcome == JOURNAL_STORED ? "stored" : outcome == JOURNAL_NOT_KEPT ? "not_kept" : "passed_through";
}

static void add_key(struct json *json, const char *name, const uint8_t *key)
{
	char text[KEY_TEXT_BYTES] = "";

	if (key) {
		key_spell(key, text);
	}
	add_text(json, name, text);
}

static void add_differences(struct json *json, const struct explanation *explanation)
{
	struct listing listing = {.json = json, .title = explanation->request.title};

	json_begin_array(json, "differences");
	if (explanation->cause == CAUSE_STALE) {
		add_stale(explanation, &listing);
	} else if (explanation->sought.nearest.place != NEIGHBOUR_NOWHERE && explanation->cause == CAUSE_DIFFERENT) {
		differences_tell(&explanation->request, &explanation->nearest, add_difference, &listing);
	}
	json_end(json);
}

void explain_json(struct json *json, const struct explanation *explanation)
{
	const struct journal_record *record = &explanation->record;
	enum counter reason = reasons_find(record->reason.bytes, record->reason.size);
	const struct neighbour *nearest = &explanation->sought.nearest;

	json_begin_object(json, NULL);
	json_string(json, "outcome", outcome_name(record->outcome));
	add_span(json, "program", explanation->request.program);
	add_text(json, "reason", reason != COUNTER_NONE ? counter_name(reason) : cause_name(explanation->cause));
	add_text(json, "cause", cause_name(explanation->cause));
	json_bool(json, "cut", record->is_cut);
	json_bool(json, "failed", record->has_failed);
	add_text(json, "advice", reason != COUNTER_NONE ? reasons_words(reason) : "");
	add_span(json, "detail", record->detail.size ? explanation_text(&record->detail) : (struct span){NULL, 0});
	add_span(json, "refusal", record->refusal.size ? explanation_text(&record->refusal) : (struct span){NULL, 0});
	add_text(json, "agent", agent_outcome_name((enum agent_outcome)record->agent));
	add_key(json, "key", record->has_key ? record->key : NULL);
	add_key(json, "nearest", nearest->place != NEIGHBOUR_NOWHERE ? nearest->key : NULL);
	add_text(json, "nearest_is", neighbour_name(nearest->place));
	add_span(json, "compiler", explanation->request.compiler);
	add_span(json, "version", explanation->request.release);
	json_number(json, "pid", record->pid);
	json_thousandths(json, "time", record->when_ns / 1000000);
	json_number(json, "cost_ns", record->cost_ns);
	add_differences(json, explanation);
	json_end(json);
}
