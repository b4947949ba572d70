/* SPDX-License-Identifier: MIT */
#include "interpose/compile/views.h"

#include "cache/calls.h"
#include "cache/digits.h"
#include "cache/directory.h"
#include "cache/replay.h"
#include "interpose/compile/log.h"
#include "interpose/compile/runtime.h"
#include "interpose/compile/timeline.h"
#include "interpose/compiler.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KEY_SHOWN 4 /* bytes, as many as `nvrtccache ls` shows */

/* ---- the counters ---- */

/* The time in nanoseconds that the hit saved: the stored compile time less the duration of the call. */
static uint64_t saved_by(const struct event *event)
{
	return event->compile_ns > event->call.ns ? event->compile_ns - event->call.ns : 0;
}

/* Adds to the compiler's share of a counter of COUNTERS_OF_EACH. */
static void count_share(const struct event *event, enum counter counter, uint64_t amount)
{
	counters_add(counter_share(event->compiler->share, counter), amount);
}

void event_count_work(const struct event *event)
{
	if (replay_told.mode == REPLAY_CHECK) {
		return;
	}
	if (event->kind == EVENT_BYPASSED) {
		counters_bypassed(event->compiler->share, event->record.reason);
		return;
	}
	count_share(event, COUNTER_TOTAL_misses, 1);
	count_share(event, COUNTER_TOTAL_compile_ns, event->compile_ns);
	/*
	 * Stale entries are also counted as misses: this counter says how many misses were due to changed dependencies.
	 */
	counters_add(COUNTER_TOTAL_stale, event->record.why == EVENTS_WHY_STALE);
}

static void count_end(const struct event *event)
{
	static const uint16_t counters[] = {[EVENT_HIT_IN_MEMORY] = COUNTER_TOTAL_hits_memory,
	                                    [EVENT_HIT_ON_DISK] = COUNTER_TOTAL_hits_disk,
	                                    [EVENT_STORED] = COUNTER_TOTAL_stores};

	if (event->kind == EVENT_NOT_KEPT) {
		counters_not_kept(event->compiler->share, event->record.reason);
	} else if (event->kind == EVENT_VERIFIED) {
		counters_add(COUNTER_TOTAL_verified, 1);
	} else if (event->kind != EVENT_BYPASSED) {
		count_share(event, counters[event->kind], 1);
	}
	if (event->kind == EVENT_HIT_IN_MEMORY || event->kind == EVENT_HIT_ON_DISK) {
		count_share(event, COUNTER_TOTAL_saved_ns, saved_by(event));
	}
}

/* ---- the line of the log ---- */

static void put_outcome(struct log_line *line, const struct event *event)
{
	static const char *const words[] = {
#define EVENT_WORDS(name, category, words) [EVENT_##name] = (words),
	    EVENT_KINDS(EVENT_WORDS)
#undef EVENT_WORDS
	};

	log_add(line, "%s", words[event->kind]);
	if (event->record.reason != COUNTER_NONE) {
		log_add(line, ": %s", counter_name(event->record.reason));
	}
	if (event->kind == EVENT_STORED) {
		log_add(line, ", %" PRIu64 " bytes", event->bytes);
	}
}

static void put_explanation(struct log_line *line, const char *text)
{
	if (text[0] != '\0') {
		log_add(line, " (%s)", text);
	}
}

/* The program's name comes last, because it may be long, and lines are truncated. */
static void write_log(const struct event *event)
{
	char digits[DIGITS_BYTES(KEY_SHOWN)];
	struct log_line line = {.size = 0};

	put_outcome(&line, event);
	log_add(&line, ", %" PRIu64 " us", event->call.ns / 1000);
	if (event->record.agent != AGENT_FETCH_NOT_ASKED) {
		log_add(&line, ", the agent %s", agent_outcome_words(event->record.agent));
	}
	if (event->record.has_key) {
		log_add(&line, ", key %s", digits_spell(event->record.key, KEY_SHOWN, digits));
	}
	put_explanation(&line, event->detail);
	put_explanation(&line, event->refusal);
	log_write(LOG_INFO, "%s: %s, %s", event->compiler->title, line.text,
	          event->program ? event->program : event->compiler->unnamed);
}

/* ---- the record, for calls that were not hits ---- */

/* Returns the time when the call ended. */
static uint64_t end_of(const struct event *event)
{
	return (uint64_t)call_clock_ns(CLOCK_REALTIME) -
	       ((uint64_t)(runtime_clock() - event->call.start_ns) - event->call.ns);
}

/* Hits have no record of their own, nor have compilations that verify a hit: they are counted. */
static int write_record(struct event *event)
{
	bool is_miss = event->kind == EVENT_STORED || event->kind == EVENT_NOT_KEPT || event->kind == EVENT_BYPASSED;

	if (!is_miss || !event_tells_misses()) {
		return events_tell_counts(EVENTS_WHEN_DUE);
	}
	if (!event->about.bytes || event->about.failed) {
		return events_tell_counts(EVENTS_NOW);
	}
	return events_tell(event_record(event, end_of(event)));
}

bool event_tells_misses(void)
{
	const struct runtime *runtime = runtime_get();

	return !runtime->off_reason && runtime->store && !runtime->settings.read_only;
}

bool event_tells_hits(void)
{
	return runtime_get()->settings.trace != NULL;
}

/* Tells the worker of `nvrtccache warm` that is this process how its call ended. */
static void tell_worker(const struct event *event)
{
	static const uint8_t outcomes[] = {
	    [EVENT_HIT_IN_MEMORY] = REPLAY_HIT, [EVENT_HIT_ON_DISK] = REPLAY_HIT, [EVENT_STORED] = REPLAY_STORED,
	    [EVENT_NOT_KEPT] = REPLAY_NOT_KEPT, [EVENT_VERIFIED] = REPLAY_HIT,    [EVENT_BYPASSED] = REPLAY_BYPASSED,
	};
	const char *reason = event->record.reason != COUNTER_NONE ? counter_name(event->record.reason) : "";
	const char *detail = event->detail[0] != '\0' ? event->detail : event->refusal;

	replay_told.outcome = (enum replay_outcome)outcomes[event->kind];
	replay_told.key[0] = '\0';
	if (event->record.has_key) {
		(void)digits_spell(event->record.key, sizeof(event->record.key), replay_told.key);
	}
	(void)snprintf(replay_told.why, sizeof(replay_told.why), "%s%s%s", reason,
	               reason[0] != '\0' && detail[0] != '\0' ? ": " : "", detail);
}

void event_tell(struct event *event, int return_code)
{
	int saved = errno;

	event->call.ns = (uint64_t)(runtime_clock() - event->call.start_ns);
	event->record.return_code = return_code;
	if (REPLAY_FORBIDS()) {
		tell_worker(event);
	}
	if (replay_told.mode != REPLAY_CHECK) {
		count_end(event);
	}
	if (log_wanted(LOG_INFO)) {
		write_log(event);
	}
	if (event_tells_hits()) {
		timeline_write(runtime_get()->settings.trace, event);
	}
	if (replay_told.mode != REPLAY_CHECK) {
		runtime_log_record(write_record(event));
	}
	directory_drop_root();
	stream_free(&event->about);
	errno = saved;
}
