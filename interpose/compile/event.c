/* SPDX-License-Identifier: MIT */
#include "interpose/compile/event.h"

#include <stdarg.h>
#include <stdio.h>

/* Fields are set one by one, because clearing the large texts for each hit would take time. */
void event_begin(struct event *ret_event, const struct compiler *compiler, const struct library *library,
                 const char *reached, const char *program, int64_t now_ns)
{
	ret_event->compiler = compiler;
	ret_event->program = program;
	ret_event->library = library;
	ret_event->reached = reached;
	ret_event->kind = EVENT_BYPASSED;
	ret_event->reason = COUNTER_NONE;
	ret_event->why = EVENT_WHY_UNKNOWN;
	ret_event->detail[0] = ret_event->refusal[0] = '\0';
	ret_event->return_code = 0;
	ret_event->has_key = false;
	ret_event->call = (struct event_span){now_ns, 0};
	ret_event->wait = ret_event->asking = (struct event_span){0, 0};
	ret_event->agent = AGENT_FETCH_NOT_ASKED;
	ret_event->compile_ns = ret_event->bytes = 0;
	ret_event->about = STREAM_EMPTY;
}

void event_end(struct event *event, enum event_kind kind, enum counter reason, const struct entry *entry)
{
	event->kind = kind;
	event->reason = reason;
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
	event->why = EVENT_WHY_UNFIT;
}

void event_note_wait(struct event *event, int64_t since_ns, int64_t now_ns)
{
	if (event->wait.start_ns == 0) {
		event->wait.start_ns = since_ns;
	}
	event->wait.ns += (uint64_t)(now_ns - since_ns);
}
