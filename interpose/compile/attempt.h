/* SPDX-License-Identifier: MIT */
/*
 * attempt: the state of one call that compiles
 *
 *     request   what the host asks for                filled in by request_describe()
 *     finding   what the look-up found                filled in by look_up()
 *     observed  what the real compilation did         filled in by observe_compile()
 *
 * Each part is filled in by that one function, and is constant afterwards. Decisions, and everything that is reported
 * about the call, are in its event (event.h).
 *
 * Calling sequence: attempt_new(); request_describe(), look_up(); after a miss observe_compile(); attempt_free().
 * Threads: an attempt belongs to one thread. Errors: an error during a compilation is recorded as `doubt`, and the
 * result is not cached.
 */
#ifndef INTERPOSE_COMPILE_ATTEMPT_H
#define INTERPOSE_COMPILE_ATTEMPT_H

#include "cache/agent.h"
#include "cache/compile_lock.h"
#include "cache/counters.h"
#include "interpose/compile/event.h"
#include "interpose/compile/handle.h"
#include "interpose/compile/identity.h"
#include "interpose/compile/library.h"
#include "interpose/watch/snapshot.h"
#include "keygen/dependencies.h"
#include "keygen/digest.h"
#include "keygen/directories.h"
#include "keygen/trace.h"

#include <stdbool.h>
#include <stddef.h>

/* Properties of a request, which a compiler's describe() sets. */
enum request_trait {
	REQUEST_BOUND = 1 << 0,          /* path-dependent: its key contains the paths literally */
	REQUEST_EXACT = 1 << 1,          /* times and sizes of files may reach the output */
	REQUEST_LOOKS_COUNT = 1 << 2,    /* probed paths are dependencies even if no file is opened */
	REQUEST_OPENS_FILES = 1 << 3,    /* its compilation probes files; if the watch saw none, the watch failed */
	REQUEST_ASKS_VARIABLES = 1 << 4, /* its compilation reads a variable; if the watch saw none, the watch failed */
	REQUEST_VARIES = 1 << 5,         /* the output depends on memory addresses, so verify cannot compare it */
	REQUEST_LOOSE = 1 << 6,          /* its debug information may contain paths of another directory */
	REQUEST_SEALED = 1 << 7          /* its output cannot be searched for paths */
};

#define REQUEST_OWN_BYTES 96

struct request {
	struct library *library;
	const struct identity *identity;
	struct stream run; /* the call run */
	struct roots roots;
	unsigned traits;        /* enum request_trait */
	trace_scratch *scratch; /* recognises the compiler's scratch files; NULL: it has none */
	char *lock;             /* `lock` of struct trace; freed with the request; NULL: none */
	/* The input of key and fingerprint: the call run, and the creation run unless the history replaces it. */
	struct span spans[2];
	size_t span_count;
	_Alignas(
	    max_align_t) unsigned char own[REQUEST_OWN_BYTES]; /* data of the compiler, freed by its free_request() */
};

/* Returns true if the entry is still valid. */
static inline bool entry_holds(const struct entry *entry, const struct roots *roots)
{
	size_t size;
	const void *dependencies = entry_dependencies(entry, &size);

	return dependencies_hold(dependencies, size, roots, NULL, 0);
}

/* Returns true if any dependency of the entry is a path. */
static inline bool entry_names_files(const struct entry *entry)
{
	size_t size;
	const void *dependencies = entry_dependencies(entry, &size);

	return dependencies_name_files(dependencies, size);
}

/* Where a result was found. An entry in memory is usually in the directory, too. */
enum origin { ORIGIN_MEMORY, ORIGIN_DIRECTORY, ORIGIN_BELOW };

struct finding {
	struct fingerprint fingerprint;
	struct key key;
	enum origin origin; /* of the entry whose dependencies hold */
	unsigned refused;   /* number of entries on disk with a changed dependency */
	void *anew;         /* the entry's dependencies with new stamps; NULL: unchanged */
};

enum watching { WATCHING_NOTHING, WATCHING_IMPORTS };

struct observed {
	struct call given;     /* the call with replaced options; options NULL: the host's call */
	struct snapshot *told; /* the process state with which every answer to the compiler must agree */
	const char *cwd;       /* from `told`; NULL if unknown */
	struct places places;
	struct trace trace;
	enum watching watching; /* WATCHING_NOTHING: not watched, or not to the end */
	enum counter doubt;     /* why the result must not be cached, if known */
	enum counter unknown;   /* why the compiler's unwatched() failed, or COUNTER_NONE */
	int return_code;
	uint64_t cost_ns;
};

/*
 * Allocated on the heap, because a host may leave its callback by longjmp or an exception, which NVRTC tolerates. The
 * trace then stays in the list of the watch, where compilations of other threads still access it.
 */
struct attempt {
	struct request request;
	struct finding finding;
	struct observed observed;
	struct event *event; /* what is reported about the call */
	struct compile_lock compile_lock;
	int64_t asked;                     /* of the question to the node's agent, for agent_weigh() */
	enum compile_lock_outcome outcome; /* reported to the waiters when the compile lock is released */
};

/* Returns NULL if there is no memory. */
struct attempt *attempt_new(struct event *event);
void attempt_free(struct attempt *attempt); /* NULL is fine */

/*
 * Describes the request of a call. `earlier` is the number of earlier calls of the handle whose keys are its history.
 * Returns COUNTER_NONE, or the reason why the call bypasses the cache. `ret_request` must be zeroed or cleared before,
 * and must be cleared afterwards even if the call is bypassed.
 */
enum counter request_describe(struct handle *handle, size_t earlier, const struct call *call,
                              struct request *ret_request);
/*
 * Describes the call again and returns true if the request is the same. Other threads may change the directory or the
 * environment while the compiler works, and then it is unknown which state the compiler saw.
 */
bool request_unchanged(struct handle *handle, const struct call *call, const struct request *request,
                       const struct snapshot *told);
/*
 * For describe() of a compiler whose requests have no roots: writes the call run up to the compiler's own fields, and
 * from there to its end. request_end_run() returns COUNTER_NONE, or COUNTER_ERRORS_memory.
 */
void request_begin_run(struct request *request, const struct surroundings *around);
enum counter request_end_run(struct request *request, const struct surroundings *around);
/* Frees the allocations of request_describe(); the request can then be described again. */
void request_clear(struct request *request);

/* Returns the entry that answers the request, with a reference, or NULL. The event then says why there is none. */
struct entry *look_up(const struct request *request, struct event *event, struct finding *ret_finding);

/*
 * Runs the real compilation under the watch, on the host's thread and with its state. The thread can be cancelled
 * there; a cleanup handler then frees the attempt and drops the reference to `held`. `doubt`: why the result must not
 * be cached, if known.
 */
void observe_compile(struct handle *handle, const struct call *call, enum counter doubt, struct attempt *attempt,
                     struct entry *held);
/*
 * Calls the host's callback in the same thread state as the real compilation. Returns true if the callback stops the
 * compilation.
 */
bool observe_callback(struct handle *handle, struct attempt *attempt, struct entry *held);

/*
 * admit: decides whether a result may be cached, and caches it (docs/DESIGN.md)
 *
 * The decision depends on what was observed: return code, taints, whether the watch saw anything, environment, the
 * compiler's companion library, paths. A result that is not cached is counted with its reason.
 *
 * Calling sequence: admit_result() after the real compilation of an attempt. Errors: the result is not cached.
 */

/* Returns the entry that was cached, with a reference; NULL: none. */
struct entry *admit_result(struct handle *handle, const struct call *call, struct attempt *attempt);

/*
 * verify: compares the real library's result with a cached one (NVRTCCACHE_VERIFY)
 *
 * Calling sequence: verify_compare() after the real compilation of an attempt that had found `expected`. Counts and
 * logs a difference, unless the entry's dependencies no longer hold or the process used an option with process-wide
 * effect. Errors: a result that cannot be compared is counted as such.
 */

void verify_compare(const struct handle *handle, const struct attempt *attempt, const struct entry *expected);

/*
 * fetch: asks the node's agent after a miss, and reports stored results to it
 *
 * Purpose: a thread that is about to compile asks the agent first, while it holds the key's compile lock, so that each
 * node asks once per key; without that lock every process asks. The agent writes to the directory, so a read-only
 * process may ask too. With NVRTCCACHE_RECACHE and NVRTCCACHE_VERIFY the agent is not asked, because they require the
 * real compiler's result.
 *
 * Threads: any, on different attempts. Fork: as in cache/agent.h. Signals: no. Errors: any failure means a real
 * compilation.
 */

/*
 * Call after a miss, once per attempt. Returns true if the agent stored an entry: look up again, then call
 * fetch_judge_agent().
 */
bool fetch_from_agent(struct attempt *attempt);
/*
 * Weighs the wait for the agent against what the entry of the last look-up saves (NULL: nothing was found), and
 * likewise a wait for the result of another process (agent_weigh()).
 */
void fetch_judge_agent(const struct attempt *attempt, const struct entry *entry);
/* Tells the agent that an entry with that key was stored. */
void fetch_tell_agent(const struct key *key);

#endif
