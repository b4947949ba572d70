/* SPDX-License-Identifier: MIT */
#include "interpose/compile/event.h"

#include "cache/digits.h"
#include "cache/directory.h"
#include "cache/replay.h"
#include "interpose/compile/log.h"
#include "interpose/compile/runtime.h"
#include "interpose/compiler.h"
#include "keygen/about.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KEY_SHOWN 4 /* bytes, as many as `nvrtccache ls` shows */

/* How an outcome is told. */
static const struct {
	const char *words;          /* in the log */
	const char *category;       /* in the trace */
	enum counter counter;       /* of COUNTERS_OF_EACH; COUNTER_NONE: it is counted otherwise */
	enum events_kind record;    /* EVENTS_COUNTS: it has no record of its own */
	enum replay_outcome replay; /* for `nvrtccache warm` */
} outcomes[] = {
    [EVENT_HIT_IN_MEMORY] = {"hit in memory", "hit_memory", COUNTER_TOTAL_hits_memory, EVENTS_COUNTS, REPLAY_HIT},
    [EVENT_HIT_ON_DISK] = {"hit on disk", "hit_disk", COUNTER_TOTAL_hits_disk, EVENTS_COUNTS, REPLAY_HIT},
    [EVENT_STORED] = {"stored", "miss", COUNTER_TOTAL_stores, EVENTS_STORED, REPLAY_STORED},
    [EVENT_NOT_KEPT] = {"not cached", "not_kept", COUNTER_NONE, EVENTS_NOT_KEPT, REPLAY_NOT_KEPT},
    [EVENT_VERIFIED] = {"compiled to verify a hit", "verified", COUNTER_NONE, EVENTS_COUNTS, REPLAY_HIT},
    [EVENT_BYPASSED] = {"bypassed", "bypassed", COUNTER_NONE, EVENTS_BYPASSED, REPLAY_BYPASSED},
};

/* ---- during the call ---- */

/* The large texts are not cleared, because that would take time for each hit. */
void event_begin(struct event *ret_event, const struct compiler *compiler, const struct library *library,
                 enum reach reach, const char *program)
{
	memset(ret_event, 0, offsetof(struct event, detail));
	ret_event->detail[0] = ret_event->refusal[0] = '\0';
	ret_event->compiler = compiler;
	ret_event->program = program;
	ret_event->library = library;
	ret_event->reach = reach;
	ret_event->kind = EVENT_BYPASSED;
	ret_event->start_ns = runtime_clock();
}

void event_end(struct event *event, enum event_kind kind, enum counter reason, const struct entry *entry)
{
	event->kind = kind;
	event->record.reason = reason;
	if (entry) {
		event->record.cost_ns = entry_info(entry)->cost_ns;
		event->bytes = entry_info(entry)->total_size;
	}
}

void event_explain_refusal(struct event *event, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang 14 misses va_start */
	(void)vsnprintf(event->refusal, sizeof(event->refusal), format, arguments);
	va_end(arguments);
}

void event_explain_unfit(struct event *event, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang 14 misses va_start */
	(void)vsnprintf(event->detail, sizeof(event->detail), format, arguments);
	va_end(arguments);
	event->record.why = EVENTS_WHY_UNFIT;
}

void event_note_wait(struct event *event, int64_t since_ns, int64_t now_ns)
{
	event->wait_start_ns = event->wait_start_ns != 0 ? event->wait_start_ns : since_ns;
	event->wait_ns += (uint64_t)(now_ns - since_ns);
}

const char *event_explanation(const struct event *event)
{
	return event->detail[0] != '\0' ? event->detail : event->refusal;
}

/* ---- the counters ---- */

/* Adds to the compiler's share of a counter of COUNTERS_OF_EACH. */
static void count_share(const struct event *event, enum counter counter, uint64_t amount)
{
	counters_add(counter_share(event->compiler->share, counter), amount);
}

void event_bypass(struct event *event, enum counter reason)
{
	event_end(event, EVENT_BYPASSED, reason, NULL);
	if (replay_told.mode != REPLAY_CHECK) {
		counters_add_reason(event->compiler->share, COUNTER_TOTAL_bypassed, reason);
	}
}

void event_count_miss(const struct event *event)
{
	count_share(event, COUNTER_TOTAL_misses, 1);
	count_share(event, COUNTER_TOTAL_compile_ns, event->record.cost_ns);
	/*
	 * Stale entries are also counted as misses: this counter says how many misses were due to changed dependencies.
	 */
	counters_add(COUNTER_TOTAL_stale, event->record.why == EVENTS_WHY_STALE);
}

/* A hit saves the stored compile time less the duration of the call. */
static void count_end(const struct event *event)
{
	const uint64_t cost = event->record.cost_ns, took = event->record.took_ns;

	if (event->kind == EVENT_NOT_KEPT) {
		counters_add_reason(event->compiler->share, COUNTER_TOTAL_not_kept, event->record.reason);
	} else if (event->kind == EVENT_VERIFIED) {
		counters_add(COUNTER_TOTAL_verified, 1);
	} else if (event->kind != EVENT_BYPASSED) {
		count_share(event, outcomes[event->kind].counter, 1);
	}
	if (outcomes[event->kind].replay == REPLAY_HIT && event->kind != EVENT_VERIFIED) {
		count_share(event, COUNTER_TOTAL_saved_ns, cost > took ? cost - took : 0);
	}
}

/* ---- the line of the log ---- */

/* Adds a text to the line, unless it is empty. */
static void add_some(char line[LOG_LINE_BYTES], const char *before, const char *text, const char *after)
{
	const size_t size = strlen(line);

	if (text[0] != '\0') {
		(void)snprintf(line + size, LOG_LINE_BYTES - size, "%s%s%s", before, text, after);
	}
}

/* The program's name comes last, because it may be long, and lines are truncated. */
static void write_log(const struct event *event)
{
	const struct events_record *record = &event->record;
	char line[LOG_LINE_BYTES] = "", took[24], key[DIGITS_BYTES(KEY_SHOWN)] = "";

	(void)snprintf(took, sizeof(took), "%" PRIu64, record->took_ns / 1000);
	if (record->has_key) {
		(void)digits_spell(record->key, KEY_SHOWN, key);
	}
	add_some(line, "", outcomes[event->kind].words, "");
	add_some(line, ": ", record->reason != COUNTER_NONE ? counter_name(record->reason) : "", "");
	add_some(line, ", ", took, " us");
	add_some(line, ", the agent ", record->agent != AGENT_FETCH_NOT_ASKED ? agent_outcome_words(record->agent) : "",
	         "");
	add_some(line, ", key ", key, "");
	add_some(line, " (", event->detail, ")");
	add_some(line, " (", event->refusal, ")");
	log_write(LOG_INFO, "%s: %s, %s", event->compiler->title, line,
	          event->program ? event->program : event->compiler->unnamed);
}

/* ---- the record, for calls that were not hits ---- */

struct events_record *event_record(struct event *event)
{
	struct events_record *record = &event->record;
	const size_t detail = strlen(event->detail), refusal = strlen(event->refusal);
	const size_t about = about_fit(event->about.bytes, event->about.size, EVENTS_TEXT_BYTES - detail - refusal);

	record->kind = outcomes[event->kind].record;
	record->cost_ns = record->cost_ns ? record->cost_ns : record->took_ns;
	record->pid = (uint32_t)getpid();
	record->parts[EVENTS_DETAIL] = (struct events_text){event->detail, detail};
	record->parts[EVENTS_REFUSAL] = (struct events_text){event->refusal, refusal};
	record->parts[EVENTS_ABOUT] = (struct events_text){event->about.bytes, about};
	record->is_cut = about < event->about.size || event->about.failed;
	return record;
}

static bool has_record(const struct event *event)
{
	const struct runtime *runtime = runtime_get();

	return outcomes[event->kind].record != EVENTS_COUNTS && !runtime->off_reason && runtime->store &&
	       !runtime->settings.read_only;
}

bool event_needs_about(const struct event *event)
{
	return runtime_get()->settings.trace || has_record(event);
}

/* Tells the worker of `nvrtccache warm` that is this process how its call ended. */
static void tell_worker(const struct event *event)
{
	const char *reason = event->record.reason != COUNTER_NONE ? counter_name(event->record.reason) : "";
	const char *detail = event_explanation(event);

	replay_told.outcome = outcomes[event->kind].replay;
	replay_told.key[0] = '\0';
	if (event->record.has_key) {
		(void)digits_spell(event->record.key, sizeof(event->record.key), replay_told.key);
	}
	(void)snprintf(replay_told.why, sizeof(replay_told.why), "%s%s%s", reason,
	               reason[0] != '\0' && detail[0] != '\0' ? ": " : "", detail);
}

/* Hits have no record of their own, nor have compilations that verify a hit: they are counted. */
void event_tell(struct event *event, int return_code)
{
	int saved = errno;

	event->record.took_ns = (uint64_t)(runtime_clock() - event->start_ns);
	event->record.return_code = return_code;
	if (REPLAY_FORBIDS()) {
		tell_worker(event);
	}
	if (log_wanted(LOG_INFO)) {
		write_log(event);
	}
	if (runtime_get()->settings.trace) {
		event_write_trace(runtime_get()->settings.trace, event, outcomes[event->kind].category);
	}
	if (replay_told.mode != REPLAY_CHECK) {
		count_end(event);
		(void)(has_record(event) ? events_tell(event_record(event), EVENTS_WHEN_DUE)
		                         : events_tell_counts(EVENTS_WHEN_DUE));
	}
	directory_drop_root();
	stream_free(&event->about);
	errno = saved;
}
