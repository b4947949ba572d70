/* SPDX-License-Identifier: MIT */
#include "cli/explain/explanation.h"

#include "cache/agent.h"
#include "cli/console/console.h"
#include "cli/console/key.h"
#include "cli/explain/differences.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WHEN_BYTES        32
#define DIFFERENCES_SHOWN 20

/* The clock alone is enough for what was today. */
static const char *spell_when(uint64_t when_ns, char ret_text[WHEN_BYTES])
{
	time_t when = (time_t)(when_ns / 1000000000), now = time(NULL);
	bool lately = when <= now && now - when < 20 * 3600;
	struct tm parts = {0};

	if (!localtime_r(&when, &parts) ||
	    strftime(ret_text, WHEN_BYTES, lately ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &parts) == 0) {
		snprintf(ret_text, WHEN_BYTES, "%" PRIu64 " s", when_ns / 1000000000);
	}
	return ret_text;
}

static const char *spell_distance(uint64_t ns, char ret_text[WHEN_BYTES])
{
	static const struct {
		uint64_t seconds;
		const char *unit;
	} units[] = {{86400, "days"}, {3600, "h"}, {60, "min"}, {1, "s"}};
	uint64_t seconds = ns / 1000000000;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (seconds >= 2 * units[i].seconds || units[i].seconds == 1) {
			snprintf(ret_text, WHEN_BYTES, "%" PRIu64 " %s earlier", seconds / units[i].seconds,
			         units[i].unit);
			break;
		}
	}
	return ret_text;
}

/* malloc'ed, disarmed. */
static char *text_of(struct span span)
{
	char *text = malloc(span.size + 1);

	if (text) {
		memcpy(text, span.size ? span.bytes : "", span.size);
		text[span.size] = '\0';
		console_disarm(text);
	}
	return text;
}

static void print_span(const char *before, struct span span, const char *behind)
{
	char *text = text_of(span);

	printf("%s%s%s", before, text ? text : "?", behind);
	free(text);
}

static void print_words(const char *before, char *text, const char *behind)
{
	console_disarm(text);
	printf("%s%s%s", before, text, behind);
}

/* too_new -> too new */
static void print_reason(const struct journal_text *reason)
{
	for (size_t i = 0; i < reason->size; i++) {
		char byte = reason->bytes[i];

		putchar(byte == '_' ? ' ' : byte >= 'a' && byte <= 'z' ? byte : '?');
	}
}

static void print_head(const struct explanation *explanation)
{
	const struct journal_record *record = &explanation->record;
	char when[WHEN_BYTES], cost[CONSOLE_NUMBER_BYTES], key[KEY_TEXT_BYTES];

	if (explanation->request.program.size > 0) {
		print_span("", explanation->request.program, "");
	} else {
		printf("?");
	}
	if (record->pid != 0) {
		printf(" (pid %" PRIu32 ", %s)  ", record->pid, spell_when(record->when_ns, when));
	} else {
		printf(" (%s)  ", spell_when(record->when_ns, when));
	}
	key_spell(record->key, key);
	console_time(record->cost_ns, cost);
	if (record->outcome == JOURNAL_STORED) {
		printf("MISS, compiled %s%s, stored as %.*s\n", cost, record->has_failed ? ", a failure" : "",
		       KEY_SHORT, key);
	} else if (record->outcome == JOURNAL_NOT_KEPT) {
		printf("MISS, compiled %s, NOT KEPT: ", cost);
		print_reason(&record->reason);
		putchar('\n');
	} else {
		printf("PASSED THROUGH: ");
		print_reason(&record->reason);
		putchar('\n');
	}
}

/* What is not in a sentence of the reason: of which file, which variable. */
static void print_why(const struct journal_record *record)
{
	enum counter reason = reasons_find(record->reason.bytes, record->reason.size);

	if (record->detail.size > 0 && !record->is_stale) {
		print_span("  ", explanation_text(&record->detail), ".\n");
	}
	if (record->refusal.size > 0) {
		print_span("  ", explanation_text(&record->refusal), ".\n");
	}
	if (reason != COUNTER_NONE) {
		printf("  %s\n", reasons_words(reason));
	}
	if (record->agent != AGENT_FETCH_NOT_ASKED) {
		printf("  The node's agent %s.\n", agent_outcome_words((enum agent_outcome)record->agent));
	}
}

struct sameness {
	bool source, compiler, headers, options;
};

static void note_difference(const struct difference *difference, void *context)
{
	struct sameness *same = context;

	same->source &= difference->kind != DIFFERENCE_SOURCE && difference->kind != DIFFERENCE_INPUT &&
	                difference->kind != DIFFERENCE_EARLIER && difference->kind != DIFFERENCE_EARLIER_INPUTS;
	same->compiler &= difference->kind != DIFFERENCE_COMPILER && difference->kind != DIFFERENCE_BUILD;
	same->headers &= difference->kind != DIFFERENCE_HEADER && difference->kind != DIFFERENCE_HEADER_ORDER;
	same->options &= difference->kind != DIFFERENCE_OPTION && difference->kind != DIFFERENCE_OPTION_ORDER;
}

static bool has_headers(const struct request *request)
{
	struct span rest;

	for (size_t i = 0; i < request->part_count; i++) {
		if (span_behind(request->parts[i].name, "header ", &rest)) {
			return true;
		}
	}
	return false;
}

/* "Same source, NVRTC, headers." */
static void print_sameness(const struct request *now, const struct request *was)
{
	struct sameness same = {true, true, has_headers(now) && !now->is_cut, now->option_count > 0 && !now->is_cut};
	const char *separator = " Same ";

	differences_tell(now, was, note_difference, &same);
	if (same.source) {
		printf("%s%s", separator, request_part(now, "source") ? "source" : "input");
		separator = ", ";
	}
	if (same.compiler) {
		print_span(separator, now->title, "");
		separator = ", ";
	}
	if (same.headers) {
		printf("%sheaders", separator);
		separator = ", ";
	}
	if (same.options) {
		printf("%soptions", separator);
		separator = ", ";
	}
	puts(*separator == ',' ? "." : "");
}

struct printing {
	const struct explanation *explanation;
	size_t count;
	int width;
};

static void widen(const struct difference *difference, void *context)
{
	struct printing *printing = context;
	struct difference_words words;
	int width;

	difference_in_words(difference, printing->explanation->request.title, &words);
	width = (int)strlen(words.what);
	printing->width = width > printing->width && width <= 40 ? width : printing->width;
}

static void print_difference(const struct difference *difference, void *context)
{
	struct printing *printing = context;
	struct difference_words words;

	if (printing->count++ >= DIFFERENCES_SHOWN) {
		return;
	}
	difference_in_words(difference, printing->explanation->request.title, &words);
	console_disarm(words.what);
	printf("  %-*s", printing->width, words.what);
	print_words("  ", words.words, "\n");
}

static void print_nearest(const struct explanation *explanation)
{
	static const char *const places[] = {
	    [NEIGHBOUR_NOWHERE] = "",
	    [NEIGHBOUR_KEPT] = "",
	    [NEIGHBOUR_BELOW] = ", in a directory of NVRTCCACHE_LOWER",
	    [NEIGHBOUR_GONE] = ", and gone since",
	};
	const struct neighbour *nearest = &explanation->sought.nearest;
	struct printing printing = {.explanation = explanation};
	char key[KEY_TEXT_BYTES], distance[WHEN_BYTES];
	uint64_t when = explanation->record.when_ns;

	key_spell(nearest->key, key);
	spell_distance(when > nearest->created_ns ? when - nearest->created_ns : 0, distance);
	printf("nearest kept: %.*s, %s%s.", KEY_SHORT, key, distance, places[nearest->place]);
	print_sameness(&explanation->request, &explanation->nearest);
	differences_tell(&explanation->request, &explanation->nearest, widen, &printing);
	differences_tell(&explanation->request, &explanation->nearest, print_difference, &printing);
	if (printing.count > DIFFERENCES_SHOWN) {
		printf("  and %zu more differences; --json has them all\n", printing.count - DIFFERENCES_SHOWN);
	}
	if (printing.count == 0) {
		puts("  They differ in nothing that was noted.");
	}
	if (explanation->record.is_cut) {
		puts("  There was no room to note all of this request; there may be more.");
	}
}

static void print_stale(const struct explanation *explanation)
{
	const struct neighbour *nearest = &explanation->sought.nearest;
	struct printing printing = {.explanation = explanation};
	struct span now, was;
	char distance[WHEN_BYTES];

	printf("the same request was kept before");
	if (nearest->place != NEIGHBOUR_NOWHERE && nearest->weight == 0) {
		printf(", %s", spell_distance(explanation->record.when_ns > nearest->created_ns
		                                  ? explanation->record.when_ns - nearest->created_ns
		                                  : 0,
		                              distance));
	}
	puts(", and that result does not hold here:");
	if (explanation_moved(explanation, &now, &was)) {
		print_span("  bound to ", was, "");
		print_span(", a path that is in what was made; now it is ", now, "\n");
	} else {
		print_span("  ", explanation_text(&explanation->record.detail), "\n");
		explanation_tell_moved(explanation, widen, &printing);
		explanation_tell_moved(explanation, print_difference, &printing);
	}
}

void explain_in_words(const struct explanation *explanation)
{
	char when[WHEN_BYTES];

	print_head(explanation);
	print_why(&explanation->record);
	switch (explanation->cause) {
	case CAUSE_STALE:
		print_stale(explanation);
		break;
	case CAUSE_GONE:
		printf("was kept at %s, and is gone since (evicted, cleared, damaged, or no longer trusted)\n",
		       spell_when(explanation->kept_ns, when));
		break;
	case CAUSE_DIFFERENT:
		print_nearest(explanation);
		break;
	case CAUSE_FIRST:
		puts(explanation->record.is_cut ? "the request was too long to be noted in full, and cannot be compared"
		                                : "first time: nothing was kept before of this program or this source");
		break;
	case CAUSE_UNTOLD:
		puts("the record does not tell what was asked for");
		break;
	case CAUSE_BROUGHT:
		puts("a result of this very request is there, and is older than this call: it was imported since, or "
		     "lies "
		     "where this process did not look or could not read");
		break;
	case CAUSE_PASSED:
	case CAUSE_UNFIT:
		break;
	}
}
