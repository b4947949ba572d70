/* SPDX-License-Identifier: MIT */
/*
 * event: how one call ended that makes something, for whoever is told: the log, the time line, the journal
 *
 * Calling sequence: event_begin() at the call's start; whoever learns something writes it into the event; event_end();
 * event_free().
 * A call that never comes back (its thread is cancelled, its callback jumps out) is not told of.
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

/* X(NAME, category on the time line, words in the log) */
#define EVENT_KINDS(X)                                      \
	X(HIT_IN_MEMORY, "hit_memory", "hit in memory")     \
	X(HIT_ON_DISK, "hit_disk", "hit on disk")           \
	X(STORED, "miss", "stored")                         \
	X(NOT_KEPT, "not_kept", "not kept")                 \
	X(VERIFIED, "verified", "compiled to verify a hit") \
	X(PASSED_THROUGH, "bypassed", "passed through")

enum event_kind {
#define EVENT_ENUM(name, category, words) EVENT_##name,
	EVENT_KINDS(EVENT_ENUM)
#undef EVENT_ENUM
};

#define EVENT_DETAIL_BYTES 512

/* Of whom an event is: what the handle's record says, or what is known where there is none. */
struct event_subject {
	const struct compiler *compiler;
	const char *name; /* of what is compiled; NULL: it has none, or nobody knows it */
	int major, minor; /* of the library; 0: it was not asked */
};

struct event {
	enum event_kind kind;
	enum counter reason;              /* of what was not kept or passed through; else COUNTER_NONE */
	char detail[EVENT_DETAIL_BYTES];  /* why it was no hit, as far as known */
	char refusal[EVENT_DETAIL_BYTES]; /* what of it was not kept: a file, a variable, a return code */
	bool is_stale;                    /* that is what of a result did not hold */
	bool is_unfit;                    /* that is why a result that holds was not given, or none was looked for */
	bool has_key;
	uint8_t key[ENTRY_KEY_BYTES];
	int64_t start_ns, end_ns; /* runtime_clock() */
	int64_t wait_start_ns;    /* for another who compiles the same; 0: nobody was waited for */
	uint64_t wait_ns;
	enum agent_outcome agent; /* what the node's agent said, which was asked since then, and how long that took */
	int64_t agent_start_ns;
	uint64_t agent_ns;
	uint64_t compile_ns; /* of the real compile: now, or for a hit when it was kept */
	uint64_t bytes;      /* of the result that was stored or served */
	int return_code;
	/*
	 * What was asked for (about.h): of a miss, filled in by admit_result() behind the compile; of what was passed
	 * through, behind the real call, if there is a journal; of any other, for the time line alone, before it is drawn.
	 */
	struct stream about;
};

void event_begin(struct event *ret_event, int64_t now_ns);
/* Of the event that has this reason, from now on. */
void event_set(struct event *event, enum event_kind kind, enum counter reason);
/* Beside why it was no hit: the two have nothing to do with one another. */
__attribute__((format(printf, 2, 3))) void event_explain_refusal(struct event *event, const char *format, ...);
/* Of a result that the call was not given, in the place of what was said before. */
__attribute__((format(printf, 2, 3))) void event_explain_unfit(struct event *event, const char *format, ...);
void event_note_key(struct event *event, const uint8_t key[ENTRY_KEY_BYTES]);
/* Somebody else was waited for since then; once more adds to it. */
void event_note_wait(struct event *event, int64_t since_ns, int64_t now_ns);
void event_note_agent(struct event *event, enum agent_outcome outcome, int64_t since_ns, int64_t now_ns);
/* Cost and size of the result that is served or was kept. */
void event_note_entry(struct event *event, const struct entry *entry);
void event_end(struct event *event, int64_t now_ns, int return_code);
void event_free(struct event *event);

#endif
