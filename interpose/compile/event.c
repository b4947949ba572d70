/* SPDX-License-Identifier: MIT */
#include "interpose/compile/event.h"

#include "interpose/compile/runtime.h"

#include <stdarg.h>
#include <stdio.h>

/* Fields are set one by one, because clearing the large texts for each hit would take time. */
void event_begin(struct event *ret_event, const struct compiler *compiler, const struct library *library,
                 enum reach reach, const char *program)
{
	ret_event->compiler = compiler;
	ret_event->program = program;
	ret_event->library = library;
	ret_event->reach = reach;
	ret_event->kind = EVENT_BYPASSED;
	ret_event->record = (struct events_record){.agent = AGENT_FETCH_NOT_ASKED};
	ret_event->detail[0] = ret_event->refusal[0] = '\0';
	ret_event->call = (struct event_span){runtime_clock(), 0};
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

const char *event_explanation(const struct event *event)
{
	return event->detail[0] != '\0' ? event->detail : event->refusal;
}
