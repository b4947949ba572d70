/* SPDX-License-Identifier: MIT */
/*
 * handle: the record of one handle of a compiler (an nvrtcProgram)
 *
 *     created --hit--> served (getters answer from an entry; the real handle has not been compiled)
 *        |               |
 *        |               +-- a miss, or a call that needs the real handle: deferred calls are performed --> real
 *        |               '-- a miss, but the deferred calls would now answer differently --> detached (replay.h)
 *        '--miss--> real (getters are forwarded)
 *
 * The host holds the real handle; its value finds the record in a table. Getters answer from `served` if that is set,
 * and are forwarded otherwise. If `base` is set, that entry answers for everything that the real handle lacks.
 *
 * Calling sequence: handle_add() after the host's handle was created, with the compiler's own record, which begins with
 * this one; handle_find() in every call; handle_take() before the handle is destroyed, because another thread may get
 * the same value afterwards; then handle_free(), or handle_put_back() if the library refused to destroy it. Threads:
 * handle_find() takes no lock; a change of the table holds one for a few loads. A record is not locked: a host that
 * uses one handle in two threads has to serialise its calls, as it does without the cache. Getters may run
 * concurrently. Fork: handle_fork_child(). Signals, asynchronous cancellation: only handle_find(). Errors: without
 * memory the handle stays unknown, and its calls are forwarded. Ownership: the record owns its copies and one reference
 * to each entry in `held`. Lowered names point into held entries, and so are valid as long as the handle. A host that
 * never destroys its programs (TensorRT-LLM) pays for the records and entries; the copy of the source is freed after
 * the first compile.
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
	CALL_DONE,     /* yes, or the handle was detached (replay.h) */
	CALL_REFUSED   /* the library refused its options, and the handle holds no result of it */
};

/* An earlier call on the handle, with everything that is needed to perform it again. */
struct past_call {
	struct call call; /* as the host made it; its options are one block of ours: pointers, then text */
	uint64_t mode;    /* floating-point mode of the host's thread at the call */
	uint64_t asked;   /* of a deferred call: half a fingerprint of its call run */
	enum call_state state;
	const struct entry *answer; /* of a hit: an entry in `held`; NULL: the real library performed the call */
};

struct handle {
	void *value; /* the host's */
	struct library *library;
	enum reach reach;
	bool keyed;          /* its requests have keys: keys cover everything that happened to it */
	enum counter reason; /* if not keyed: why */
	struct stream creation;
	struct stream recorded; /* the host's arguments (recorder.h); `failed`: the request is not to be written */
	char *name;             /* of the program; NULL: the host gave none */
	bool hides_options;     /* they are not described to people */
	bool asks_host;         /* the host has set a callback that may stop a compile */
	struct past_call *calls;
	struct key *keys; /* of those calls; seal_history() adds to each the state that its call left */
	size_t call_count;
	size_t sealed;    /* the number of calls up to the last key that includes `state` */
	struct key state; /* digest of the getters' answers after the last of those calls */
	struct entry *served;
	struct entry *base; /* of a detached handle */
	struct entry **held;
	size_t held_count;
	int cancel_state; /* of the thread in the real call, as the host has set it */
};

/*
 * Adds a record of `size` bytes, which begins with a struct handle; the rest of it is zero. Returns NULL if there is no
 * memory; an earlier record with that value is then removed, too.
 */
void *handle_add(size_t size, void *value, struct library *library, enum reach reach);
struct handle *handle_find(void *value);
/* Like handle_find(), but returns NULL also if the handle belongs to another compiler. */
struct handle *handle_find_of(const struct compiler *compiler, void *value);
struct handle *handle_take(void *value);
/* Adds the record again. Returns false if there is no memory; the caller then still owns the record. */
bool handle_put_back(struct handle *handle);
void handle_free(struct handle *handle); /* NULL is fine */

/* Returns true if the options can be read: none of them is NULL. */
bool handle_call_sound(const struct call *call);
/* Returns a copy of the call's options, pointers and texts in one block for free(). NULL: no memory. */
char **handle_copy_options(const struct call *call);
/* Makes all later requests of the handle bypass the cache, for `reason`, and frees the creation run. */
void handle_unkey(struct handle *handle, enum counter reason);

/* Removes calls of this kind and of lower kinds from the history, because a later call replaces their results. */
void handle_forget_calls(struct handle *handle, int kind);
/* Returns true if a call of the history is deferred. */
bool handle_has_deferred(const struct handle *handle);
/*
 * Records a hit as a deferred call, which getters answer from the entry. False: there is no memory, so the call cannot
 * be a hit.
 */
bool handle_note_served(struct handle *handle, const struct call *call, const struct key *key, uint64_t asked,
                        struct entry *entry);
/*
 * Records a call that the real library performed, with OUTCOME_OTHER if it may depend on more than its key and those
 * before. `kept`: its entry; NULL: it is not cached.
 */
void handle_note_done(struct handle *handle, const struct call *call, const struct key *key, enum outcome outcome,
                      const struct entry *kept);
/*
 * Records a call that does not depend on earlier ones. If a deferred call of a higher kind, which would also perform
 * this one, is still pending, this call has to be repeated after that one runs.
 */
void handle_note_independent(struct handle *handle, const struct call *call, uint64_t asked);

/* Returns what the return code of a call that compiles means. */
enum outcome handle_outcome(const struct compiler *compiler, int return_code);
/* Makes the real call of a handle. */
int handle_run(const struct handle *handle, const struct call *call);
/*
 * Before the real call and the host's callback, during which alone the thread is cancellable, if the host has set so.
 * The library's own opens and reads are cancellation points, and a thread cancelled in one of them would leak
 * descriptors and references. Returns the state that pthread_setcancelstate() gets afterwards.
 */
int handle_enter_real(const struct handle *handle);

void handle_fork_child(void);

/*
 * lasting: options with an effect on later calls of the process
 *
 * After such an option, a result is not a function of its key. Options are sticky if a search has found an effect, and
 * uncleared if none has shown that there is none. A result is cached if its call has the same sticky options as earlier
 * ones, and exactly the same uncleared ones. A hit returns what the call returns without earlier ones, so hits are
 * served. Uncleared options that the library rejects have no effect; sticky ones count nevertheless.
 *
 * Calling sequence: lasting_begin() before each real call and lasting_end() after it; then lasting_spoils() before its
 * result is cached. Threads: any; a call that begins before one in another thread ends counts as affected, too. So
 * sticky options are recorded before the call. Fork: a child inherits the state of the library. Errors, signals: none;
 * after a call with uncleared options that never returns, no result is cached.
 */

/* Returns the options of the host's call, whether its arguments are valid or not. */
struct lasting lasting_begin(struct library *library, const struct call *call);
void lasting_end(struct library *library, const struct lasting *lasting, int result);
/* Records uncleared options of a call that has succeeded. */
void lasting_note(struct library *library, uint64_t uncleared);
/*
 * Returns the reason why a result of the library must not be cached, or COUNTER_NONE. `spoiling`: the sticky options
 * that affect it; `uncleared`: its own.
 */
enum counter lasting_spoils(const struct library *library, uint32_t spoiling, uint64_t uncleared);

#endif
