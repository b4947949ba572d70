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
#include "keygen/about.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define KEY_SHOWN 4 /* bytes, as many as `nvrtccache ls` shows */
#define LINE      1024

/* ---- the counters ---- */

/* The time in nanoseconds that the hit saved: the stored compile time less the duration of the call. */
static uint64_t saved_by(const struct event *event)
{
	return event->compile_ns > event->call.ns ? event->compile_ns - event->call.ns : 0;
}

/* Adds to a counter of COUNTERS_OF_EACH, and to the compiler's share of it. */
static void count_share(const struct event *event, enum counter counter, uint64_t amount)
{
	const enum counter_group share = event->compiler->share;

	counters_add(counter, amount);
	if (share != COUNTER_NOTHING) {
		counters_add(counter_share(share, counter), amount);
	}
}

static void count_hit(const struct event *event, enum counter hits)
{
	count_share(event, hits, 1);
	count_share(event, COUNTER_TOTAL_saved_ns, saved_by(event));
}

void event_count_work(const struct event *event)
{
	if (replay_told.mode == REPLAY_CHECK) {
		return;
	}
	if (event->kind == EVENT_BYPASSED) {
		counters_bypassed(event->compiler->share, event->reason);
		return;
	}
	count_share(event, COUNTER_TOTAL_misses, 1);
	count_share(event, COUNTER_TOTAL_compile_ns, event->compile_ns);
	/*
	 * Stale entries are also counted as misses: this counter says how many misses were due to changed dependencies.
	 */
	counters_add(COUNTER_TOTAL_stale, event->why == EVENTS_WHY_STALE);
}

static void count_end(const struct event *event)
{
	switch (event->kind) {
	case EVENT_HIT_IN_MEMORY:
		count_hit(event, COUNTER_TOTAL_hits_memory);
		break;
	case EVENT_HIT_ON_DISK:
		count_hit(event, COUNTER_TOTAL_hits_disk);
		break;
	case EVENT_STORED:
		count_share(event, COUNTER_TOTAL_stores, 1);
		break;
	case EVENT_NOT_KEPT:
		counters_not_kept(event->compiler->share, event->reason);
		break;
	case EVENT_VERIFIED:
		counters_add(COUNTER_TOTAL_verified, 1);
		break;
	case EVENT_BYPASSED:
		break;
	}
}

/* ---- the line of the log ---- */

struct line {
	char text[LINE];
	size_t size;
};

__attribute__((format(printf, 2, 3))) static void put_words(struct line *line, const char *format, ...)
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

static void put_outcome(struct line *line, const struct event *event)
{
	static const char *const words[] = {
#define EVENT_WORDS(name, category, words) [EVENT_##name] = (words),
	    EVENT_KINDS(EVENT_WORDS)
#undef EVENT_WORDS
	};

	put_words(line, "%s", words[event->kind]);
	if (event->reason != COUNTER_NONE) {
		put_words(line, ": %s", counter_name(event->reason));
	}
	if (event->kind == EVENT_STORED) {
		put_words(line, ", %" PRIu64 " bytes", event->bytes);
	}
}

static void put_explanation(struct line *line, const char *text)
{
	if (text[0] != '\0') {
		put_words(line, " (%s)", text);
	}
}

/* The program's name comes last, because it may be long, and lines are truncated. */
static void write_log(const struct event *event)
{
	char digits[DIGITS_BYTES(KEY_SHOWN)];
	struct line line = {.size = 0};

	put_outcome(&line, event);
	put_words(&line, ", %" PRIu64 " us", event->call.ns / 1000);
	if (event->agent != AGENT_FETCH_NOT_ASKED) {
		put_words(&line, ", the agent %s", agent_outcome_words(event->agent));
	}
	if (event->has_key) {
		put_words(&line, ", key %s", digits_spell(event->key, KEY_SHOWN, digits));
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
static int write_record(const struct event *event)
{
	bool is_miss = event->kind == EVENT_STORED || event->kind == EVENT_NOT_KEPT || event->kind == EVENT_BYPASSED;
	struct events_record record;

	if (!is_miss || !event_tells_misses()) {
		return events_tell_counts(EVENTS_WHEN_DUE);
	}
	if (!event->about.bytes || event->about.failed) {
		return events_tell_counts(EVENTS_NOW);
	}
	record = event_record(event, end_of(event));
	return events_tell(&record);
}

bool event_tells_misses(void)
{
	const struct runtime *runtime = runtime_get();

	return !runtime->off_reason && runtime->store && !runtime->settings.read_only;
}

bool event_tells_hits(void)
{
	return timeline_wanted();
}

/* Tells the worker of `nvrtccache warm` that is this process how its call ended. */
static void tell_worker(const struct event *event)
{
	static const uint8_t outcomes[] = {
	    [EVENT_HIT_IN_MEMORY] = REPLAY_HIT, [EVENT_HIT_ON_DISK] = REPLAY_HIT, [EVENT_STORED] = REPLAY_STORED,
	    [EVENT_NOT_KEPT] = REPLAY_NOT_KEPT, [EVENT_VERIFIED] = REPLAY_HIT,    [EVENT_BYPASSED] = REPLAY_BYPASSED,
	};
	const char *reason = event->reason != COUNTER_NONE ? counter_name(event->reason) : "";
	const char *detail = event->detail[0] != '\0' ? event->detail : event->refusal;

	replay_told.outcome = (enum replay_outcome)outcomes[event->kind];
	replay_told.key[0] = '\0';
	if (event->has_key) {
		(void)digits_spell(event->key, sizeof(event->key), replay_told.key);
	}
	(void)snprintf(replay_told.why, sizeof(replay_told.why), "%s%s%s", reason,
	               reason[0] != '\0' && detail[0] != '\0' ? ": " : "", detail);
}

void event_tell(struct event *event, int return_code)
{
	int saved = errno;

	event->call.ns = (uint64_t)(runtime_clock() - event->call.start_ns);
	event->return_code = return_code;
	if (REPLAY_FORBIDS()) {
		tell_worker(event);
	}
	if (replay_told.mode != REPLAY_CHECK) {
		count_end(event);
	}
	if (log_wanted(LOG_INFO)) {
		write_log(event);
	}
	if (timeline_wanted()) {
		timeline_write(event);
	}
	if (replay_told.mode != REPLAY_CHECK) {
		runtime_log_record(write_record(event));
	}
	directory_drop_root();
	stream_free(&event->about);
	errno = saved;
}

/* ---- the line of the statistics, at the end of the process ---- */

static unsigned long long count_here(enum counter counter)
{
	return counters_here(counter);
}

/* Adds ", 3 not cached (time_macros 2)": the sum, and the most frequent reason. */
static void add_reasons(struct line *line, const char *words, enum counter sum, enum counter_group group)
{
	enum counter top = COUNTER_NONE;

	for (int i = 1; i < COUNTER_COUNT; i++) {
		if (counter_group((enum counter)i) == group && count_here((enum counter)i) > 0 &&
		    (top == COUNTER_NONE || count_here((enum counter)i) > count_here(top))) {
			top = (enum counter)i;
		}
	}
	if (top != COUNTER_NONE) {
		put_words(line, ", %llu %s (%s%s)", count_here(sum), words,
		          count_here(top) < count_here(sum) ? "most: " : "", counter_name(top));
	}
}

/* Prints one line on stderr, if NVRTCCACHE_STATS asks for it. */
static void print_stats(const struct runtime *runtime)
{
	unsigned long long in_memory = count_here(COUNTER_TOTAL_hits_memory);
	unsigned long long misses = count_here(COUNTER_TOTAL_misses);
	unsigned long long mismatches = count_here(COUNTER_ERRORS_mismatch);
	struct line line = {.size = 0};

	put_words(&line, "nvrtccache[%d]: ", (int)call_getpid());
	if (runtime->off_reason) {
		put_words(&line, "%s, %llu bypassed", counter_name(runtime->off_reason),
		          count_here(COUNTER_TOTAL_bypassed));
	} else {
		put_words(&line, "%llu hit%s in memory, %llu on disk, %llu miss%s, %llu stored", in_memory,
		          in_memory == 1 ? "" : "s", count_here(COUNTER_TOTAL_hits_disk), misses,
		          misses == 1 ? "" : "es", count_here(COUNTER_TOTAL_stores));
		add_reasons(&line, "not cached", COUNTER_TOTAL_not_kept, COUNTER_NOT_KEPT);
		add_reasons(&line, "bypassed", COUNTER_TOTAL_bypassed, COUNTER_BYPASSED);
		put_words(&line, ", %llu ms saved", count_here(COUNTER_TOTAL_saved_ns) / 1000000);
	}
	if (runtime->settings.verify) {
		put_words(&line, ", %llu verified, %llu mismatch%s", count_here(COUNTER_TOTAL_verified), mismatches,
		          mismatches == 1 ? "" : "es");
	}
	line.text[line.size++] = '\n';
	log_put_stderr(line.text, line.size);
}

__attribute__((destructor)) static void at_exit(void)
{
	const struct runtime *runtime = runtime_if_set_up();

	if (!runtime) {
		return;
	}
	/* another preload's wrapper of libc functions may have been finalised already (cache/calls.h) */
	calls_go_straight();
	runtime_log_record(events_tell_counts(EVENTS_NOW));
	if (runtime->settings.stats) {
		print_stats(runtime);
	}
}
