/* SPDX-License-Identifier: MIT */
/*
 * event: how one call ended: from it the counters, the record (cache/events.h), the log and the trace are written
 *
 * Calling sequence: event_begin() when the call starts; functions along the way add details; event_bypass() before a
 * bypassed call; event_end() records any other outcome, and event_count_miss() a miss after it was compiled;
 * event_tell() writes the event and frees what it holds. A call that never returns, because its thread is cancelled or
 * its callback jumps out, is not recorded.
 * Threads: an event lives on one thread's stack. Fork, signals: as for the files that are written. Errors: what cannot
 * be written is lost. errno does not change.
 */
#ifndef INTERPOSE_COMPILE_EVENT_H
#define INTERPOSE_COMPILE_EVENT_H

#include "cache/agent_client.h"
#include "cache/counters.h"
#include "cache/entry.h"
#include "cache/events.h"
#include "interpose/compile/library.h"
#include "keygen/stream.h"

#include <stdbool.h>
#include <stdint.h>

enum event_kind {
	EVENT_HIT_IN_MEMORY,
	EVENT_HIT_ON_DISK,
	EVENT_STORED,
	EVENT_NOT_KEPT,
	EVENT_VERIFIED,
	EVENT_BYPASSED
};

#define EVENT_DETAIL_BYTES 512

struct event {
	const struct compiler *compiler;
	const struct library *library; /* NULL: not known */
	const char *program;           /* the name of the program; NULL: it has none, or it is not known */
	enum reach reach;
	enum event_kind kind;
	int64_t start_ns;      /* runtime_clock() */
	int64_t wait_start_ns; /* the first wait for another thread or process that compiled the same; 0: none */
	uint64_t wait_ns;
	uint64_t agent_ns;   /* the duration of the agent's answer */
	uint64_t bytes;      /* size of the entry that was stored or served */
	struct stream about; /* the request, for people (about.h), or empty */
	/* why, key, agent, and the duration of the real compile (for a hit, that of the stored one); the rest later */
	struct events_record record;
	char detail[EVENT_DETAIL_BYTES];  /* why the call was not a hit, if known */
	char refusal[EVENT_DETAIL_BYTES]; /* what prevented caching: a file, a variable, a return code */
};

/* `program` must stay valid until event_tell(). */
void event_begin(struct event *ret_event, const struct compiler *compiler, const struct library *library,
                 enum reach reach, const char *program);
/* Records the outcome. `entry` is the entry that was stored or served; NULL: none. */
void event_end(struct event *event, enum event_kind kind, enum counter reason, const struct entry *entry);
/* Sets `refusal`, which is independent of `detail`. */
__attribute__((format(printf, 2, 3))) void event_explain_refusal(struct event *event, const char *format, ...);
/* Sets `detail` to the reason why an entry was not served, and replaces an earlier text. */
__attribute__((format(printf, 2, 3))) void event_explain_unfit(struct event *event, const char *format, ...);
/* Adds a wait for another compile. */
void event_note_wait(struct event *event, int64_t since_ns, int64_t now_ns);
/* Returns `detail`, or if that is empty `refusal`. */
const char *event_explanation(const struct event *event);

/*
 * Returns the record of a miss or a bypass; its texts are the event's. If the request (`about`) has no room, its last
 * facts are left out.
 */
struct events_record *event_record(struct event *event);
/* Returns true if event_tell() will write the request (`about`), which the caller then fills in. */
bool event_needs_about(const struct event *event);
/*
 * Records the outcome, and counts the bypass; the compiler runs afterwards. Neither this count nor that of a miss is
 * part of event_tell(), because the process may exit or fork before the call ends.
 */
void event_bypass(struct event *event, enum counter reason);
/* Counts a miss, after the compilation. */
void event_count_miss(const struct event *event);
/* Writes the event to the trace (event_trace.c). errno may change. */
void event_write_trace(const char *path, const struct event *event, const char *category);
/* Counts the outcome, writes the event, and frees its `about`. */
void event_tell(struct event *event, int return_code);

#endif
