/* SPDX-License-Identifier: MIT */
/*
 * The trace (NVRTCCACHE_TRACE): all calls that compile, for chrome://tracing, Perfetto or `nvrtccache report`
 *
 * One complete event ("ph":"X") per call is appended to a file that all processes of a run may share. Each event is a
 * line, written by one write(2), with a comma at its end. A regular file starts with the bracket of a JSON array, which
 * is never closed, as the trace-event format allows; a pipe or a terminal gets only the lines. The next event replaces
 * one that a killed process has left incomplete. A file that starts or ends otherwise is not a trace, and not changed.
 *
 * A slice has the name of its program. Its category ("cat") is the outcome (outcomes[] in event.c). A slice "wait" is
 * nested in another slice: the time for which the call waited for another process or thread that compiles the same.
 * "args": command (the executable), key, compiler, version, arch, options (an array), reason and detail if there are
 * any, bytes of the result, cost (of the real compilation, in ns), wait (ns), result (the return code). Texts are cut
 * at TEXT_SHOWN bytes, and the options end after OPTIONS_SHOWN, so that a pipe gets each event as a whole. Bytes that
 * are not UTF-8 appear as U+FFFD. The file is opened and closed for each event.
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

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TEXT_SHOWN    260  /* the limit of an escaped text */
#define OPTIONS_SHOWN 1000 /* no option is added beyond; then an event has less than PIPE_BUF bytes */

#define OPENING     "[\n"
#define BEGINNING   "{\"name\":" /* of each line */
#define ENDING      ",\n"
#define PATIENCE_US 200000

/*
 * Returns where the last whole event ends. Behind it may be the beginning of one whose process was killed while it
 * wrote. -1: the file is not a trace.
 */
static off_t find_end(int file, off_t size)
{
	char text[PIPE_BUF];
	const off_t from = size > PIPE_BUF ? size - PIPE_BUF : 0;
	const bool is_begun = call_pread(file, text, 2, 0) == 2 && memcmp(text, OPENING, 2) == 0;
	const ssize_t got = is_begun ? call_pread(file, text, sizeof(text), from) : 0;
	const char *end = got > 0 ? memrchr(text, '\n', (size_t)got) : NULL;
	size_t torn;

	if (!end || end == text || (end[-1] != ENDING[0] && end[-1] != OPENING[0])) {
		return -1;
	}
	torn = (size_t)(text + got - ++end);
	if (torn > 0 && end[torn - 1] == ']') { /* another program has closed the array */
		return -1;
	}
	return memcmp(end, BEGINNING, torn < strlen(BEGINNING) ? torn : strlen(BEGINNING)) == 0 ? from + (end - text)
	                                                                                        : -1;
}

/* Under the lock. What a full disk or a limit has cut off is removed too. */
static void append_regular(int file, const char *line, size_t size)
{
	struct stat found;
	off_t end;

	if (fstat(file, &found) < 0) {
		return;
	}
	end = found.st_size > 0 ? find_end(file, found.st_size) : 0;
	if (end >= 0 && (end == found.st_size || output_cut(file, end) == 0) &&
	    (end > 0 || output_line(file, OPENING, 2) == 0) && output_line(file, line, size) != 0) {
		(void)output_cut(file, end);
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

struct args {
	struct json *json;
	unsigned seen;     /* a bit for each enum about_kind */
	size_t options_at; /* where the options begin */
	struct about_arch arch;
};

/* Options come last and one after the other; of several expressions the first tells programs without a name apart. */
static int put_fact(const struct about_fact *fact, void *context)
{
	static const char *const names[] = {
	    [ABOUT_COMPILER] = "compiler", [ABOUT_RELEASE] = "version", [ABOUT_OPTION] = "options",
	    [ABOUT_EXPRESSION] = "kernel", [ABOUT_COMMAND] = "command",
	};
	struct args *args = context;
	const char *name = fact->kind <= ABOUT_COMMAND ? names[fact->kind] : NULL;
	const bool is_option = fact->kind == ABOUT_OPTION, is_first = !(args->seen & 1U << fact->kind);

	args->seen |= 1U << fact->kind;
	if (is_option) {
		about_see_arch(&args->arch, fact->text, fact->size);
		if (is_first) {
			json_begin_array(args->json, name);
			args->options_at = args->json->size;
		}
	}
	if (name && (is_option ? args->json->size - args->options_at < OPTIONS_SHOWN : is_first)) {
		json_text_cut(args->json, is_option ? NULL : name, fact->text, fact->size, TEXT_SHOWN);
	}
	return 0;
}

static void put_request(struct json *json, const struct stream *about)
{
	struct args args = {.json = json};

	(void)about_read(about->bytes, about->size, put_fact, &args);
	if (args.seen & 1U << ABOUT_OPTION) {
		json_end(json);
	}
	if (args.arch.text) {
		json_text_cut(json, "arch", args.arch.text, args.arch.size, TEXT_SHOWN);
	}
}

static void put_text(struct json *json, const char *name, const char *text)
{
	json_text_cut(json, name, text, strlen(text), TEXT_SHOWN);
}

static void put_args(struct json *json, const struct event *event)
{
	char digits[DIGITS_BYTES(sizeof(event->record.key))];

	json_begin_object(json, "args");
	put_request(json, &event->about);
	if (event->library) {
		put_text(json, "library", event->library->path);
	}
	json_string(json, "reached", event->reach == REACH_EXPORT ? "linked" : "dlsym");
	if (event->record.has_key) {
		json_string(json, "key", digits_spell(event->record.key, sizeof(event->record.key), digits));
	}
	if (event->record.reason != COUNTER_NONE) {
		json_string(json, "reason", counter_name(event->record.reason));
	}
	if (event->record.agent != AGENT_FETCH_NOT_ASKED) {
		json_string(json, "agent", agent_outcome_words(event->record.agent));
		json_number(json, "agent_wait", event->agent_ns);
	}
	json_number(json, "bytes", event->bytes);
	json_number(json, "cost", event->record.cost_ns);
	json_number(json, "wait", event->wait_ns);
	json_number(json, "result", event->record.return_code);
	put_text(json, "detail", event_explanation(event));
	json_end(json);
}

static void write_slice(const char *path, const struct event *event, const char *category, int64_t start_ns,
                        uint64_t ns)
{
	struct json json = {.bytes = NULL};

	json_begin_object(&json, NULL);
	put_text(&json, "name", event->program ? event->program : event->compiler->unnamed);
	json_string(&json, "cat", category);
	json_string(&json, "ph", "X");
	json_thousandths(&json, "ts", (uint64_t)start_ns);
	json_thousandths(&json, "dur", ns);
	json_number(&json, "pid", getpid());
	json_number(&json, "tid", syscall(SYS_gettid));
	put_args(&json, event);
	json_end(&json);
	json_end_line(&json); /* the first of two bytes, which becomes the comma */
	json_end_line(&json);
	if (!json.failed) {
		json.bytes[json.size - 2] = ENDING[0];
		append_line(path, json.bytes, json.size);
	}
	json_free(&json);
}

void event_write_trace(const char *path, const struct event *event, const char *category)
{
	write_slice(path, event, category, event->start_ns, event->record.took_ns);
	if (event->wait_start_ns != 0) {
		write_slice(path, event, "wait", event->wait_start_ns, event->wait_ns);
	}
}
