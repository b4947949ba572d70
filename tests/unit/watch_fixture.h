/* SPDX-License-Identifier: MIT */
/* What the tests of the watch share: a private directory, traces, and libraries whose slots are redirected. */
#ifndef TESTS_UNIT_WATCH_FIXTURE_H
#define TESTS_UNIT_WATCH_FIXTURE_H

#include "interpose/nvrtc/texts.h"
#include "interpose/watch/imports.h"
#include "interpose/watch/live.h"
#include "interpose/watch/watch.h"
#include "watched_fixture.h"

/* Patched libraries stay patched until the process ends. */
static struct watch *patched_for_good[8];

static inline void keep(struct watch *watch)
{
	for (size_t i = 0; i < 8; i++) {
		if (!patched_for_good[i]) {
			patched_for_good[i] = watch;
			return;
		}
	}
}

struct patched {
	void *handle;
	struct elf_object object;
	struct watch *watch;
};

static inline struct patched patch_fixture(const char *name)
{
	struct patched patched = {.handle = load_fixture(name)};
	const char *reason = NULL;
	int error;

	patched.object = object_of(patched.handle, "lib_fopen");
	error = watch_patch(&patched.object, resolve_here, &patched.watch, &reason);
	cr_assert_eq(error, 0, "%s: %d %s", name, error, reason ? reason : "");
	keep(patched.watch);
	return patched;
}

/* Used by most tests: a library whose slots are redirected, a trace, and the event found in it. */
static struct patched patched;
static struct trace trace;
static const struct trace_event *event __attribute__((unused));
static struct stat status __attribute__((unused));

#define WATCHED(suite) TestSuite(suite, .init = enter_place, .fini = leave_place)

/* A private directory, made and removed per test, with files older than any compile. */
static char place[PATH_MAX];

static inline void enter_place(void)
{
	cr_assert(private_directory_make(place, sizeof(place), "watch"));
	cr_assert_eq(chdir(place), 0);
	patched = patch_fixture("watched_lazy.so");
}

static inline void leave_place(void)
{
	trace_free(&trace);
	cr_assert_eq(chdir("/"), 0);
	remove_tree(place);
}

static inline void write_file(const char *path, const void *bytes, size_t size)
{
	cr_assert(file_write(path, bytes, size));
}

static inline void write_text(const char *path, const char *text)
{
	write_file(path, text, strlen(text));
}

/* Begins a compile ten seconds from now, so that files just written by tests count as old. */
static inline void begin_trace(struct trace *begun)
{
	trace_init(begun, now_ns() + INT64_C(10000000000));
	begun->reader = texts_reader;
	live_begin(begun);
}

static inline void begin(void)
{
	trace_free(&trace);
	begin_trace(&trace);
}

static inline const struct trace_event *event_of(const char *path, enum trace_kind kind)
{
	for (size_t i = 0; i < trace.count; i++) {
		if (trace.events[i].kind == kind && strcmp(trace.events[i].path, path) == 0) {
			return &trace.events[i];
		}
	}
	return NULL;
}

static inline const struct trace_event *must_see(const char *path, enum trace_kind kind)
{
	const struct trace_event *found = event_of(path, kind);

	cr_assert_not_null(found, "%s", path);
	return found;
}

static inline bool asked_in(const struct trace *asker, const char *variable)
{
	const char *name = NULL;

	while ((name = trace_next_asked(asker, name)) && strcmp(name, variable) != 0) {
	}
	return name != NULL;
}

static inline size_t count_asked(const struct trace *asker)
{
	size_t count = 0;

	for (const char *name = NULL; (name = trace_next_asked(asker, name)); count++) {
	}
	return count;
}

static inline bool asked(const char *variable)
{
	return asked_in(&trace, variable);
}

/* The types of libc's functions bring their attributes with them. */
#pragma GCC diagnostic ignored "-Wunused-result"
#define LIB(patched, name) ((__typeof__(&name))dlsym((patched).handle, "lib_" #name))

#endif
