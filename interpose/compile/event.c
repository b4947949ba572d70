/* SPDX-License-Identifier: MIT */
#include "interpose/compile/event.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void event_begin(struct event *ret_event, int64_t now_ns)
{
	ret_event->kind = EVENT_PASSED_THROUGH;
	ret_event->reason = COUNTER_NONE;
	ret_event->detail[0] = ret_event->refusal[0] = '\0';
	ret_event->is_stale = ret_event->is_unfit = ret_event->has_key = false;
	ret_event->about = STREAM_EMPTY;
	ret_event->start_ns = now_ns;
	ret_event->wait_start_ns = 0;
	ret_event->agent = AGENT_FETCH_NOT_ASKED;
	ret_event->agent_start_ns = 0;
	ret_event->agent_ns = 0;
	ret_event->wait_ns = ret_event->compile_ns = ret_event->bytes = 0;
}

void event_set(struct event *event, enum event_kind kind, enum counter reason)
{
	event->kind = kind;
	event->reason = reason;
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
	event->is_stale = false;
	event->is_unfit = true;
}

void event_note_key(struct event *event, const uint8_t key[ENTRY_KEY_BYTES])
{
	memcpy(event->key, key, sizeof(event->key));
	event->has_key = true;
}

void event_note_wait(struct event *event, int64_t since_ns, int64_t now_ns)
{
	if (event->wait_start_ns == 0) {
		event->wait_start_ns = since_ns;
	}
	event->wait_ns += (uint64_t)(now_ns - since_ns);
}

void event_note_agent(struct event *event, enum agent_outcome outcome, int64_t since_ns, int64_t now_ns)
{
	event->agent = outcome;
	event->agent_start_ns = since_ns;
	event->agent_ns = (uint64_t)(now_ns - since_ns);
}

void event_note_entry(struct event *event, const struct entry *entry)
{
	const struct entry_info *info = entry_info(entry);

	event->compile_ns = info->cost_ns;
	event->bytes = info->total_size;
}

void event_end(struct event *event, int64_t now_ns, int return_code)
{
	event->end_ns = now_ns;
	event->return_code = return_code;
}

void event_free(struct event *event)
{
	if (event->about.bytes) {
		stream_free(&event->about);
	}
}
