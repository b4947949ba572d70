/* SPDX-License-Identifier: MIT */
#include "interpose/compile/event.h"

#include "keygen/about.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Fields are set one by one, because clearing the large texts for each hit would take time. */
void event_begin(struct event *ret_event, const struct compiler *compiler, const struct library *library,
                 const char *reached, const char *program, int64_t now_ns)
{
	ret_event->compiler = compiler;
	ret_event->program = program;
	ret_event->library = library;
	ret_event->reached = reached;
	ret_event->kind = EVENT_BYPASSED;
	ret_event->record = (struct events_record){.agent = AGENT_FETCH_NOT_ASKED};
	ret_event->detail[0] = ret_event->refusal[0] = '\0';
	ret_event->call = (struct event_span){now_ns, 0};
	ret_event->wait = ret_event->asking = (struct event_span){0, 0};
	ret_event->compile_ns = ret_event->bytes = 0;
	ret_event->about = STREAM_EMPTY;
}

void event_end(struct event *event, enum event_kind kind, enum counter reason, const struct entry *entry)
{
	event->kind = kind;
	event->record.reason = reason;
	if (entry) {
		const struct entry_info *info = entry_info(entry);

		event->compile_ns = info->cost_ns;
		event->bytes = info->total_size;
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
	if (event->wait.start_ns == 0) {
		event->wait.start_ns = since_ns;
	}
	event->wait.ns += (uint64_t)(now_ns - since_ns);
}

static struct events_text text_of(const char *text)
{
	return (struct events_text){text, strlen(text)};
}

struct events_record *event_record(struct event *event, uint64_t when_ns)
{
	static const enum events_kind kinds[] = {
	    [EVENT_STORED] = EVENTS_STORED, [EVENT_NOT_KEPT] = EVENTS_NOT_KEPT, [EVENT_BYPASSED] = EVENTS_BYPASSED};
	struct events_record *record = &event->record;
	struct events_text *parts = record->parts;

	record->kind = kinds[event->kind];
	record->when_ns = when_ns;
	record->took_ns = event->call.ns;
	record->cost_ns = event->compile_ns ? event->compile_ns : event->call.ns;
	record->pid = (uint32_t)getpid();
	parts[EVENTS_DETAIL] = text_of(event->detail);
	parts[EVENTS_REFUSAL] = text_of(event->refusal);
	parts[EVENTS_ABOUT].bytes = event->about.bytes;
	parts[EVENTS_ABOUT].size =
	    about_fit(event->about.bytes, event->about.size,
	              EVENTS_TEXT_BYTES - parts[EVENTS_DETAIL].size - parts[EVENTS_REFUSAL].size);
	record->is_cut = parts[EVENTS_ABOUT].size < event->about.size;
	return record;
}
