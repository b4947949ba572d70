/* SPDX-License-Identifier: MIT */
/*
 * The trace (NVRTCCACHE_TRACE): all calls that compile, for chrome://tracing, Perfetto or `nvrtccache report`
 *
 * One complete event ("ph":"X") per call is appended to a file that all processes of a run may share. Each event is a
 * line, written by one write(2), with a comma at its end. A regular file starts with the bracket of a JSON array, which
 * is never closed, as the trace-event format allows; a pipe or a terminal gets only the lines. Before an event is
 * appended to a regular file, the end of the file is read and an incomplete event (its process was killed, the disk was
 * full) is cut off. A file that starts or ends otherwise is not a trace, and is not changed.
 *
 * A slice has the name of its program. Its category ("cat") is the outcome (outcomes[] in event.c). A slice "wait" or
 * "agent" is nested in another slice: the time for which the call waited for another process or thread that compiles
 * the same, or for the node's agent. "args": command (the executable), key, compiler, version, arch, options (one text,
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
#define BEGINNING   "{\"name\":\"" /* of each event */
#define ENDING      ",\n"          /* of each line */
#define PATIENCE_US 200000

/*
 * Returns the offset of the next event, after the last complete line. Bytes after that line are the start of an event
 * whose process was killed during the write, or whose disk was full. -1: the file is not a trace.
 */
static off_t find_end(int file, off_t size)
{
	char text[EVENT_BYTES];
	off_t from = size > EVENT_BYTES ? size - EVENT_BYTES : 0;
	const char *end = NULL;
	size_t torn;
	ssize_t got;

	if (call_pread(file, text, 2, 0) == 2 && memcmp(text, OPENING, 2) == 0) {
		got = call_pread(file, text, sizeof(text), from);
		end = got > 0 ? memrchr(text, '\n', (size_t)got) : NULL;
	}
	if (!end || end == text || (end[-1] != ',' && end[-1] != '[')) {
		return -1;
	}
	end++;
	torn = (size_t)(text + got - end);
	return memcmp(end, BEGINNING, torn < sizeof(BEGINNING) ? torn : sizeof(BEGINNING) - 1) == 0 ? from + end - text
	                                                                                            : -1;
}

/* The file is open for appending, so the kernel ignores the offset, but output_at() checks it against RLIMIT_FSIZE. */
static void append_regular(int file, const char *line, size_t size)
{
	struct stat found;
	off_t end;

	if (fstat(file, &found) < 0) {
		return;
	}
	end = found.st_size > 0 ? find_end(file, found.st_size) : 0;
	if (end >= 0 && output_cut(file, end) == 0 && (end > 0 || output_at(file, 0, OPENING, 2) == 0)) {
		(void)output_at(file, end > 0 ? end : 2, line, size);
	}
}

static void append_line(const char *path, const char *line, size_t size)
{
	int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_APPEND;
	struct stat found;
	bool is_other = stat(path, &found) == 0 && !S_ISREG(found.st_mode);
	int file = call_openat(AT_FDCWD, path, is_other ? O_WRONLY | flags : O_RDWR | O_CREAT | flags, 0600);

	if (file < 0) {
		return;
	}
	if (fstat(file, &found) < 0 || !log_may_write(path, file)) {
		close(file);
		return;
	}
	if (!S_ISREG(found.st_mode)) {
		(void)output_line(file, line, size);
	} else if (lock_bytes(file, LOCK_WHOLE, PATIENCE_US) != LOCK_HELD) {
		append_regular(file, line, size);
		lock_release_bytes(file, LOCK_WHOLE);
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
		json_number(json, "agent_wait", event->asking.ns);
	}
	json_number(json, "bytes", event->bytes);
	json_number(json, "cost", event->compile_ns);
	json_number(json, "wait", event->wait.ns);
	json_integer(json, "result", event->record.return_code);
	json_text_cut(json, "options", facts->options, facts->size, OPTIONS_SHOWN);
	put_some(json, "arch", facts->arch.text, facts->arch.size);
	put_some(json, "kernel", facts->kernel.text, facts->kernel.size);
	put_some(json, "detail", detail[0] != '\0' ? detail : NULL, strlen(detail));
	json_end(json);
}

static void write_slice(const char *path, const struct event *event, const struct facts *facts, const char *category,
                        struct event_span span)
{
	char bytes[EVENT_BYTES];
	struct json json = json_fixed(bytes, sizeof(bytes) - 2);
	const char *name = event->program ? event->program : event->compiler->unnamed;

	json_begin_object(&json, NULL);
	json_text_cut(&json, "name", name, strlen(name), TEXT_SHOWN);
	json_string(&json, "cat", category);
	json_string(&json, "ph", "X");
	json_thousandths(&json, "ts", (uint64_t)span.start_ns);
	json_thousandths(&json, "dur", span.ns);
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

	if (!event->about.failed) {
		(void)about_read(event->about.bytes, event->about.size, see_fact, &facts);
	}
	write_slice(path, event, &facts, category, event->call);
	if (event->wait.start_ns != 0) {
		write_slice(path, event, &facts, "wait", event->wait);
	}
	if (event->record.agent > AGENT_FETCH_SKIPPED) {
		write_slice(path, event, &facts, "agent", event->asking);
	}
}
