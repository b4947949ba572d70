/* SPDX-License-Identifier: MIT */
/*
 * counters: numbers of hits, misses, bypasses and other events of this process (docs/DESIGN.md E2)
 *
 * Purpose: one X-macro list defines every counter. A process counts in memory (relaxed atomics). counters_take() takes
 * what is not recorded yet, for the next record of the events file (cache/events.h).
 *
 * Threads: any. Fork: counters_fork_child() in the child drops what the parent has not recorded yet. Signals: not from
 * handlers. Errors: counting cannot fail.
 */
#ifndef CACHE_COUNTERS_H
#define CACHE_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

/*
 * X(group, name). Groups: TOTAL (a number in the JSON object); NOT_KEPT (misses whose result was not stored), BYPASSED
 * (bypassed calls, which are not misses) and ERRORS (objects name -> count); and one for each compiler (an object of
 * "compilers"). Every reason is in both groups NOT_KEPT and BYPASSED. Callers pass the one of BYPASSED or ERRORS, and
 * counters_add_reason() selects the group in which it is counted. An error that is a reason is also counted in ERRORS.
 */
#define COUNTERS_OF_EACH(X, group)                   \
	X(group, hits_memory)                        \
	X(group, hits_disk)                          \
	X(group, misses)                             \
	X(group, stores)                             \
	X(group, not_kept) /* sums of all reasons */ \
	X(group, bypassed)                           \
	X(group, compile_ns)                         \
	X(group, saved_ns)

/* X(GROUP, name, title): the compilers for which COUNTERS_OF_EACH are counted separately. */
#define COUNTERS_COMPILERS(X)                \
	X(NVRTC, nvrtc, "NVRTC")             \
	X(NVJITLINK, nvjitlink, "nvJitLink") \
	X(NVVM, nvvm, "libNVVM")

#define COUNTERS_OF_ALL(X)                                                                              \
	COUNTERS_OF_EACH(X, TOTAL)                                                                      \
	X(TOTAL, evictions)                                                                             \
	X(TOTAL, unreached) /* compilers that a module calls without the library */                     \
	X(TOTAL, verified)                                                                              \
	X(TOTAL, verify_uncompared) /* of these: the compiler does not give the same again */           \
	X(TOTAL, stale)             /* misses whose key was known, but no result's dependencies held */ \
	X(TOTAL, agent_asked)       /* questions to the node's agent: the sum of the next four */       \
	X(TOTAL, agent_found)                                                                           \
	X(TOTAL, agent_absent)                                                                          \
	X(TOTAL, agent_down) /* its engine, or itself: dead, another user's, no answer at all */        \
	X(TOTAL, agent_timeouts)                                                                        \
	X(TOTAL, agent_wait_ns) /* of all questions */                                                  \
	X(TOTAL, agent_skipped) /* misses for which it was not asked, as it failed lately */

#define COUNTERS_OF_REASONS(X, group)                                                                               \
	X(group, disabled)                                                                                          \
	X(group, secure) /* AT_SECURE process */                                                                    \
	X(group, no_directory)                                                                                      \
	X(group, unwatchable)       /* a library whose imports cannot be watched */                                 \
	X(group, not_watched)       /* the watch saw nothing (B10), or a slot had changed */                        \
	X(group, files)             /* opened files that dependencies cannot express */                             \
	X(group, side_effects)      /* wrote, removed or ran something (B7) */                                      \
	X(group, too_new)           /* B3 */                                                                        \
	X(group, time_macros)       /* B4 */                                                                        \
	X(group, environment)       /* B9, and load-time variables that changed since start */                      \
	X(group, builtins)          /* what the compiler loaded by itself cannot be identified */                   \
	X(group, return_code)       /* B12: not a kept return code */                                               \
	X(group, arguments)         /* arguments that the compiler itself refuses */                                \
	X(group, cancelled)         /* flow callback said stop */                                                   \
	X(group, history)           /* an earlier compile of the handle cannot be part of a key */                  \
	X(group, sticky_options)    /* sticky ones of an earlier call */                                            \
	X(group, uncleared_options) /* of an earlier call, that may be sticky */                                    \
	X(group, slots)             /* more libraries than thunk slots */                                           \
	X(group, threads)           /* files touched by threads that cannot be attributed */                        \
	X(group, exports)           /* something linked calls functions that we do not export */                    \
	X(group, libraries)         /* a mathematics library that cannot be told from others */                     \
	X(group, too_large)         /* entry_size_limit() (entry.h) */                                              \
	X(group, read_only)                                                                                         \
	X(group, extensions)         /* __nvrtcCPEx with extensions (A7) */                                         \
	X(group, precompiled_header) /* B11 */                                                                      \
	X(group, bundled_headers)    /* --use-bundled-headers unpacked them, or cannot lock their directory */      \
	X(group, logs)               /* the log tells run times, or lacks what the driver's own cache leaves out */ \
	X(group, private_functions)  /* the host looked up functions that lead around the cache (F6) */

#define COUNTERS_OF_ERRORS(X, group)                                         \
	X(group, directory) /* cannot be made, opened or searched */         \
	X(group, untrusted) /* others may write the root or an entry (C5) */ \
	X(group, damaged)   /* entries that failed a check */                \
	X(group, read)                                                       \
	X(group, write)                                                      \
	X(group, no_space)                                                   \
	X(group, memory)                                                     \
	X(group, mismatch) /* NVRTCCACHE_VERIFY found a difference */        \
	X(group, internal)

#define COUNTERS(X)                      \
	COUNTERS_OF_ALL(X)               \
	COUNTERS_OF_REASONS(X, NOT_KEPT) \
	COUNTERS_OF_ERRORS(X, NOT_KEPT)  \
	COUNTERS_OF_REASONS(X, BYPASSED) \
	COUNTERS_OF_ERRORS(X, BYPASSED)  \
	COUNTERS_OF_ERRORS(X, ERRORS)    \
	COUNTERS_OF_EACH(X, NVRTC) COUNTERS_OF_EACH(X, NVJITLINK) COUNTERS_OF_EACH(X, NVVM)

enum counter {
	COUNTER_NONE, /* no counter; no reason, if a counter is passed as a reason */
#define COUNTER_ENUM(group, name) COUNTER_##group##_##name,
	COUNTERS(COUNTER_ENUM)
#undef COUNTER_ENUM
	    COUNTER_COUNT
};

enum counter_group {
	COUNTER_NOTHING,
	COUNTER_TOTAL,
	COUNTER_NOT_KEPT,
	COUNTER_BYPASSED,
	COUNTER_ERRORS,
	COUNTER_NVRTC,
	COUNTER_NVJITLINK,
	COUNTER_NVVM
};

/* How many counters COUNTERS_OF_EACH has. The compilers have theirs in the order of their groups. */
#define COUNTERS_EACH ((unsigned)(COUNTER_NVJITLINK_hits_memory - COUNTER_NVRTC_hits_memory))

/*
 * Returns the counter in which a compiler counts what adds up to `total`, a counter of COUNTERS_OF_EACH. Without a
 * compiler (COUNTER_NOTHING) it is `total` itself: the shares are added to that when it is read.
 */
static inline enum counter counter_share(enum counter_group group, enum counter total)
{
	const unsigned compiler = (unsigned)group - COUNTER_NVRTC;

	return group < COUNTER_NVRTC ? total
	                             : (enum counter)(COUNTER_NVRTC_hits_memory + COUNTERS_EACH * compiler + total -
	                                              COUNTER_TOTAL_hits_memory);
}

const char *counter_name(enum counter counter);
enum counter_group counter_group(enum counter counter);

/* Returns the count of this process since it started (or since fork), for the line at exit; a total with its shares. */
uint64_t counters_here(enum counter counter);
/* Adds the compilers' shares to the totals, where both were counted separately. */
void counters_add_shares(uint64_t counts[COUNTER_COUNT]);
void counters_add(enum counter counter, uint64_t amount);
/*
 * Counts a miss of this compiler that was not cached (`sum` is COUNTER_TOTAL_not_kept), or a bypassed call
 * (COUNTER_TOTAL_bypassed). `of` may be COUNTER_NOTHING: no compiler.
 */
void counters_add_reason(enum counter_group of, enum counter sum, enum counter reason);

/* Amounts to add to counters. Only counters that change are listed, because one event changes few of them. */
struct counters_amounts {
	size_t count;
	struct counters_amount {
		uint64_t counter, amount;
	} list[COUNTER_COUNT];
};

/* Takes the counts that are not recorded yet: no other thread gets them. */
void counters_take(struct counters_amounts *ret_amounts);
/* Returns amounts that could not be recorded, so that the next record contains them. */
void counters_give_back(const struct counters_amounts *amounts);
void counters_fork_child(void);

/*
 * Identifies this list of counters, whose numbers differ from those of other lists: records with other lists are not
 * counted. A unit test says the number for a changed list.
 */
#define COUNTERS_LIST UINT64_C(0x6c83587ffe52dbee)

#endif
