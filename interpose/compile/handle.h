/* SPDX-License-Identifier: MIT */
/*
 * handle: what we know of one handle of a compiler (an nvrtcProgram)
 *
 *     created --hit--> served (getters answer from an entry; the real one has not been compiled)
 *        |               |
 *        |               +-- a miss or anything that needs the real one: its history is replayed --> real
 *        |               '-- a miss, and a replay would no longer give what was served --> detached (replay.h)
 *        '--miss--> real (getters are forwarded)
 *
 * The host holds the real handle; the record hangs beside it in a table. Getters answer from `served` when it is set
 * and are forwarded when it is not; where there is a `base`, it answers what the real one lacks.
 *
 * Calling sequence: handle_add() of a compiler's own record, which begins with this one, after the host's handle was
 * made; handle_find() in every call; handle_take() before it is destroyed (after it, another thread may be given the
 * same), then handle_free(), or handle_put_back() where the library refused.
 * Threads: handle_find() takes no lock; whatever changes the table does, for a few loads. A record itself is guarded
 * by nothing: a host that uses one handle in two threads at once must serialise them, with the compiler as with us;
 * getters may run side by side. Fork: handle_fork_child(). Signals, asynchronous cancellation: handle_find(). Errors:
 * where there is no memory the handle is unknown, and every call is forwarded. Ownership: the record owns its copies
 * and one reference per held entry; lowered names point into held entries and so live as long as the handle. Hosts that
 * never destroy programs (TensorRT-LLM) cost the record and its entries: the copy of the source goes after the first
 * compile.
 */
#ifndef INTERPOSE_COMPILE_HANDLE_H
#define INTERPOSE_COMPILE_HANDLE_H

#include "cache/entry.h"
#include "interpose/compile/library.h"
#include "keygen/digest.h"
#include "keygen/stream.h"

#include <stdbool.h>

/* What the real handle has been through of a call. */
enum call_state {
	CALL_DEFERRED, /* nothing: it was a hit */
	CALL_DONE,     /* all, or it never will be (replay.h) */
	CALL_REFUSED   /* for its options: nothing of it is there */
};

/* An earlier call on the handle: enough to do it again. */
struct past_call {
	char **options; /* one block: pointers, then text */
	int option_count;
	int kind;
	uint64_t mode;  /* the thread's, for arithmetic */
	uint64_t asked; /* half a fingerprint, of its call run alone */
	enum call_state state;
	const struct entry *answer; /* of a hit: one of the handle's held ones; NULL: it was done, and must be again */
};

/* How its host comes to the compiler: past an export, functions without one of ours bypass us. */
enum reach { REACH_EXPORT, REACH_THUNK };

struct handle {
	void *value; /* the host's */
	struct library *library;
	enum reach reach;
	bool keyed;          /* requests of it can have a key: nothing happened to it that a key cannot hold */
	enum counter reason; /* why not */
	struct stream creation;
	char *name;     /* of what is compiled; NULL as given */
	bool asks_host; /* the host has set who is asked whether to go on */
	struct past_call *calls;
	struct key *keys; /* of those calls, each with what it left (seal_history() in request.c) */
	size_t call_count;
	size_t sealed;    /* so many of the keys have that in them */
	struct key state; /* what the last of those left */
	struct entry *served;
	struct entry *base; /* of a detached handle: answers what the real one lacks */
	struct entry **held;
	size_t held_count;
	int cancel_state; /* the host's thread's, during a compile */
};

/* Takes the record, zeros but for what is its compiler's own. False: there is no memory, and it was freed. */
bool handle_add(struct handle *handle, void *value, struct library *library, enum reach reach);
struct handle *handle_find(void *value);
/* NULL too where it is another compiler's. */
struct handle *handle_find_of(const struct compiler *compiler, void *value);
struct handle *handle_take(void *value);
void handle_put_back(struct handle *handle);
void handle_free(struct handle *handle); /* NULL is fine */

/* Can the options be read at all? */
bool handle_call_sound(const struct call *call);
/* The call's options, pointers and texts in one block. NULL: no memory. */
char **handle_copy_options(const struct call *call);
/* From here on no request of it can be named by a key. */
void handle_unkey(struct handle *handle, enum counter reason);

/* Remembers a call under its key. -ENOMEM: the history is then not known and the handle is no longer keyed. */
int handle_add_call(struct handle *handle, const struct call *call, const struct key *key, uint64_t asked,
                    enum call_state state);
/* The compile of that number among them, as it was asked. */
struct call handle_past_call(const struct handle *handle, size_t index);
/* Forgets earlier calls of this kind and lower ones: another one has taken their place. */
void handle_forget_calls(struct handle *handle, int kind);
/* Does the real handle owe a call? */
bool handle_has_deferred(const struct handle *handle);
/* Takes one more reference: from now on getters answer from this entry. */
int handle_answer_from(struct handle *handle, struct entry *entry);

/*
 * Around the library's own work. The host's state of cancellation holds there, and only there: our opens and reads are
 * cancellation points, and a thread cancelled in one would leave descriptors and references behind. Gives the state
 * that handle_leave_real() is to put back.
 */
int handle_enter_real(const struct handle *handle, enum cancellation cancellation);
void handle_leave_real(int state);

void handle_fork_child(void);

#endif
