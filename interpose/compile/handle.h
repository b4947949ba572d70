/* SPDX-License-Identifier: MIT */
/*
 * program: what we know of one nvrtcProgram
 *
 *     created --hit--> served (getters answer from an entry; the real program has not been compiled)
 *        |               |
 *        |               +-- a miss or anything that needs the real program: its history is replayed --> real
 *        |               '-- a miss, and a replay would no longer give what was served --> resting (replay.h)
 *        '--miss--> real (getters are forwarded)
 *
 * The host holds the real handle; the record hangs beside it in a table. Getters answer from `served` when it is set
 * and are forwarded when it is not; where there is a `base`, it answers what the real program lacks.
 *
 * Calling sequence: program_add() after a successful nvrtcCreateProgram, program_find() in every call, program_take()
 * before nvrtcDestroyProgram (after it, another thread may be given the same handle), then program_free(), or
 * program_put_back() where the library refused.
 * Threads: program_find() takes no lock; whatever changes the table does, for a few loads. A record itself is guarded
 * by nothing: a host that uses one program in two threads at once must serialise them, with NVRTC as with us; getters
 * may run side by side. Fork: program_fork_child(). Signals, asynchronous cancellation: program_find(). Errors:
 * program_add() returns NULL without memory: the program is then unknown, and every call is forwarded. Ownership: the
 * record owns its copies and one reference per held entry; lowered names point into held entries and so live as long as
 * the program. Hosts that never destroy programs (TensorRT-LLM) cost the record and its entries: the copy of the source
 * goes after the first compile.
 */
#ifndef INTERPOSE_COMPILE_HANDLE_H
#define INTERPOSE_COMPILE_HANDLE_H

#include "cache/entry.h"
#include "interpose/compile/library.h"
#include "interpose/nvrtc/request.h"
#include "interpose/nvrtc/types.h"

#include <stdbool.h>

/* One earlier compile of the handle: enough to do it again on the real program. */
struct compile_call {
	char **options; /* one block: pointers, then text */
	int option_count;
	uint64_t asked; /* half a fingerprint, of its call run alone */
	bool done;      /* the real program has been through it, or never will be (replay.h) */
	bool refused;   /* for its options: nothing of it is there */
};

/* How its host comes to NVRTC: past an export, functions without one of ours bypass us. */
enum reach { REACH_EXPORT, REACH_THUNK };

struct program {
	nvrtcProgram handle;
	struct library *library;
	enum reach reach;
	bool keyed;          /* requests of it can have a key: nothing happened to it that a key cannot hold */
	enum counter reason; /* why not */
	struct stream creation;
	bool has_memory_headers;
	bool texts_known;    /* so that the next two are what the source and the headers in memory say */
	uint32_t findings;   /* enum scan_finding there, but for SCAN_PLACE; while unknown, what binds is assumed */
	struct stream paths; /* scan_paths() of them */
	char *name;          /* NULL as given */
	char **names;        /* expressions, in order */
	size_t name_count;
	bool closed_names; /* a compile reached the front end: the real AddNameExpression would answer 8 */
	struct compile_call *calls;
	struct key *keys; /* of those calls, each with what it left (seal_history() in compile.c) */
	size_t call_count;
	size_t sealed;    /* so many of the keys have that in them */
	struct key state; /* what the last of those left */
	struct entry *served;
	struct entry *base; /* of a resting program */
	struct entry **held;
	size_t held_count;
	flow_callback *callback;
	void *payload;
	int cancel_state; /* the host's, during a compile */
};

struct program *program_add(nvrtcProgram handle, struct library *library, enum reach reach);
struct program *program_find(nvrtcProgram handle);
struct program *program_take(nvrtcProgram handle);
void program_put_back(struct program *program);
void program_free(struct program *program); /* NULL is fine */

int program_add_name(struct program *program, const char *expression);
/* Remembers a compile under its key. -ENOMEM: the history is then not known and the program is no longer keyed. */
int program_add_call(struct program *program, int option_count, const char *const *options, const struct key *key,
                     uint64_t asked, bool done);
/* Takes one more reference: from now on getters answer from this entry. */
int program_serve(struct program *program, struct entry *entry);

void program_fork_child(void);

#endif
