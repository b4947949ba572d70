/* SPDX-License-Identifier: MIT */
/*
 * handle: the record of one handle of a compiler (an nvrtcProgram)
 *
 *     created --hit--> served (getters answer from an entry; the real handle has not been compiled)
 *        |               |
 *        |               +-- a miss, or a call that needs the real handle: deferred calls are performed --> real
 *        |               '-- a miss, and performing them would no longer give what was served --> detached (replay.h)
 *        '--miss--> real (getters are forwarded)
 *
 * The host holds the real handle; the record is found by its value in a table. Getters answer from `served` if it is
 * set and are forwarded otherwise. With a `base`, that entry answers for what the real handle lacks.
 *
 * Calling sequence: handle_add() after the host's handle was created, with a record of the compiler's that begins with
 * this one; handle_find() in every call; handle_take() before the handle is destroyed, because another thread may be
 * given the same value afterwards; then handle_free(), or handle_put_back() if the library refused.
 * Threads: handle_find() takes no lock; changes of the table take one for a few loads. A record is not locked: a host
 * that uses one handle in two threads has to serialise its calls, as it does without the cache. Getters may run
 * concurrently. Fork: handle_fork_child(). Signals, asynchronous cancellation: handle_find() only. Errors: without
 * memory the handle stays unknown, and its calls are forwarded. Ownership: the record owns its copies and one reference
 * for each held entry. Lowered names point into held entries, and so live as long as the handle. A host that never
 * destroys its programs (TensorRT-LLM) pays for the records and entries; the copy of the source is freed after the
 * first compile.
 */
#ifndef INTERPOSE_COMPILE_HANDLE_H
#define INTERPOSE_COMPILE_HANDLE_H

#include "cache/entry.h"
#include "interpose/compile/library.h"
#include "keygen/digest.h"
#include "keygen/stream.h"

#include <stdbool.h>

/* Whether a call was performed on the real handle. */
enum call_state {
	CALL_DEFERRED, /* no: it was a hit */
	CALL_DONE,     /* yes, or it never will be (replay.h) */
	CALL_REFUSED   /* the library refused its options, and it left nothing behind */
};

/* An earlier call on the handle, with what is needed to perform it. */
struct past_call {
	char **options; /* one block: pointers, then text */
	int option_count;
	int kind;
	uint64_t mode;  /* floating-point mode of the host's thread */
	uint64_t asked; /* half a fingerprint of its call run */
	enum call_state state;
	const struct entry *answer; /* of a hit, a held entry; NULL: it was performed, and has to be once more */
};

/* How the host calls the compiler. One that is linked bypasses the cache with functions that are not exported. */
enum reach { REACH_EXPORT, REACH_THUNK };

struct handle {
	void *value; /* the host's */
	struct library *library;
	enum reach reach;
	bool keyed;          /* its requests have keys: nothing happened to it that a key does not cover */
	enum counter reason; /* why they have none */
	struct stream creation;
	char *name;     /* of what is compiled; NULL as given */
	bool asks_host; /* the host has set a callback that may stop a compile */
	struct past_call *calls;
	struct key *keys; /* of those calls, each with what it left (seal_history() in request.c) */
	size_t call_count;
	size_t sealed;    /* the number of keys that include it */
	struct key state; /* what the last of those calls left */
	struct entry *served;
	struct entry *base; /* of a detached handle */
	struct entry **held;
	size_t held_count;
	int cancel_state; /* the host's thread's, during a compile */
};

/*
 * Takes ownership of the record, whose `struct handle` is zero except for creation and name. False: no memory; freed.
 */
bool handle_add(struct handle *handle, void *value, struct library *library, enum reach reach);
struct handle *handle_find(void *value);
/* The same; NULL also if the handle is another compiler's. */
struct handle *handle_find_of(const struct compiler *compiler, void *value);
struct handle *handle_take(void *value);
void handle_put_back(struct handle *handle);
void handle_free(struct handle *handle); /* NULL is fine */

/* Whether the options can be read: no NULL among them. */
bool handle_call_sound(const struct call *call);
/* The call's options, pointers and texts in one block. NULL: no memory. */
char **handle_copy_options(const struct call *call);
/* Makes all later requests of the handle bypass the cache, for `reason`. */
void handle_unkey(struct handle *handle, enum counter reason);

/* Adds a call to the history. -ENOMEM: the caller has to handle_unkey(). */
int handle_add_call(struct handle *handle, const struct call *call, const struct key *key, uint64_t asked,
                    enum call_state state);
/* Call number `index` of the history, as the host made it. */
struct call handle_past_call(const struct handle *handle, size_t index);
/* Removes calls of this kind and of lower ones from the history, because a later one has replaced them. */
void handle_forget_calls(struct handle *handle, int kind);
/* Whether a call of the history is deferred. */
bool handle_has_deferred(const struct handle *handle);
/* Makes getters answer from the entry, and holds a reference to it. -ENOMEM. */
int handle_answer_from(struct handle *handle, struct entry *entry);

/*
 * Around the real call: the thread is cancellable there, as the host has set it, and nowhere else. Our own opens and
 * reads are cancellation points, and a thread that is cancelled in one would leave descriptors and references behind.
 * Returns the state for handle_leave_real().
 */
int handle_enter_real(const struct handle *handle, enum cancellation cancellation);
void handle_leave_real(int state);

void handle_fork_child(void);

#endif
