/* SPDX-License-Identifier: MIT */
/*
 * Events are in an array in order, and in chains of a hash table over their paths, because a compilation probes the
 * same paths again and again.
 */
#include "keygen/trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#define CHAINS       4096 /* a compilation with CUB records some thousand events */
#define EVENTS_FIRST 64

void trace_init(struct trace *trace, int64_t start_ns)
{
	memset(trace, 0, sizeof(*trace));
	atomic_init(&trace->tainted, 0);
	trace->start_ns = start_ns;
}

void trace_free(struct trace *trace)
{
	for (size_t i = 0; i < trace->count; i++) {
		free((char *)trace->events[i].path);
	}
	for (size_t i = 0; i < TAINT_COUNT; i++) {
		free(trace->culprits[i]);
	}
	free(trace->events);
	free(trace->chains);
	stream_free(&trace->asked);
	trace_init(trace, 0);
}

/* Chains consist of numbers of events plus one, because events move when the array grows; 0 is the end. */
static uint32_t *chain_of(const struct trace *trace, const char *path)
{
	return &trace->chains[XXH3_64bits(path, strlen(path)) % CHAINS];
}

/* Returns the first event of the path at or after `number` in its chain, or NULL. */
static struct trace_event *find_event(const struct trace *trace, uint32_t number, const char *path)
{
	for (; number > 0; number = trace->events[number - 1].next) {
		if (strcmp(trace->events[number - 1].path, path) == 0) {
			return &trace->events[number - 1];
		}
	}
	return NULL;
}

/* Makes room for one more event. */
static bool grow_events(struct trace *trace)
{
	size_t capacity = trace->capacity ? trace->capacity * 2 : EVENTS_FIRST;
	struct trace_event *events;

	if (!trace->chains) {
		trace->chains = calloc(CHAINS, sizeof(*trace->chains));
	}
	if (trace->count < trace->capacity) {
		return true;
	}
	events = trace->chains && capacity < UINT32_MAX ? realloc(trace->events, capacity * sizeof(*events)) : NULL;
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
	return one->kind == other->kind && one->error == other->error && file_stamp_same(&one->stamp, &other->stamp) &&
	       memcmp(one->digest.bytes, other->digest.bytes, sizeof(one->digest.bytes)) == 0;
}

/* Directories are compared without times, because a change of their entries is noticed where the entries are probed. */
bool trace_same_answer(const struct trace_event *one, const struct trace_event *other)
{
	if (one->error == other->error && S_ISDIR(one->stamp.mode) && S_ISDIR(other->stamp.mode)) {
		return one->stamp.device == other->stamp.device && one->stamp.inode == other->stamp.inode;
	}
	return one->error == other->error && file_stamp_same(&one->stamp, &other->stamp);
}

static bool is_sight(const struct trace_event *event)
{
	return event->kind == TRACE_PROBE || event->kind == TRACE_OPEN;
}

/* Appends a copy of the event to the array and its chain. */
static const struct trace_event *keep_event(struct trace *trace, const struct trace_event *event)
{
	char *path = strdup(event->path);
	uint32_t *chain = chain_of(trace, event->path);
	struct trace_event *kept = &trace->events[trace->count];

	if (!path) {
		trace->failed = true;
		return NULL;
	}
	*kept = *event;
	kept->path = path;
	kept->next = *chain;
	*chain = (uint32_t)++trace->count;
	return kept;
}

const struct trace_event *trace_add(struct trace *trace, const struct trace_event *event)
{
	const struct trace_event *earlier;
	bool differs = false;

	if (trace->failed || !event->path || !grow_events(trace)) {
		trace->failed = true;
		return NULL;
	}
	earlier = find_event(trace, *chain_of(trace, event->path), event->path);
	for (; earlier; earlier = find_event(trace, earlier->next, event->path)) {
		if (same_outcome(earlier, event)) {
			return earlier;
		}
		/* Probe and open must have found the same file; otherwise the compiler saw two states of it. */
		differs |= is_sight(earlier) && is_sight(event) && !trace_same_answer(earlier, event);
	}
	if (differs) {
		trace_taint_by(trace, TAINT_TOO_NEW, event->path);
	}
	return keep_event(trace, event);
}

const struct trace_event *trace_opened(const struct trace *trace, const char *path)
{
	const struct trace_event *event = trace->chains ? find_event(trace, *chain_of(trace, path), path) : NULL;

	while (event && (event->kind != TRACE_OPEN || event->error != 0)) {
		event = find_event(trace, event->next, path);
	}
	return event;
}

const char *trace_next_asked(const struct trace *trace, const char *previous)
{
	const char *end = (const char *)trace->asked.bytes + trace->asked.size;
	const char *next = previous ? previous + strlen(previous) + 1 : (const char *)trace->asked.bytes;

	return next && next < end ? next : NULL;
}

/* A few dozen names at most: a linear search is cheaper than an index. */
void trace_asked(struct trace *trace, const char *variable)
{
	for (const char *name = NULL; (name = trace_next_asked(trace, name));) {
		if (strcmp(name, variable) == 0) {
			return;
		}
	}
	stream_bytes(&trace->asked, variable, strlen(variable) + 1);
	if (trace->asked.failed) {
		trace_taint(trace, TAINT_UNKNOWN_CALL); /* only the thread that compiles may write `failed` */
	}
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
	trace_taint(trace, taint);
	for (size_t i = 0; path && i < TAINT_COUNT; i++) {
		if ((taint & 1U << i) && !trace->culprits[i]) {
			trace->culprits[i] = strdup(path);
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

bool trace_has(const struct trace *trace, enum trace_kind kind)
{
	for (size_t i = 0; i < trace->count; i++) {
		if (trace->events[i].kind == kind) {
			return true;
		}
	}
	return false;
}
