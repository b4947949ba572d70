/* SPDX-License-Identifier: MIT */
#include "interpose/compile/call_log.h"

#include "cache/digits.h"
#include "interpose/compile/event.h"
#include "interpose/compile/log.h"
#include "interpose/compiler.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define KEY_SHOWN 4 /* bytes: as `nvrtccache ls` has them */
#define LINE      1024

static const char *words_of(enum event_kind kind)
{
	switch (kind) {
#define EVENT_WORDS(name, category, words) \
	case EVENT_##name:                 \
		return words;
		EVENT_KINDS(EVENT_WORDS)
#undef EVENT_WORDS
	}
	return "";
}

struct line {
	char text[LINE];
	size_t size;
};

__attribute__((format(printf, 2, 3))) static void put(struct line *line, const char *format, ...)
{
	size_t room = sizeof(line->text) - line->size;
	va_list arguments;
	int size;

	va_start(arguments, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang 14 misses va_start */
	size = vsnprintf(line->text + line->size, room, format, arguments);
	va_end(arguments);
	if (size > 0) {
		line->size += (size_t)size < room ? (size_t)size : room - 1;
	}
}

/* Of whole numbers: a host's locale may have a decimal comma. */
static void put_time(struct line *line, const char *before, uint64_t ns)
{
	uint64_t us = ns / 1000;

	if (us < 1000) {
		put(line, ", %s%" PRIu64 " us", before, us);
	} else if (us < 100000) {
		put(line, ", %s%" PRIu64 ".%" PRIu64 " ms", before, us / 1000, us / 100 % 10);
	} else if (us < 10000000) {
		put(line, ", %s%" PRIu64 " ms", before, us / 1000);
	} else {
		put(line, ", %s%" PRIu64 ".%" PRIu64 " s", before, us / 1000000, us / 100000 % 10);
	}
}

static void put_outcome(struct line *line, const struct event *event)
{
	put(line, "%s", words_of(event->kind));
	if (event->reason != COUNTER_NONE) {
		put(line, ": %s", counter_name(event->reason));
	}
	if (event->kind == EVENT_STORED) {
		put(line, ", %" PRIu64 " bytes", event->bytes);
	}
}

static bool is_hit(const struct event *event)
{
	return event->kind == EVENT_HIT_IN_MEMORY || event->kind == EVENT_HIT_ON_DISK;
}

static void put_times(struct line *line, const struct event *event)
{
	uint64_t whole = (uint64_t)(event->end_ns - event->start_ns);

	put_time(line, "", whole);
	if (is_hit(event)) {
		put_time(line, "saved ", event->compile_ns > whole ? event->compile_ns - whole : 0);
	}
	if (event->wait_start_ns != 0) {
		put_time(line, "waited ", event->wait_ns);
	}
}

/* ", from the agent in 870 us", ", the agent has none (35 us)" */
static void put_agent(struct line *line, const struct event *event)
{
	if (event->agent == AGENT_FETCH_FOUND && event->kind == EVENT_HIT_ON_DISK) {
		put_time(line, "from the agent in ", event->agent_ns);
	} else if (event->agent != AGENT_FETCH_NOT_ASKED) {
		put(line, ", the agent %s", agent_outcome_words(event->agent));
		put_time(line, "asked for ", event->agent_ns);
	}
}

static void put_explanation(struct line *line, const char *text)
{
	if (text[0] != '\0') {
		put(line, " (%s)", text);
	}
}

/* The program's name comes last: it may be long, and lines are cut. */
void call_log_write(const struct event_subject *subject, const struct event *event)
{
	const struct compiler *compiler = subject->compiler;
	char digits[DIGITS_BYTES(KEY_SHOWN)];
	struct line line;

	if (!log_wanted(LOG_INFO)) {
		return;
	}
	line.size = 0;
	put_outcome(&line, event);
	put_times(&line, event);
	put_agent(&line, event);
	if (event->has_key) {
		put(&line, ", key %s", digits_spell(event->key, KEY_SHOWN, digits));
	}
	put_explanation(&line, event->detail);
	put_explanation(&line, event->refusal);
	log_write(LOG_INFO, "%s: %s, %s", compiler->title, line.text,
	          subject->name ? subject->name : compiler->unnamed);
}
