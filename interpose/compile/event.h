/* SPDX-License-Identifier: MIT */
/*
 * event: how one call ended that makes something: the one record that all who are told have views of
 *
 * Calling sequence: event_begin() at the call's start; those in between note what they learn; event_end() is told how it
 * ended; event_tell() (views.h), which frees what the event holds. A call that never comes back (its thread is
 * cancelled, its callback jumps out) is not told of.
 * Threads: an event is of one thread's stack. Fork, signals, errors: none.
 */
#ifndef INTERPOSE_COMPILE_EVENT_H
#define INTERPOSE_COMPILE_EVENT_H

#include "cache/agent.h"
#include "cache/counters.h"
#include "cache/entry.h"
#include "keygen/stream.h"

#include <stdbool.h>
#include <stdint.h>

struct compiler;
struct library;

/* X(NAME, category on the time line, words in the log) */
#define EVENT_KINDS(X)                                      \
	X(HIT_IN_MEMORY, "hit_memory", "hit in memory")     \
	X(HIT_ON_DISK, "hit_disk", "hit on disk")           \
	X(STORED, "miss", "stored")                         \
	X(NOT_KEPT, "not_kept", "not kept")                 \
	X(VERIFIED, "verified", "compiled to verify a hit") \
	X(BYPASSED, "bypassed", "passed through")

enum event_kind {
#define EVENT_ENUM(name, category, words) EVENT_##name,
	EVENT_KINDS(EVENT_ENUM)
#undef EVENT_ENUM
};

/* What `detail` is about. */
enum event_why {
	EVENT_WHY_UNKNOWN, /* nothing was there */
	EVENT_WHY_STALE,   /* what of a result did not hold */
	EVENT_WHY_UNFIT    /* why a result that holds was not given, or none was looked for */
};

#define EVENT_DETAIL_BYTES 512

struct event_span {
	int64_t start_ns; /* runtime_clock(); 0: there was none */
	uint64_t ns;
};

struct event {
	const struct compiler *compiler;
	const struct library *library; /* NULL: it is not known which */
	const char *program;           /* the name of what is compiled; NULL: it has none, or nobody knows it */
	const char *reached;           /* how the call came to us: "linked" or "dlsym" */
	enum event_kind kind;
	enum counter reason; /* of what was not kept or passed through; else COUNTER_NONE */
	enum event_why why;
	char detail[EVENT_DETAIL_BYTES];  /* why it was no hit, as far as known */
	char refusal[EVENT_DETAIL_BYTES]; /* what of it was not kept: a file, a variable, a return code */
	int return_code;
	bool has_key;
	uint8_t key[ENTRY_KEY_BYTES];
	struct event_span call;
	struct event_span wait;   /* for another who compiles the same */
	enum agent_outcome agent; /* what the node's agent said */
	struct event_span asking; /* the agent */
	uint64_t compile_ns;      /* of the real compile: now, or for a hit when it was kept */
	uint64_t bytes;           /* of the result that was stored or served */
	struct stream about;      /* what was asked for (about.h), or empty */
};

/* `library` NULL: it is not known which. `program`: the caller's text, until the event was told. */
void event_begin(struct event *ret_event, const struct compiler *compiler, const struct library *library,
                 const char *reached, const char *program, int64_t now_ns);
/* How it ended. `entry`: the result that was stored or is served; NULL: none. */
void event_end(struct event *event, enum event_kind kind, enum counter reason, const struct entry *entry);
/* Beside why it was no hit: the two have nothing to do with one another. */
__attribute__((format(printf, 2, 3))) void event_explain_refusal(struct event *event, const char *format, ...);
/* Of a result that the call was not given, in the place of what was said before. */
__attribute__((format(printf, 2, 3))) void event_explain_unfit(struct event *event, const char *format, ...);
/* Somebody else was waited for from then until now; once more adds to it. */
void event_note_wait(struct event *event, int64_t since_ns, int64_t now_ns);

#endif
