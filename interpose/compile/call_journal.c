/* SPDX-License-Identifier: MIT */
#include "interpose/compile/call_journal.h"

#include "cache/calls.h"
#include "cache/journal.h"
#include "interpose/compile/event.h"
#include "interpose/compile/runtime.h"
#include "keygen/about.h"

#include <errno.h>
#include <string.h>

bool call_journal_wanted(void)
{
	const struct runtime *runtime = runtime_get();

	return !runtime->off && runtime->store && !runtime->settings.read_only;
}

static struct journal_text text_of(const char *text)
{
	return (struct journal_text){text, strlen(text)};
}

/* When the call ended, which may be a while ago: a busy machine, counts that had to be written. */
static uint64_t end_of(const struct event *event)
{
	struct timespec now = {0};

	call_clock(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec - (uint64_t)(runtime_clock() - event->end_ns);
}

static enum journal_outcome outcome_of(const struct event *event)
{
	switch (event->kind) {
	case EVENT_STORED:
		return JOURNAL_STORED;
	case EVENT_NOT_KEPT:
		return JOURNAL_NOT_KEPT;
	default:
		return JOURNAL_PASSED;
	}
}

static void write_record(const struct event *event)
{
	const struct settings *settings = &runtime_get()->settings;
	const struct directory directory = {.path = settings->directory, .shared = settings->shared};
	const uint64_t took_ns = (uint64_t)(event->end_ns - event->start_ns);
	struct journal_record record = {
	    .when_ns = end_of(event),
	    .cost_ns = event->compile_ns ? event->compile_ns : took_ns,
	    .took_ns = took_ns,
	    .pid = (uint32_t)call_getpid(),
	    .outcome = outcome_of(event),
	    .has_key = event->has_key,
	    .is_stale = event->is_stale,
	    .agent = (uint8_t)event->agent,
	    .is_unfit = event->is_unfit,
	    .has_failed = event->return_code != 0,
	    .reason = text_of(event->reason != COUNTER_NONE ? counter_name(event->reason) : ""),
	    .detail = text_of(event->detail),
	    .refusal = text_of(event->refusal),
	    .about = {(const char *)event->about.bytes, event->about.size},
	};
	size_t room = journal_room(&record);

	memcpy(record.key, event->key, sizeof(record.key));
	if (record.about.size > room) {
		record.is_cut = true;
		record.about.size = about_cut(record.about.bytes, record.about.size, room);
	}
	(void)journal_write(&directory, &record);
}

/* Hits leave no record, nor do compiles that verify one. */
static bool is_told(const struct event *event)
{
	return event->kind == EVENT_STORED || event->kind == EVENT_NOT_KEPT || event->kind == EVENT_PASSED_THROUGH;
}

void call_journal_write(const struct event *event)
{
	int saved = errno;

	if (is_told(event) && event->about.bytes && !event->about.failed && call_journal_wanted()) {
		write_record(event);
		errno = saved;
	}
}
