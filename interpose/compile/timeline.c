/* SPDX-License-Identifier: MIT */
#include "interpose/compile/timeline.h"

#include "cache/calls.h"
#include "cache/digits.h"
#include "cache/json.h"
#include "cache/network.h"
#include "cache/output.h"
#include "interpose/compile/event.h"
#include "interpose/compile/library.h"
#include "interpose/compile/log.h"
#include "interpose/compiler.h"
#include "keygen/about.h"
#include "keygen/arch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* of a text, escaped */
#define NAME_SHOWN    240
#define OPTIONS_SHOWN 1000
#define DETAIL_SHOWN  400
#define ARCH_SHOWN    32
#define COMMAND_SHOWN 100
#define LIBRARY_SHOWN 400
#define EVENT_BYTES   3200
#define TAIL_BYTES    (INT64_C(2) * EVENT_BYTES) /* a torn event, and the end of the one before it */
#define CLOSING       "\n]\n"
#define PAUSE_US      100
#define PAUSE_MAX_US  5000
#define PATIENCE_US   200000

static _Atomic(const char *) timeline_path;

void timeline_open(const char *path)
{
	atomic_store_explicit(&timeline_path, path, memory_order_release);
}

bool timeline_wanted(void)
{
	return atomic_load_explicit(&timeline_path, memory_order_acquire) != NULL;
}

/*
 * A regular file is an array that is closed after each event: under a lock, the closing bracket gives way to the event
 * and a new one, by one write. Whoever reads it between two events, or after the last process has ended however it did,
 * reads JSON.
 */

/* One that stands still with the lock must not cost every event of the others this wait. */
static _Atomic bool impatient;

/* False: another has it for too long. Where there are no locks one goes on without. */
static bool lock(int file)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (network_is(file)) {
		return true;
	}
	for (unsigned waited = 0, pause = PAUSE_US; call_lock(file, F_OFD_SETLK, &whole) < 0; waited += pause) {
		if (errno != EAGAIN && errno != EACCES && errno != EINTR) {
			return true;
		}
		if (waited >= PATIENCE_US || atomic_load_explicit(&impatient, memory_order_relaxed)) {
			atomic_store_explicit(&impatient, true, memory_order_relaxed);
			return false;
		}
		/* longer ones, as each takes longer than was asked for */
		pause = waited / 4 < PAUSE_US ? PAUSE_US : waited / 4 > PAUSE_MAX_US ? PAUSE_MAX_US : waited / 4;
		call_pause(pause * 1000L);
	}
	atomic_store_explicit(&impatient, false, memory_order_relaxed);
	return true;
}

/*
 * Where the array's last element ends in the file's last bytes; 0: nowhere. What comes after that line is the closing
 * bracket, or an event that was torn: its process was killed in the middle of the write, or the disk was full. An
 * event is one line, so that nothing in a program's name is taken for an end.
 */
static size_t find_end(const char *tail, size_t size)
{
	for (; size > 0; size--) {
		size_t end = size - 1;

		if (tail[end] != '\n') {
			continue;
		}
		end -= end > 0 && tail[end - 1] == ',';
		if (end > 0 && (tail[end - 1] == '}' || tail[end - 1] == '[')) {
			return end;
		}
	}
	return 0;
}

/*
 * Does the file begin as we begin it: the bracket ends a line, and an event begins the next one? "[section]" of somebody's
 * settings does not, nor does an array that is indented, and what find_end() would take for an event in there is none.
 */
static bool is_array(int file)
{
	char first[4];
	ssize_t size = call_pread(file, first, sizeof(first), 0);
	ssize_t at = 1;

	if (size < 2 || first[0] != '[') {
		return false;
	}
	at += first[at] == ' ';
	if (at == size || first[at] != '\n') {
		return false;
	}
	at++;
	return at == size || first[at] == '{' || first[at] == ']';
}

/* What is cut off behind the last event: the closing bracket, or an event that was torn. Else it is not ours to cut. */
static bool is_leftover(const char *rest, size_t size)
{
	size_t at = 0;

	while (at < size && strchr(",\n", rest[at])) {
		at++;
	}
	if (at == size || rest[at] == '{') {
		return true;
	}
	return rest[at] == ']' && (at + 1 == size || (rest[at + 1] == '\n' && at + 2 == size));
}

/* What is no array is somebody's, and not written. `event` has room for what stands before and behind it. */
static void add(int file, char *event, size_t size)
{
	char tail[TAIL_BYTES];
	struct stat found;
	off_t end = 0;
	ssize_t got;

	if (call_fstat(file, &found) < 0) {
		return;
	}
	memcpy(event, "[\n", 2);
	if (found.st_size > 0) {
		off_t from = found.st_size > TAIL_BYTES ? found.st_size - TAIL_BYTES : 0;
		size_t at;

		got = call_pread(file, tail, sizeof(tail), from);
		if (got <= 0 || !is_array(file)) {
			return;
		}
		at = find_end(tail, (size_t)got);
		if (at == 0 || !is_leftover(tail + at, (size_t)got - at)) {
			return;
		}
		end = from + (off_t)at;
		memcpy(event, tail[at - 1] == '[' ? " \n" : ",\n", 2);
	}
	memcpy(event + size, CLOSING, sizeof(CLOSING) - 1);
	size += sizeof(CLOSING) - 1;
	if (output_at(file, end, event, size) == 0) {
		(void)output_cut(file, end + (off_t)size);
	} else if (end > 0 && call_fstat(file, &found) == 0) {
		/* half of it, perhaps: the array is closed where it was */
		(void)output_at(file, end, CLOSING, sizeof(CLOSING) - 1);
		(void)output_cut(file, end + (off_t)sizeof(CLOSING) - 1);
	}
}

/* The first two bytes of `event` are free, and so are those of CLOSING behind its `size`. */
static void append(const char *path, char *event, size_t size)
{
	struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
	int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	struct stat found;
	int file;

	if (stat(path, &found) == 0 && !S_ISREG(found.st_mode)) {
		/* a pipe, a terminal: events follow one another, as that format allows */
		file = call_openat(AT_FDCWD, path, O_WRONLY | O_APPEND | flags, 0);
		if (file >= 0) {
			event[size] = ',';
			event[size + 1] = '\n';
			if (log_may_write(path, file)) {
				(void)output_line(file, event + 2, size);
			}
			call_close(file);
		}
		return;
	}
	file = call_openat(AT_FDCWD, path, O_RDWR | O_CREAT | flags, 0600);
	if (file < 0) {
		return;
	}
	if (call_fstat(file, &found) == 0 && S_ISREG(found.st_mode) && log_may_write(path, file) && lock(file)) {
		add(file, event, size);
		/* said aloud: a child forked meanwhile has the descriptor too */
		(void)call_lock(file, F_OFD_SETLK, &whole);
	}
	call_close(file);
}

/* The event's text; what would not fit is cut inside strings only, for which the bounds above are chosen. */
struct text {
	char bytes[EVENT_BYTES]; /* two in front and those of CLOSING behind are free for add() and append() */
	size_t size;
};

#define TEXT_END (EVENT_BYTES - sizeof(CLOSING))

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang 14 misses va_start */
	size = vsnprintf(text->bytes + text->size, TEXT_END - text->size, format, arguments);
	va_end(arguments);
	text->size += (size_t)size;
}

/* At most `most` bytes of it, escaped; returns how many there were. */
static size_t put_escaped(struct text *text, const char *string, size_t size, size_t most)
{
	size_t taken, written = json_escape(text->bytes + text->size, most, string, size, JSON_BYTES_REPLACED, &taken);

	text->size += written;
	return written;
}

static void put_string(struct text *text, const char *string, size_t most)
{
	put(text, "\"");
	(void)put_escaped(text, string, strlen(string), most);
	put(text, "\"");
}

/* What was asked for: a link's options came long before. */
struct asked {
	struct text *text;
	struct arch arch;
	size_t left;
};

static int put_option(const struct about_fact *fact, void *context)
{
	struct asked *asked = context;

	if (fact->kind != ABOUT_OPTION || asked->left < 2) {
		return 0;
	}
	if (asked->left < OPTIONS_SHOWN) {
		put(asked->text, " ");
		asked->left--;
	}
	asked->left -= put_escaped(asked->text, fact->text, fact->size, asked->left);
	arch_see(&asked->arch, fact->text, fact->size);
	return 0;
}

/* As they would be typed, but for quoting. */
static void put_options(struct text *text, const struct stream *about)
{
	struct asked asked = {.text = text, .left = OPTIONS_SHOWN};

	put(text, ",\"options\":\"");
	if (!about->failed) {
		(void)about_read(about->bytes, about->size, put_option, &asked);
	}
	put(text, "\"");
	if (asked.arch.text) {
		put(text, ",\"arch\":\"");
		(void)put_escaped(text, asked.arch.text, asked.arch.size, ARCH_SHOWN);
		put(text, "\"");
	}
}

static int put_name(const struct about_fact *fact, void *context)
{
	if (fact->kind != ABOUT_COMMAND) {
		return 0;
	}
	(void)put_escaped(context, fact->text, fact->size, COMMAND_SHOWN);
	return 1;
}

static _Atomic pid_t named;

/* In front of a process's first slice: what the process is. Also after a fork, under the same name. */
static void put_process(struct text *text, const struct stream *about)
{
	pid_t pid = getpid();

	if (about->failed || atomic_exchange_explicit(&named, pid, memory_order_relaxed) == pid) {
		return;
	}
	put(text, "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%ld,\"args\":{\"name\":\"", (int)pid,
	    (long)syscall(SYS_gettid));
	(void)about_read(about->bytes, about->size, put_name, text);
	put(text, "\"}},\n");
}

static void put_slice(struct text *text, const struct event *event, const char *category, struct event_span span)
{
	put(text, "{\"name\":");
	put_string(text, event->program ? event->program : event->compiler->unnamed, NAME_SHOWN);
	put(text, ",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%lld.%03lld,\"dur\":%lld.%03lld,\"pid\":%d,\"tid\":%ld",
	    category, (long long)span.start_ns / 1000, (long long)span.start_ns % 1000, (long long)span.ns / 1000,
	    (long long)span.ns % 1000, (int)getpid(), (long)syscall(SYS_gettid));
}

static void put_key(struct text *text, const struct event *event)
{
	char digits[DIGITS_BYTES(sizeof(event->key))];

	put(text, ",\"key\":\"%s\"", digits_spell(event->key, sizeof(event->key), digits));
}

static void put_agent(struct text *text, const struct event *event)
{
	if (event->agent != AGENT_FETCH_NOT_ASKED) {
		put(text, ",\"agent\":\"%s\",\"agent_wait\":%llu", agent_outcome_name(event->agent),
		    (unsigned long long)event->asking.ns);
	}
}

/* Why it was no hit; where that is not known, what of it was not kept. */
static void put_detail(struct text *text, const struct event *event)
{
	const char *detail = event->detail[0] != '\0' ? event->detail : event->refusal;

	if (detail[0] != '\0') {
		put(text, ",\"detail\":");
		put_string(text, detail, DETAIL_SHOWN);
	}
}

static void put_facts(struct text *text, const struct event *event)
{
	put(text, ",\"args\":{\"compiler\":\"%s\"", event->compiler->name);
	if (event->library && event->library->major > 0) { /* it was asked */
		put(text, ",\"version\":\"%d.%d\"", event->library->major, event->library->minor);
	}
	if (event->library) {
		put(text, ",\"library\":");
		put_string(text, event->library->path, LIBRARY_SHOWN);
	}
	put(text, ",\"reached\":\"%s\"", event->reached);
	if (event->has_key) {
		put_key(text, event);
	}
	put_options(text, &event->about);
	if (event->reason != COUNTER_NONE) {
		put(text, ",\"reason\":\"%s\"", counter_name(event->reason));
	}
	put_detail(text, event);
	put_agent(text, event);
	put(text, ",\"bytes\":%llu,\"cost\":%llu,\"wait\":%llu,\"result\":%d}}", (unsigned long long)event->bytes,
	    (unsigned long long)event->compile_ns, (unsigned long long)event->wait.ns, event->return_code);
}

static const char *category_of(enum event_kind kind)
{
	switch (kind) {
#define EVENT_CATEGORY(name, category, words) \
	case EVENT_##name:                    \
		return category;
		EVENT_KINDS(EVENT_CATEGORY)
#undef EVENT_CATEGORY
	}
	return "";
}

/* A slice inside the call's, of a time that it spent on others. */
static void write_part(const char *path, struct text *text, const struct event *event, const char *category,
                       struct event_span span)
{
	text->size = 2;
	put_slice(text, event, category, span);
	put_facts(text, event);
	append(path, text->bytes, text->size);
}

void timeline_write(const struct event *event)
{
	const char *path = atomic_load_explicit(&timeline_path, memory_order_acquire);
	struct text text = {.size = 2};

	if (!path) {
		return;
	}
	put_process(&text, &event->about);
	put_slice(&text, event, category_of(event->kind), event->call);
	put_facts(&text, event);
	append(path, text.bytes, text.size);
	if (event->wait.start_ns != 0) {
		write_part(path, &text, event, "wait", event->wait);
	}
	if (event->agent > AGENT_FETCH_SKIPPED) {
		write_part(path, &text, event, "agent", event->asking);
	}
}
