/* SPDX-License-Identifier: MIT */
/*
 * The compilations that created PCH files are in a list that grows only at its head, so that it can be read without a
 * lock. NVRTC's scratch files are recognised by their names, because NVRTC opens them like any other file.
 */
#include "interpose/nvrtc/pch.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * One PCH file, and the files that the compilation that created it had read. `trace` is only a container of events
 * here.
 */
struct maker {
	struct maker *next;
	char *path;
	struct trace trace;
};

static _Atomic(struct maker *) makers; /* grows at its head, and never shrinks */

/* Returns the end of "<digits>_<digits>"; NULL if the text does not begin so. */
static const char *skip_numbers(const char *text)
{
	size_t first = strspn(text, "0123456789");
	size_t second = text[first] == '_' ? strspn(text + first + 1, "0123456789") : 0;

	return first > 0 && second > 0 ? text + first + 1 + second : NULL;
}

/* Returns true for edg<digits>_<digits>, or (13.5) edg.<six letters of mkstemp>. */
static bool is_work_file(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	const char *end;

	if (strncmp(name, "edg.", 4) == 0) {
		return strspn(name + 4, letters) == 6 && strlen(name) == 10;
	}
	end = strncmp(name, "edg", 3) == 0 ? skip_numbers(name + 3) : NULL;
	return end && *end == '\0';
}

static bool is_scratch(const char *path)
{
	static const char directory[] = "/__nvrtc_auto_pch_";
	const char *at = path ? strstr(path, directory) : NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (at) {
		const char *end = skip_numbers(at + sizeof(directory) - 1);

		return end && (*end == '/' || *end == '\0') && !strstr(end, "..");
	}
	return slash && is_work_file(slash + 1);
}

enum scratch pch_scratch(const char *path)
{
	size_t size = path ? strlen(path) : 0;

	if (!is_scratch(path)) {
		return SCRATCH_NO;
	}
	return size > 4 && strcmp(path + size - 4, ".pch") == 0 ? SCRATCH_KEPT : SCRATCH_PASSING;
}

static struct maker *find_maker(const char *path)
{
	struct maker *maker = atomic_load_explicit(&makers, memory_order_acquire);

	while (maker && strcmp(maker->path, path) != 0) {
		maker = maker->next;
	}
	return maker;
}

/*
 * Returns true if the path still has the state of the event. Directories are compared only by identity, because their
 * times change with every temporary file of another process.
 */
static bool still_so(const struct trace_event *event)
{
	struct file_stamp stamp;
	struct stat status;

	if (event->error != 0) {
		return stat(event->path, &status) != 0 && errno == event->error;
	}
	if (stat(event->path, &status) != 0) {
		return false;
	}
	file_stamp_from(&status, &stamp);
	if (S_ISDIR(stamp.mode)) {
		return stamp.device == event->stamp.device && stamp.inode == event->stamp.inode;
	}
	return file_stamp_same(&stamp, &event->stamp);
}

static int complete_from(const struct maker *maker, struct trace *trace)
{
	if (maker->trace.mode != trace->mode) {
		return -ESTALE;
	}
	for (size_t i = 0; i < maker->trace.count; i++) {
		const struct trace_event *event = &maker->trace.events[i];

		if (!still_so(event)) {
			return -ESTALE;
		}
		if (!trace_add(trace, event)) {
			return -ENOMEM;
		}
	}
	trace_taint(trace, atomic_load(&maker->trace.tainted));
	return 0;
}

int pch_complete(struct trace *trace)
{
	size_t count = trace->count;
	int error = 0;

	for (size_t i = 0; i < count && error == 0; i++) {
		if (trace->events[i].kind == TRACE_SCRATCH_READ) {
			const struct maker *maker = find_maker(trace->events[i].path);

			error = maker ? complete_from(maker, trace) : -ENOENT;
		}
	}
	return error;
}

static struct maker *make_maker(const char *path, const struct trace *trace)
{
	struct maker *maker = calloc(1, sizeof(*maker));

	if (!maker) {
		return NULL;
	}
	trace_init(&maker->trace, trace->start_ns);
	maker->trace.mode = trace->mode;
	maker->path = strdup(path);
	for (size_t i = 0; i < trace->count; i++) {
		if (trace->events[i].kind == TRACE_PROBE || trace->events[i].kind == TRACE_OPEN) {
			(void)trace_add(&maker->trace, &trace->events[i]);
		}
	}
	atomic_store(&maker->trace.tainted, atomic_load(&trace->tainted));
	if (!maker->path || maker->trace.failed || trace->failed) {
		trace_free(&maker->trace);
		free(maker->path);
		free(maker);
		return NULL;
	}
	return maker;
}

void pch_remember(const struct trace *trace)
{
	for (size_t i = 0; i < trace->count; i++) {
		struct maker *maker;

		if (trace->events[i].kind != TRACE_SCRATCH_MADE) {
			continue;
		}
		maker = make_maker(trace->events[i].path, trace);
		if (maker) {
			/* if a file is created again, the search finds its newest record first */
			maker->next = atomic_load_explicit(&makers, memory_order_relaxed);
			while (!atomic_compare_exchange_weak_explicit(&makers, &maker->next, maker,
			                                              memory_order_release, memory_order_relaxed)) {
			}
		}
	}
}

#define TOLD_HEAP (UINT32_C(1) << 31) /* in `told` of struct library, beside the sticky options (options.h) */

void pch_set_heap(struct library *library)
{
	atomic_fetch_or(&library->told, TOLD_HEAP);
}

bool pch_heap_was_set(const struct library *library)
{
	return (atomic_load(&library->told) & TOLD_HEAP) != 0;
}
