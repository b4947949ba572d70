/* SPDX-License-Identifier: MIT */
/*
 * The trace (NVRTCCACHE_TRACE): all calls that compile, for chrome://tracing, Perfetto or `nvrtccache report`
 *
 * One complete event ("ph":"X") per call is appended to a file that all processes of a run may share. Each event is a
 * line, written by one write(2), with a comma at its end. A regular file starts with the bracket of a JSON array, which
 * is never closed, as the trace-event format allows; a pipe or a terminal gets only the lines. A file that starts or
 * ends otherwise is not changed: it is not a trace, or a process was killed in the middle of its write.
 *
 * A slice has the name of its program. Its category ("cat") is the outcome (outcomes[] in event.c). A slice "wait"
 * is nested in another slice: the time for which the call waited for another process or thread that compiles the same. "args": command (the executable), key, compiler, version, arch, options (one text,
 * truncated), reason and detail if there are any, bytes of the result, cost (of the real compilation, in ns), wait
 * (ns), result (the return code). Bytes that are not UTF-8 appear as U+FFFD. The file is opened and closed for each
 * event.
 */
#include "cache/calls.h"
#include "cache/digits.h"
#include "cache/json.h"
#include "cache/lock.h"
#include "cache/output.h"
#include "interpose/compile/event.h"
#include "interpose/compile/log.h"
#include "interpose/compiler.h"
#include "keygen/about.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Limits of escaped texts. The options of a slice, its six other texts and the rest fit into EVENT_BYTES. */
#define TEXT_SHOWN    260
#define OPTIONS_SHOWN 1000
#define EVENT_BYTES   3200

#define OPENING     "[\n"
#define ENDING      ",\n" /* of each line */
#define PATIENCE_US 200000

static bool is_trace(int file, off_t size)
{
	char first[2], last[2];

	return call_pread(file, first, 2, 0) == 2 && memcmp(first, OPENING, 2) == 0 &&
	       call_pread(file, last, 2, size - 2) == 2 && (size == 2 || memcmp(last, ENDING, 2) == 0);
}

/* Under the lock. What a full disk or a limit has cut off is removed. */
static void append_regular(int file, const char *line, size_t size)
{
	struct stat found;

	if (fstat(file, &found) == 0 &&
	    (found.st_size == 0 ? output_line(file, OPENING, 2) == 0 : is_trace(file, found.st_size)) &&
	    output_line(file, line, size) != 0) {
		(void)output_cut(file, found.st_size);
	}
}

/* O_RDWR: the end of a trace is read. A pipe is then its own reader, and holds what has no other one. */
static void append_line(const char *path, const char *line, size_t size)
{
	struct stat found;
	int file = call_openat(AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_APPEND, 0600);

	if (file < 0) {
		return;
	}
	if (fstat(file, &found) == 0 && log_may_write(path, file)) {
		if (!S_ISREG(found.st_mode)) {
			(void)output_line(file, line, size);
		} else if (lock_bytes(file, LOCK_WHOLE, PATIENCE_US) != LOCK_HELD) {
			append_regular(file, line, size);
			lock_release_bytes(file, LOCK_WHOLE);
		}
	}
	close(file);
}

/* What the request says. A text NULL: nothing. */
struct facts {
	struct about_fact command;
	struct about_fact kernel; /* the first name expression, which tells programs apart that have no name */
	struct about_arch arch;   /* that the options name */
	char options[OPTIONS_SHOWN];
	size_t size;
};

/* The options become one text, as typed in a shell but without quoting. */
static void add_option(struct facts *facts, const char *text, size_t size)
{
	size_t room = sizeof(facts->options) - facts->size;

	about_see_arch(&facts->arch, text, size);
	if (facts->size > 0 && room > 0) {
		facts->options[facts->size++] = ' ';
		room--;
	}
	size = size < room ? size : room;
	memcpy(facts->options + facts->size, text, size);
	facts->size += size;
}

static int see_fact(const struct about_fact *fact, void *context)
{
	struct facts *facts = context;

	if (fact->kind == ABOUT_COMMAND) {
		facts->command = *fact;
	} else if (fact->kind == ABOUT_EXPRESSION && !facts->kernel.text) {
		facts->kernel = *fact;
	} else if (fact->kind == ABOUT_OPTION) {
		add_option(facts, fact->text, fact->size);
	}
	return 0;
}

static void put_some(struct json *json, const char *name, const char *text, size_t size)
{
	if (text) {
		json_text_cut(json, name, text, size, TEXT_SHOWN);
	}
}

static void put_library(struct json *json, const struct library *library)
{
	char version[32];

	if (library->major > 0) { /* the release is known */
		(void)snprintf(version, sizeof(version), "%d.%d", library->major, library->minor);
		json_string(json, "version", version);
	}
	put_some(json, "library", library->path, strlen(library->path));
}

static void put_args(struct json *json, const struct event *event, const struct facts *facts)
{
	char digits[DIGITS_BYTES(sizeof(event->record.key))];
	const char *detail = event_explanation(event);

	json_begin_object(json, "args");
	put_some(json, "command", facts->command.text, facts->command.size);
	json_string(json, "compiler", event->compiler->name);
	if (event->library) {
		put_library(json, event->library);
	}
	json_string(json, "reached", event->reach == REACH_EXPORT ? "linked" : "dlsym");
	if (event->record.has_key) {
		json_string(json, "key", digits_spell(event->record.key, sizeof(event->record.key), digits));
	}
	if (event->record.reason != COUNTER_NONE) {
		json_string(json, "reason", counter_name(event->record.reason));
	}
	if (event->record.agent != AGENT_FETCH_NOT_ASKED) {
		json_string(json, "agent", agent_outcome_name(event->record.agent));
		json_number(json, "agent_wait", event->agent_ns);
	}
	json_number(json, "bytes", event->bytes);
	json_number(json, "cost", event->record.cost_ns);
	json_number(json, "wait", event->wait_ns);
	json_integer(json, "result", event->record.return_code);
	json_text_cut(json, "options", facts->options, facts->size, OPTIONS_SHOWN);
	put_some(json, "arch", facts->arch.text, facts->arch.size);
	put_some(json, "kernel", facts->kernel.text, facts->kernel.size);
	put_some(json, "detail", detail[0] != '\0' ? detail : NULL, strlen(detail));
	json_end(json);
}

static void write_slice(const char *path, const struct event *event, const struct facts *facts, const char *category,
                        int64_t start_ns, uint64_t ns)
{
	char bytes[EVENT_BYTES];
	struct json json = json_fixed(bytes, sizeof(bytes) - 2);
	const char *name = event->program ? event->program : event->compiler->unnamed;

	json_begin_object(&json, NULL);
	json_text_cut(&json, "name", name, strlen(name), TEXT_SHOWN);
	json_string(&json, "cat", category);
	json_string(&json, "ph", "X");
	json_thousandths(&json, "ts", (uint64_t)start_ns);
	json_thousandths(&json, "dur", ns);
	json_integer(&json, "pid", getpid());
	json_integer(&json, "tid", syscall(SYS_gettid));
	put_args(&json, event, facts);
	json_end(&json);
	if (!json.failed) {
		memcpy(bytes + json.size, ENDING, 2);
		append_line(path, bytes, json.size + 2);
	}
}

void event_write_trace(const char *path, const struct event *event, const char *category)
{
	struct facts facts = {.size = 0};

	(void)about_read(event->about.bytes, event->about.size, see_fact, &facts);
	write_slice(path, event, &facts, category, event->start_ns, event->record.took_ns);
	if (event->wait_start_ns != 0) {
		write_slice(path, event, &facts, "wait", event->wait_start_ns, event->wait_ns);
	}
}
