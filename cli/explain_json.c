/* SPDX-License-Identifier: MIT */
#include "cli/explain_json.h"
#include "cache/agent.h"

#include "cli/console.h"
#include "cli/difference_words.h"
#include "cli/key.h"
#include "cli/reasons.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_span(const char *name, struct span span)
{
	char *text = strndup(span.size ? span.bytes : "", span.size);

	printf(", \"%s\": ", name);
	console_json_string(stdout, span.bytes ? text : NULL);
	free(text);
}

static void print_text(const char *name, const char *text)
{
	printf(", \"%s\": ", name);
	console_json_string(stdout, *text != '\0' ? text : NULL);
}

static void print_object(const struct difference_words *words, size_t *count)
{
	printf("%s{\"what\": ", (*count)++ ? ",\n  " : "\n  ");
	console_json_string(stdout, words->what);
	printf(", \"now\": ");
	console_json_string(stdout, words->knows_now ? words->now : NULL);
	printf(", \"was\": ");
	console_json_string(stdout, words->knows_was ? words->was : NULL);
	print_text("words", words->words);
	putchar('}');
}

struct listing {
	struct span title; /* of the compiler */
	size_t count;
};

static void print_difference(const struct difference *difference, void *context)
{
	struct listing *listing = context;
	struct difference_words words;

	difference_in_words(difference, listing->title, &words);
	print_object(&words, &listing->count);
}

/* "header changed: inc/vec.h" is "header changed", now "inc/vec.h". */
static void print_stale(const struct explanation *explanation, struct listing *listing)
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
	print_object(&words, &listing->count);
	if (!moved) {
		explanation_tell_moved(explanation, print_difference, listing);
	}
}

static const char *outcome_name(enum journal_outcome outcome)
{
	return outcome == JOURNAL_STORED ? "stored" : outcome == JOURNAL_NOT_KEPT ? "not_kept" : "passed_through";
}

static void print_key(const char *name, const uint8_t *key)
{
	char text[KEY_TEXT_BYTES] = "";

	if (key) {
		key_spell(key, text);
	}
	print_text(name, text);
}

void explain_json(const struct explanation *explanation)
{
	const struct journal_record *record = &explanation->record;
	enum counter reason = reasons_find(record->reason.bytes, record->reason.size);
	struct listing listing = {.title = explanation->request.title};
	const struct neighbour *nearest = &explanation->sought.nearest;

	printf("{\"outcome\": \"%s\"", outcome_name(record->outcome));
	print_span("program", explanation->request.program);
	print_text("reason", reason != COUNTER_NONE ? counter_name(reason) : cause_name(explanation->cause));
	print_text("cause", cause_name(explanation->cause));
	printf(", \"cut\": %s", record->is_cut ? "true" : "false");
	printf(", \"failed\": %s", record->has_failed ? "true" : "false");
	print_text("advice", reason != COUNTER_NONE ? reasons_words(reason) : "");
	print_span("detail", record->detail.size ? explanation_text(&record->detail) : (struct span){NULL, 0});
	print_span("refusal", record->refusal.size ? explanation_text(&record->refusal) : (struct span){NULL, 0});
	print_text("agent", agent_outcome_name((enum agent_outcome)record->agent));
	print_key("key", record->has_key ? record->key : NULL);
	print_key("nearest", nearest->place != NEIGHBOUR_NOWHERE ? nearest->key : NULL);
	print_text("nearest_is", neighbour_name(nearest->place));
	print_span("compiler", explanation->request.compiler);
	print_span("version", explanation->request.release);
	printf(", \"pid\": %" PRIu32 ", \"time\": %" PRIu64 ".%03" PRIu64 ", \"cost_ns\": %" PRIu64, record->pid,
	       record->when_ns / 1000000000, record->when_ns / 1000000 % 1000, record->cost_ns);
	printf(", \"differences\": [");
	if (explanation->cause == CAUSE_STALE) {
		print_stale(explanation, &listing);
	} else if (nearest->place != NEIGHBOUR_NOWHERE && explanation->cause == CAUSE_DIFFERENT) {
		differences_tell(&explanation->request, &explanation->nearest, print_difference, &listing);
	}
	printf("%s]}", listing.count ? "\n " : "");
}
