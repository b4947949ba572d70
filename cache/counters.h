/* SPDX-License-Identifier: MIT */
/*
 * counters: how often what happened, over all processes (docs/DESIGN.md E2, E3)
 *
 * Purpose: one X-macro list of every counter; a process counts in memory (relaxed atomics) and adds what is new to a
 * file of the cache directory, so that counts survive _exit and kill: of hits at most the last second is lost then,
 * but none of the first 256, and of those of a process that lives less than a second the last milliseconds of a fast
 * loop at most.
 *
 * Files: <directory>/v1/stats/<two hex digits>, by pid & 15, or the next one that is free: a header (magic, format,
 * count of counters, when it was begun, checksum) and 64-bit counters; added to under an open-file-description lock on
 * the file (where the file system has none: without). A file of another format or list of counters (an earlier
 * build's), or with a bad checksum, is started anew. Files are read and written with pread/pwrite, never mapped, and
 * not kept open.
 *
 * Calling sequence: counters_add() anywhere; counters_flush(COUNTERS_WHEN_DUE) after each event that may have changed
 * something: it writes at once what counts a miss or a store, and everything while the process is young (see
 * cache/counters.c), then once a second; COUNTERS_NOW at exit. counters_read() sums the files for people;
 * counters_zero() removes them. counters_share() once before, where the group shares the directory: else one that the
 * group can write is refused. Threads: any. Fork: counters_fork_child() forgets what the parent has not yet written.
 * Signals: no. Errors: counting never fails visibly; flush returns a negative errno for the log.
 */
#ifndef CACHE_COUNTERS_H
#define CACHE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * X(group, name): groups are TOTAL (a number in the JSON object), NOT_KEPT (misses whose result was not stored),
 * BYPASSED (bypassed calls, which are not misses) and ERRORS (objects name -> count), and one for each
 * compiler (an object of "compilers"). A reason stands in the groups NOT_KEPT and BYPASSED alike, and is known by its
 * name in BYPASSED until it is counted; counters_not_kept() and counters_bypassed() say where. An error that was the
 * reason is counted as the error that it is, and there as "failed".
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

/* X(GROUP, name, title): whose shares of these are counted. */
#define COUNTERS_COMPILERS(X)                \
	X(NVRTC, nvrtc, "NVRTC")             \
	X(NVJITLINK, nvjitlink, "nvJitLink") \
	X(NVVM, nvvm, "libNVVM")

#define COUNTERS_OF_ALL(X)                                                                              \
	COUNTERS_OF_EACH(X, TOTAL)                                                                      \
	X(TOTAL, evictions)                                                                             \
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
	X(group, builtins)          /* what the compiler loads by itself is not where the loader would look */      \
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
	X(group, too_large)         /* larger than max_size / 8 */                                                  \
	X(group, read_only)                                                                                         \
	X(group, extensions)         /* __nvrtcCPEx with extensions (A7) */                                         \
	X(group, precompiled_header) /* B11 */                                                                      \
	X(group, bundled_headers)    /* --use-bundled-headers unpacked them, or cannot lock their directory */      \
	X(group, logs)               /* the log tells run times, or lacks what the driver's own cache leaves out */ \
	X(group, private_functions)  /* the host looked up functions that lead around the cache (F6) */             \
	X(group, failed)             /* an error; it is counted there too */

#define COUNTERS_OF_ERRORS(X)                                                 \
	X(ERRORS, directory) /* cannot be made, opened or searched */         \
	X(ERRORS, untrusted) /* others may write the root or an entry (C5) */ \
	X(ERRORS, damaged)   /* entries that failed a check */                \
	X(ERRORS, read)                                                       \
	X(ERRORS, write)                                                      \
	X(ERRORS, no_space)                                                   \
	X(ERRORS, memory)                                                     \
	X(ERRORS, mismatch) /* NVRTCCACHE_VERIFY found a difference */        \
	X(ERRORS, internal)

#define COUNTERS(X)                      \
	COUNTERS_OF_ALL(X)               \
	COUNTERS_OF_REASONS(X, NOT_KEPT) \
	COUNTERS_OF_REASONS(X, BYPASSED) \
	COUNTERS_OF_ERRORS(X) COUNTERS_OF_EACH(X, NVRTC) COUNTERS_OF_EACH(X, NVJITLINK) COUNTERS_OF_EACH(X, NVVM)

enum counter {
	COUNTER_NONE, /* where a counter stands for a reason: there is none */
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

/* A compiler's share of a counter of COUNTERS_OF_EACH. `group`: COUNTER_NOTHING for one that has no list. */
static inline enum counter counter_share(enum counter_group group, enum counter total)
{
	switch (group) {
#define COUNTER_SHARE(group, name, title) \
	case COUNTER_##group:             \
		return (enum counter)(COUNTER_##group##_hits_memory + (total - COUNTER_TOTAL_hits_memory));
		COUNTERS_COMPILERS(COUNTER_SHARE)
#undef COUNTER_SHARE
	default:
		return COUNTER_NONE;
	}
}

const char *counter_name(enum counter counter);
enum counter_group counter_group(enum counter counter);

/* This process's counts since it began (or since fork), for the line at exit. */
uint64_t counters_here(enum counter counter);
void counters_add(enum counter counter, uint64_t amount);
/* A miss of this compiler (COUNTER_NOTHING: of one without a list) was not cached, or a call of it was bypassed. */
void counters_not_kept(enum counter_group of, enum counter reason);
void counters_bypassed(enum counter_group of, enum counter reason);

/* The directory is shared by its group (NVRTCCACHE_SHARED): not, until this says so. */
void counters_share(void);

enum counters_access { COUNTERS_WRITABLE, COUNTERS_READ_ONLY };
enum counters_when { COUNTERS_WHEN_DUE, COUNTERS_NOW };
/* `directory`: the cache directory; made when missing, unless it is read-only (then nothing is written). */
int counters_flush(const char *directory, enum counters_access access, enum counters_when when);
void counters_fork_child(void);

/* `ret_since`: when counting began, in seconds since 1970; 0: it has not. May be NULL. */
int counters_read(const char *directory, uint64_t ret_values[COUNTER_COUNT], int64_t *ret_since);
/* Counting begins now. */
int counters_zero(const char *directory);

#endif
