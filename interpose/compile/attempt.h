/* SPDX-License-Identifier: MIT */
/*
 * attempt: one call that makes something, on its way
 *
 *     request   what is asked for               request_describe()
 *     finding   what the cache has of it         look_up()
 *     observed  what the real compile did        observe_compile()
 *
 * Each part is filled in by that one function, and is constant for all that comes after. What is decided, and said of
 * the call, is its event (event.h).
 *
 * Calling sequence: attempt_new(); request_describe(), look_up(); a miss: observe_compile(); attempt_free(). Threads: an attempt
 * belongs to one thread. Errors: what goes wrong in a compile is a `doubt`: its result is not kept.
 */
#ifndef INTERPOSE_COMPILE_ATTEMPT_H
#define INTERPOSE_COMPILE_ATTEMPT_H

#include "cache/agent.h"
#include "cache/compile_lock.h"
#include "cache/counters.h"
#include "interpose/compile/event.h"
#include "interpose/compile/handle.h"
#include "interpose/compile/library.h"
#include "interpose/watch/snapshot.h"
#include "keygen/digest.h"
#include "keygen/roots.h"
#include "keygen/trace.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * identity: which compiler is this? (docs/DESIGN.md B1)
 *
 * Purpose: the bytes that tell one compiler from another: release, build-id of its library, build-id of its companion
 * (libnvrtc-builtins holds built-in headers and per-architecture code); a digest of the whole file where there is no
 * build-id.
 *
 * libnvrtc loads its builtins by plain name at its first compile, and a hit must not wait for that. So the file is
 * found where the loader would find it: among the loaded objects, or by loader_search.h. After each real compile the
 * object that was really loaded is compared with what was foretold; where they differ nothing is kept, and the truth is
 * used from then on.
 *
 * Calling sequence: identity_of() per compile (remembered per library); identity_confirm() after a real compile.
 * Errors: identity_of() returns -ENOENT where the builtins cannot be foretold (glibc-hwcaps directories, no such file).
 * Threads: any; the first answer is published once. Fork: no state that a child could find half-done.
 */

struct identity {
	size_t size;
	uint8_t bytes[IDENTITY_MAX];
};

int identity_of(struct library *library, const struct identity **ret_identity);
/* True when the loaded builtins are those of the identity given out. */
bool identity_confirm(struct library *library, const struct identity *identity);

/* What a compiler's describe() says of a request. */
enum request_trait {
	REQUEST_BOUND = 1 << 0,       /* it has its places in it, literally */
	REQUEST_EXACT = 1 << 1,       /* times and sizes of files may reach the output (B5) */
	REQUEST_LOOKS_COUNT = 1 << 2, /* paths that are only looked at are dependencies where no file is opened (B2) */
	REQUEST_OPENS_FILES = 1 << 3, /* the compile of it looks at files, or was not watched (B10) */
	REQUEST_ASKS_VARIABLES = 1 << 4, /* it asks for some variable, or was not watched (B10) */
	REQUEST_VARIES = 1 << 5          /* what is made hangs on where things lie in memory: no measure of a hit */
};

#define REQUEST_OWN_BYTES 96

struct request {
	struct library *library;
	const struct identity *identity;
	struct stream run; /* the call run */
	struct roots roots;
	unsigned traits;        /* enum request_trait */
	trace_scratch *scratch; /* which files are the compiler's own; NULL: none */
	char *lock;             /* of struct trace, the request's; NULL: none */
	/* What key and fingerprint are made of: the call run, and the creation run where no history stands for it. */
	struct span spans[2];
	size_t span_count;
	_Alignas(max_align_t) unsigned char own[REQUEST_OWN_BYTES]; /* the compiler's, which frees it: free_request() */
};

/* Where a result was found; what memory has came from the directory, or went there. */
enum origin { ORIGIN_MEMORY, ORIGIN_DIRECTORY, ORIGIN_BELOW };

struct finding {
	struct fingerprint fingerprint;
	struct key key;
	enum origin origin; /* of a result that holds */
	unsigned refused;   /* so many were on disk that do not hold */
	void *anew;         /* dependencies of the one that holds, with stamps of now; NULL: as they are */
};

enum watching { WATCHING_NOTHING, WATCHING_IMPORTS };

struct observed {
	struct call given;     /* in the place of the host's call, with options that are ours; NULL there: the host's */
	struct snapshot *told; /* what the compiler must have been told of the process */
	const char *cwd;       /* of that; NULL where it could not be had */
	struct places places;
	struct trace trace;
	enum watching watching; /* WATCHING_NOTHING: it was not watched to its end */
	enum counter doubt;     /* a reason not to keep the result that was found on the way */
	enum counter unknown;   /* what the compiler read of its own cannot be told: why */
	int return_code;
	uint64_t cost_ns;
};

/*
 * Not on the stack: a host may leave its callback by longjmp or an exception, which NVRTC bears, and then the trace stays
 * in the watch, where compiles of other threads find it.
 */
struct attempt {
	struct request request;
	struct finding finding;
	struct observed observed;
	struct event *event; /* what is told of the call */
	struct compile_lock compile_lock;
	enum compile_lock_outcome outcome; /* for the compile lock, if it is held */
	struct agent_question question;    /* to the node's agent, if that was asked */
};

/* NULL: no memory. */
struct attempt *attempt_new(struct event *event);
void attempt_free(struct attempt *attempt); /* NULL is fine */

/*
 * What one call asks for (docs/DESIGN.md B1, B8). `earlier` is the number of the handle's calls before this one: those
 * whose keys are its history. COUNTER_NONE, or the reason why it cannot be described: then it is passed through, and
 * `ret_request`, which must be zeros or freed, is still to be freed.
 */
enum counter request_describe(struct handle *handle, size_t earlier, const struct call *call,
                              struct request *ret_request);
/* Other threads may change the directory or the environment while the compiler works: which of both did it see? */
bool request_unchanged(struct handle *handle, const struct call *call, const struct request *request,
                       const struct snapshot *told);
/* Frees what request_describe() left, which may be described anew. */
void request_clear(struct request *request);

/* The entry that answers the request, with a reference, or NULL. The event then says why none does. */
struct entry *look_up(const struct request *request, struct event *event, struct finding *ret_finding);

/*
 * The real compile under watch, on the host's thread as that was: it can be cancelled there, and then what was in our
 * hands is given back on the way out, the attempt and `held` too. `doubt`: what is known by now to spoil the result.
 */
void observe_compile(struct handle *handle, const struct call *call, enum counter doubt, struct attempt *attempt,
                     struct entry *held);
/* Does the host's callback want to stop? It finds its thread as in the real compile. */
bool observe_callback(const struct handle *handle, struct attempt *attempt, struct entry *held);

/*
 * admit: may this result be kept, and keeping it (docs/DESIGN.md B2-B13)
 *
 * Decides by what was observed: return code, taints, whether the watch saw anything, environment, what the compiler
 * loads by itself, paths. Whatever is not kept is counted with its reason.
 *
 * Calling sequence: admit_result() after the real compile of an attempt.
 * Errors: a result is simply not kept.
 */

/* What was kept of it, with a reference; NULL: nothing. */
struct entry *admit_result(struct handle *handle, const struct call *call, struct attempt *attempt);

/*
 * verify: is what the real library now says what the entry would have said? (NVRTCCACHE_VERIFY, docs/DESIGN.md B14)
 *
 * Calling sequence: verify_compare() after the real compile of an attempt that had found `expected`. Counts and logs a
 * difference, unless the entry does not hold any more, or the process has been told something that lasts.
 * Errors: what cannot be compared is counted as such.
 */

void verify_compare(const struct handle *handle, const struct attempt *attempt, const struct entry *expected);

/*
 * fetch: the node's agent is asked for what a look-up missed, and told of what was stored (docs/DESIGN.md G2)
 *
 * Purpose: who is about to compile asks first, while it holds the key's compile lock, so that a node asks once; where
 * there is no such lock everybody asks. The agent writes the directory, so a process that only reads it may ask too. Not
 * asked: with NVRTCCACHE_RECACHE and NVRTCCACHE_VERIFY, which want the compiler's own work.
 *
 * Threads: any, on different attempts. Fork: as cache/agent.h. Signals: no. Errors: whatever fails is a compile.
 */

/* After a miss, once an attempt. True: it has put something there, so look again, and fetch_judge_agent(). */
bool fetch_from_agent(struct attempt *attempt);
/*
 * What the last look found (NULL: nothing): whoever takes longer than the compiler, or finds what is not there, is left
 * alone. So is the agent that held up the process for whose result this one has waited: or each would have to learn that.
 */
void fetch_judge_agent(const struct attempt *attempt, const struct entry *entry);
/* The result of that key was stored. */
void fetch_tell_agent(const struct key *key);

#endif
