/* SPDX-License-Identifier: MIT */
/*
 * attempt: the state of one call that compiles
 *
 *     request   what the host asks for          request_describe()
 *     finding   what the cache has              look_up()
 *     observed  what the real compile did       observe_compile()
 *
 * Each part is filled in by that one function, and is constant afterwards. Decisions and what is reported of the call
 * are in its event (event.h).
 *
 * Calling sequence: attempt_new(); request_describe(), look_up(); after a miss observe_compile(); attempt_free().
 * Threads: an attempt belongs to one thread. Errors: an error during a compilation is a `doubt`: its result is not
 * cached.
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
 * identity: identifies the compiler (docs/DESIGN.md B1)
 *
 * Purpose: the bytes that distinguish one compiler from another: release, build-id of its library, build-id of its
 * companion (libnvrtc-builtins holds built-in headers and per-architecture code); a digest of the whole file if it has
 * no build-id.
 *
 * libnvrtc loads its builtins by plain name at its first compilation, and a hit must not wait for that. So the file is
 * looked up as the loader would: among the loaded objects, or with loader_search.h. After each real compilation the
 * object that was loaded is compared with the prediction. If they differ, nothing is cached, and the loaded object is
 * used from then on.
 *
 * Calling sequence: identity_of() per compilation (remembered per library); identity_confirm() after a real
 * compilation. Errors: identity_of() returns -ENOENT if the builtins cannot be predicted (glibc-hwcaps directories, no
 * such file). Threads: any; the first answer is published once. Fork: a child finds no state half-written.
 */

struct identity {
	size_t size;
	uint8_t bytes[IDENTITY_MAX];
};

int identity_of(struct library *library, const struct identity **ret_identity);
/* Returns true if the loaded builtins are those of the identity. */
bool identity_confirm(struct library *library, const struct identity *identity);

/* What a compiler's describe() says of a request. */
enum request_trait {
	REQUEST_BOUND = 1 << 0,       /* path-dependent: its key has the paths literally */
	REQUEST_EXACT = 1 << 1,       /* times and sizes of files may reach the output (B5) */
	REQUEST_LOOKS_COUNT = 1 << 2, /* probed paths are dependencies even if no file is opened (B2) */
	REQUEST_OPENS_FILES = 1 << 3, /* its compilation probes files; if none was seen, it was not watched (B10) */
	REQUEST_ASKS_VARIABLES =
	    1 << 4,              /* its compilation reads a variable; if none was seen, it was not watched (B10) */
	REQUEST_VARIES = 1 << 5, /* the output depends on memory addresses, so verify cannot compare it */
	REQUEST_LOOSE = 1 << 6,  /* its debug information may have the paths of another directory (B24) */
	REQUEST_SEALED = 1 << 7  /* its output cannot be searched for paths */
};

#define REQUEST_OWN_BYTES 96

struct request {
	struct library *library;
	const struct identity *identity;
	struct stream run; /* the call run */
	struct roots roots;
	unsigned traits;        /* enum request_trait */
	trace_scratch *scratch; /* which files are the compiler's scratch files; NULL: none */
	char *lock;             /* of struct trace, the request's; NULL: none */
	/* What key and fingerprint are made of: the call run, and the creation run unless the history replaces it. */
	struct span spans[2];
	size_t span_count;
	_Alignas(
	    max_align_t) unsigned char own[REQUEST_OWN_BYTES]; /* data of the compiler, freed by its free_request() */
};

/* Where a result was found. An entry in memory was also read from or written to the directory. */
enum origin { ORIGIN_MEMORY, ORIGIN_DIRECTORY, ORIGIN_BELOW };

struct finding {
	struct fingerprint fingerprint;
	struct key key;
	enum origin origin; /* of the entry whose dependencies hold */
	unsigned refused;   /* number of entries on disk whose dependencies do not hold */
	void *anew;         /* dependencies with new stamps; NULL: unchanged */
};

enum watching { WATCHING_NOTHING, WATCHING_IMPORTS };

struct observed {
	struct call given;     /* the call with replaced options; options NULL: the host's call is used */
	struct snapshot *told; /* the state of the process that every answer to the compiler must agree with */
	const char *cwd;       /* from `told`; NULL if unknown */
	struct places places;
	struct trace trace;
	enum watching watching; /* WATCHING_NOTHING: not watched to the end */
	enum counter doubt;     /* why the result must not be cached, if that is known already */
	enum counter unknown;   /* why the compiler's own files could not be resolved, or COUNTER_NONE */
	int return_code;
	uint64_t cost_ns;
};

/*
 * On the heap: a host may leave its callback by longjmp or an exception, which NVRTC tolerates. The trace then stays
 * in the list of the watch, where compilations of other threads access it.
 */
struct attempt {
	struct request request;
	struct finding finding;
	struct observed observed;
	struct event *event; /* what is reported of the call */
	struct compile_lock compile_lock;
	enum compile_lock_outcome outcome; /* for the compile lock, if it is held */
	struct agent_question question;    /* the question to the node's agent, if it was asked */
};

/* NULL: no memory. */
struct attempt *attempt_new(struct event *event);
void attempt_free(struct attempt *attempt); /* NULL is fine */

/*
 * Describes the request of a call (docs/DESIGN.md B1, B8). `earlier` is the number of earlier calls of the handle
 * whose keys are its history. Returns COUNTER_NONE, or why the call bypasses the cache. `ret_request` must be zeroed
 * or cleared, and must be cleared afterwards in both cases.
 */
enum counter request_describe(struct handle *handle, size_t earlier, const struct call *call,
                              struct request *ret_request);
/*
 * Returns true if the request, described again, is the same: other threads may change the directory or the environment
 * while the compiler works, and it is not known which state the compiler saw.
 */
bool request_unchanged(struct handle *handle, const struct call *call, const struct request *request,
                       const struct snapshot *told);
/* Frees what request_describe() allocated; the request can then be described again. */
void request_clear(struct request *request);

/* Returns the entry that answers the request, with a reference, or NULL. The event then says why there is none. */
struct entry *look_up(const struct request *request, struct event *event, struct finding *ret_finding);

/*
 * Runs the real compilation under the watch, on the host's thread and with its state. It can be cancelled there; a
 * cleanup handler then frees the attempt and drops the reference to `held`. `doubt`: why the result must not be
 * cached, if known.
 */
void observe_compile(struct handle *handle, const struct call *call, enum counter doubt, struct attempt *attempt,
                     struct entry *held);
/*
 * Calls the host's callback, with the thread's state as in the real compilation. Returns true if it stops the
 * compilation.
 */
bool observe_callback(const struct handle *handle, struct attempt *attempt, struct entry *held);

/*
 * admit: decides whether a result may be cached, and caches it (docs/DESIGN.md B2-B13)
 *
 * Decides by what was observed: return code, taints, whether the watch saw anything, environment, the compiler's
 * companion library, paths. A result that is not cached is counted with its reason.
 *
 * Calling sequence: admit_result() after the real compilation of an attempt. Errors: the result is not cached.
 */

/* Returns the entry that was cached, with a reference; NULL: none. */
struct entry *admit_result(struct handle *handle, const struct call *call, struct attempt *attempt);

/*
 * verify: compares the real library's result with a cached one (NVRTCCACHE_VERIFY, docs/DESIGN.md B14)
 *
 * Calling sequence: verify_compare() after the real compilation of an attempt that had found `expected`. Counts and
 * logs a difference, unless the entry's dependencies no longer hold or the process used an option with a lasting
 * effect. Errors: a result that cannot be compared is counted as such.
 */

void verify_compare(const struct handle *handle, const struct attempt *attempt, const struct entry *expected);

/*
 * fetch: asks the node's agent after a miss, and reports stored results to it (docs/DESIGN.md G2)
 *
 * Purpose: a thread that is about to compile asks first, while it holds the key's compile lock, so that each node asks
 * once; without that lock every process asks. The agent writes the directory, so a read-only process may ask too. With
 * NVRTCCACHE_RECACHE and NVRTCCACHE_VERIFY the agent is not asked, because they require the real compiler's result.
 *
 * Threads: any, on different attempts. Fork: as cache/agent.h. Signals: no. Errors: any failure means a real
 * compilation.
 */

/* Call after a miss, once per attempt. True: the agent stored something, so look up again, then fetch_judge_agent(). */
bool fetch_from_agent(struct attempt *attempt);
/*
 * Reports what the last look-up found (NULL: nothing). The breaker backs off from an agent that takes longer than the
 * compiler or whose result is not found. It learns likewise from the process whose result this one waited for, so that
 * not every process has to ask a slow agent itself.
 */
void fetch_judge_agent(const struct attempt *attempt, const struct entry *entry);
/* The result of that key was stored. */
void fetch_tell_agent(const struct key *key);

#endif
