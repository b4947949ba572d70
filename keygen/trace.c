/* SPDX-License-Identifier: MIT */
/*
 * Events are in an array in order, with an open-addressed hash index over kind and path, because a compilation probes
 * the same paths again and again.
 */
#include "keygen/trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#define CHUNK_BYTES  ((size_t)32 * 1024)
#define EVENTS_FIRST 64
#define ASKED_FIRST  32

/* Strings are in chunks that never move, so events may point into them. */
struct trace_chunk {
	struct trace_chunk *next;
	size_t used;
	size_t size;
	char bytes[];
};

void trace_init(struct trace *trace, int64_t start_ns)
{
	memset(trace, 0, sizeof(*trace));
	atomic_init(&trace->tainted, 0);
	trace->start_ns = start_ns;
}

void trace_free(struct trace *trace)
{
	struct trace_chunk *chunk = trace->chunks;

	while (chunk) {
		struct trace_chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
	free(trace->events);
	free(trace->asked);
	free(trace->index);
	trace_init(trace, 0);
}

/* A compilation with CUB records some hundred paths: one allocation holds many, and all are freed together. */
static char *keep_string(struct trace *trace, const char *string, size_t length)
{
	struct trace_chunk *chunk = trace->chunks;
	size_t need = length + 1;
	char *kept;

	if (!chunk || chunk->size - chunk->used < need) {
		size_t size = need > CHUNK_BYTES ? need : CHUNK_BYTES;

		chunk = malloc(sizeof(*chunk) + size);
		if (!chunk) {
			return NULL;
		}
		*chunk = (struct trace_chunk){.next = trace->chunks, .size = size};
		trace->chunks = chunk;
	}
	kept = chunk->bytes + chunk->used;
	memcpy(kept, string, length);
	kept[length] = '\0';
	chunk->used += need;
	return kept;
}

static size_t place_of(const struct trace *trace, enum trace_kind kind, const char *path, size_t length)
{
	return (size_t)XXH3_64bits_withSeed(path, length, (XXH64_hash_t)kind) & (trace->index_capacity - 1);
}

static size_t next_place(const struct trace *trace, size_t place)
{
	return (place + 1) & (trace->index_capacity - 1);
}

/* Returns the next event of that kind and path from `place` on, and its place; NULL, and the place of a new one. */
static const struct trace_event *find_event(const struct trace *trace, enum trace_kind kind, const char *path,
                                            size_t *place)
{
	for (; trace->index[*place]; *place = next_place(trace, *place)) {
		const struct trace_event *event = &trace->events[trace->index[*place] - 1];

		if (event->kind == kind && strcmp(event->path, path) == 0) {
			return event;
		}
	}
	return NULL;
}

/* Index slots hold the number of an event plus one; at most half of them are used. */
static bool grow_index(struct trace *trace)
{
	size_t capacity = trace->index_capacity ? trace->index_capacity * 2 : (size_t)EVENTS_FIRST * 2;
	uint32_t *index = calloc(capacity, sizeof(*index));

	if (!index) {
		return false;
	}
	free(trace->index);
	trace->index = index;
	trace->index_capacity = capacity;
	for (size_t i = 0; i < trace->count; i++) {
		const struct trace_event *event = &trace->events[i];
		size_t place = place_of(trace, event->kind, event->path, strlen(event->path));

		while (index[place]) {
			place = next_place(trace, place);
		}
		index[place] = (uint32_t)i + 1;
	}
	return true;
}

/* Events move when the array grows, so the index holds numbers, not pointers. */
static bool grow_events(struct trace *trace)
{
	size_t capacity = trace->capacity ? trace->capacity * 2 : EVENTS_FIRST;
	struct trace_event *events;

	if (capacity >= UINT32_MAX) {
		return false;
	}
	events = realloc(trace->events, capacity * sizeof(*events));
	if (!events) {
		return false;
	}
	trace->events = events;
	trace->capacity = capacity;
	return true;
}

/* The compiler probes the same path many times; an event with the same outcome as an earlier one is not stored. */
static bool same_outcome(const struct trace_event *one, const struct trace_event *other)
{
	return one->error == other->error && file_stamp_same(&one->stamp, &other->stamp) &&
	       memcmp(one->digest.bytes, other->digest.bytes, sizeof(one->digest.bytes)) == 0;
}

/*
 * Returns true if both events found the same file, or the same absence. Directories are compared without times, because
 * a change of their entries is noticed where the entries are probed.
 */
static bool same_answer(const struct trace_event *one, const struct trace_event *other)
{
	if (one->error == other->error && S_ISDIR(one->stamp.mode) && S_ISDIR(other->stamp.mode)) {
		return one->stamp.device == other->stamp.device && one->stamp.inode == other->stamp.inode;
	}
	return one->error == other->error && file_stamp_same(&one->stamp, &other->stamp);
}

/* Taints the trace if the earlier event of that path and kind found another file. */
static void compare_earlier(struct trace *trace, const struct trace_event *event, enum trace_kind kind, size_t length)
{
	size_t place = place_of(trace, kind, event->path, length);
	const struct trace_event *earlier = find_event(trace, kind, event->path, &place);

	if (earlier && !same_answer(earlier, event)) {
		trace_taint_by(trace, TAINT_TOO_NEW, event->path);
	}
}

static const struct trace_event *fail_trace(struct trace *trace)
{
	trace->failed = true;
	return NULL;
}

const struct trace_event *trace_add(struct trace *trace, const struct trace_event *event)
{
	const struct trace_event *earlier;
	struct trace_event *kept;
	const char *path;
	size_t length, place;

	if (trace->failed || !event->path) {
		return fail_trace(trace);
	}
	if (trace->count * 2 >= trace->index_capacity && !grow_index(trace)) {
		return fail_trace(trace);
	}
	length = strlen(event->path);
	/* Probe and open must have found the same file; otherwise the compiler saw two states of it. */
	if (event->kind == TRACE_PROBE || event->kind == TRACE_OPEN) {
		compare_earlier(trace, event, TRACE_PROBE, length);
		compare_earlier(trace, event, TRACE_OPEN, length);
	}
	place = place_of(trace, event->kind, event->path, length);
	while ((earlier = find_event(trace, event->kind, event->path, &place))) {
		if (same_outcome(earlier, event)) {
			return earlier;
		}
		place = next_place(trace, place);
	}
	if (trace->count == trace->capacity && !grow_events(trace)) {
		return fail_trace(trace);
	}
	path = keep_string(trace, event->path, length);
	if (!path) {
		return fail_trace(trace);
	}
	kept = &trace->events[trace->count];
	*kept = *event;
	kept->path = path;
	trace->count++;
	trace->index[place] = (uint32_t)trace->count;
	return kept;
}

const struct trace_event *trace_opened(const struct trace *trace, const char *path)
{
	const struct trace_event *event = NULL;
	size_t place;

	if (trace->count > 0) {
		place = place_of(trace, TRACE_OPEN, path, strlen(path));
		while ((event = find_event(trace, TRACE_OPEN, path, &place)) && event->error != 0) {
			place = next_place(trace, place);
		}
	}
	return event;
}

void trace_asked(struct trace *trace, const char *variable)
{
	char *kept;

	if (trace->failed) {
		return;
	}
	/* A few dozen names at most: a linear search is cheaper than a second index. */
	for (size_t i = 0; i < trace->asked_count; i++) {
		if (strcmp(trace->asked[i], variable) == 0) {
			return;
		}
	}
	if (trace->asked_count == trace->asked_capacity) {
		size_t capacity = trace->asked_capacity ? trace->asked_capacity * 2 : ASKED_FIRST;
		char **asked = realloc(trace->asked, capacity * sizeof(*asked));

		if (!asked) {
			fail_trace(trace);
			return;
		}
		trace->asked = asked;
		trace->asked_capacity = capacity;
	}
	kept = keep_string(trace, variable, strlen(variable));
	if (!kept) {
		fail_trace(trace);
		return;
	}
	trace->asked[trace->asked_count++] = kept;
}

void trace_answered(struct trace *trace, uint32_t question, int64_t answer)
{
	struct machine_answer *at = trace->answers;
	struct machine_answer *end = at + trace->answer_count;

	while (at < end && at->question < question) {
		at++;
	}
	if (at < end && at->question == question) {
		/* Two answers: a processor went on or off line during the compilation. A hit could compare only one. */
		trace_taint(trace, at->answer == answer ? 0 : TAINT_TOLD_OTHERWISE);
		return;
	}
	if (trace->answer_count == MACHINE_ANSWERS_MAX) {
		trace_taint(trace, TAINT_UNKNOWN_CALL);
		return;
	}
	memmove(at + 1, at, (size_t)(end - at) * sizeof(*at));
	*at = (struct machine_answer){.question = question, .answer = answer};
	trace->answer_count++;
}

void trace_taint(struct trace *trace, uint32_t taint)
{
	atomic_fetch_or(&trace->tainted, taint);
}

/* explain shows the first path of each taint, so later ones are not stored. */
void trace_taint_by(struct trace *trace, uint32_t taint, const char *path)
{
	const char *kept = NULL;

	trace_taint(trace, taint);
	for (size_t i = 0; path && i < TAINT_COUNT; i++) {
		if ((taint & 1U << i) && !trace->culprits[i]) {
			kept = kept ? kept : keep_string(trace, path, strlen(path));
			trace->culprits[i] = kept;
		}
	}
}

const char *trace_culprit(const struct trace *trace, uint32_t taints)
{
	for (size_t i = 0; i < TAINT_COUNT; i++) {
		if ((taints & 1U << i) && trace->culprits[i]) {
			return trace->culprits[i];
		}
	}
	return NULL;
}

bool trace_opened_any(const struct trace *trace)
{
	for (size_t i = 0; i < trace->count; i++) {
		if (trace->events[i].kind == TRACE_OPEN) {
			return true;
		}
	}
	return false;
}
