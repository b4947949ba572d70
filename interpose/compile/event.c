/* SPDX-License-Identifier: MIT */
#include "interpose/compile/event.h"

#include "cache/calls.h"
#include "cache/digits.h"
#include "cache/json.h"
#include "interpose/compile/library.h"
#include "interpose/compiler.h"
#include "keygen/about.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY_SHOWN 400
#define ENDING_BYTES  sizeof("],\"cut\":false}\n")

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

const char *event_category(const struct event *event)
{
	static const char *const categories[] = {
#define EVENT_CATEGORY(name, category, words) [EVENT_##name] = (category),
	    EVENT_KINDS(EVENT_CATEGORY)
#undef EVENT_CATEGORY
	};

	return categories[event->kind];
}

static void put_library(struct json *json, const struct library *library)
{
	char version[32];

	if (library->major > 0) { /* the release is known */
		(void)snprintf(version, sizeof(version), "%d.%d", library->major, library->minor);
		json_string(json, "version", version);
	}
	json_text_cut(json, "library", library->path, strlen(library->path), LIBRARY_SHOWN);
}

void event_put_facts(struct json *json, const struct event *event)
{
	char digits[DIGITS_BYTES(sizeof(event->key))];

	json_string(json, "compiler", event->compiler->name);
	if (event->library) {
		put_library(json, event->library);
	}
	json_string(json, "reached", event->reached);
	if (event->has_key) {
		json_string(json, "key", digits_spell(event->key, sizeof(event->key), digits));
	}
	if (event->reason != COUNTER_NONE) {
		json_string(json, "reason", counter_name(event->reason));
	}
	if (event->agent != AGENT_FETCH_NOT_ASKED) {
		json_string(json, "agent", agent_outcome_name(event->agent));
		json_number(json, "agent_wait", event->asking.ns);
	}
	json_number(json, "bytes", event->bytes);
	json_number(json, "cost", event->compile_ns);
	json_number(json, "wait", event->wait.ns);
	json_integer(json, "result", event->return_code);
}

/* Writes one fact of the request, or nothing and returns 1 if there is no room. */
static int put_fact(const struct about_fact *fact, void *context)
{
	struct json *json = context, before = *json;
	char digits[DIGITS_BYTES(ABOUT_DIGEST_BYTES)];

	json_begin_object(json, NULL);
	json_text(json, about_kind_name(fact->kind), fact->text, fact->size);
	if (fact->digest) {
		json_string(json, "digest", digits_spell(fact->digest, ABOUT_DIGEST_BYTES, digits));
	}
	json_end(json);
	if (!json->failed) {
		return 0;
	}
	*json = before;
	return 1;
}

size_t event_spell(const struct event *event, uint64_t when_ns, char ret_line[JOURNAL_RECORD_BYTES])
{
	static const char *const why[] = {[EVENT_WHY_STALE] = "stale", [EVENT_WHY_UNFIT] = "unfit"};
	struct json json = json_fixed(ret_line, JOURNAL_RECORD_BYTES - ENDING_BYTES, JSON_BYTES_KEPT);
	bool is_cut;

	json_begin_object(&json, NULL);
	json_number(&json, "nvrtccache", 1); /* JOURNAL_BEGINNING */
	json_number(&json, "time_ns", when_ns);
	json_number(&json, "took", event->call.ns);
	json_integer(&json, "pid", call_getpid());
	json_string(&json, "outcome", event_category(event));
	event_put_facts(&json, event);
	json_string(&json, "why", why[event->why]);
	json_string(&json, "detail", event->detail[0] ? event->detail : NULL);
	json_string(&json, "refusal", event->refusal[0] ? event->refusal : NULL);
	json_begin_array(&json, "about");
	is_cut = about_read(event->about.bytes, event->about.size, put_fact, &json) != 0;
	json.capacity = JOURNAL_RECORD_BYTES;
	json_end(&json);
	json_bool(&json, "cut", is_cut);
	json_end(&json);
	json_end_line(&json);
	return json.failed ? 0 : json.size;
}
