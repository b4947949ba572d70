/* SPDX-License-Identifier: MIT */
/*
 * trace: what one compilation read, looked up and changed outside the process, in order
 *
 * Purpose: the record that the watch fills (interpose/watch/) and from which dependencies are made. It holds every
 * path with its outcome, every environment variable that was read, and every action that forbids caching the result.
 * It makes no system call itself.
 *
 * Calling sequence: trace_init(), trace_*() during the compilation, dependencies_build(), trace_free(). Events of
 * equal kind, path and outcome are stored once, at their first position. A path that names two different files during
 * the compilation, or appears or vanishes, taints the trace, because it is then unknown what the compiler read.
 *
 * Errors: if there is no memory, or an event has no path, `failed` is set and the result is not cached. Threads: a
 * trace belongs to the thread that compiles; other threads taint it, and add variables and answers.
 */
#ifndef KEYGEN_TRACE_H
#define KEYGEN_TRACE_H

#include "keygen/digest.h"
#include "keygen/machine.h"
#include "keygen/stamp.h"
#include "keygen/stream.h"

#include <stdatomic.h>

enum trace_kind {
	TRACE_PROBE = 1,   /* stat: present (stamp) or absent (error) */
	TRACE_OPEN = 2,    /* opened for reading: present (stamp, digest) or absent (error) */
	TRACE_LISTING = 3, /* a directory was listed, or a path resolved in a way that dependencies cannot express */
	/*
	 * A file that the compiler keeps for later compilations (enum scratch), which is no dependency: it was opened
	 * or found absent, opened again, created.
	 */
	TRACE_SCRATCH_READ = 4,
	TRACE_SCRATCH_READ_AGAIN = 5,
	TRACE_SCRATCH_MADE = 6
};

struct trace_event {
	enum trace_kind kind;
	int error;        /* 0: present, else the errno of the failed call */
	const char *path; /* as the compiler spelled it */
	struct file_stamp stamp;
	struct key digest; /* TRACE_OPEN and present: BLAKE2b-256 of the content */
	uint32_t next;     /* the trace's own */
};

/* Bits: why a result must not be cached, whatever its dependencies are. */
enum trace_taint {
	TAINT_WRITE = 1 << 0,           /* a file was written, created, removed or renamed */
	TAINT_PROCESS = 1 << 1,         /* fork, exec, system */
	TAINT_TOO_NEW = 1 << 2,         /* a file changed during the compilation, or is not older than its start */
	TAINT_TIME_MACRO = 1 << 3,      /* a file that was read contains __DATE__ or __TIME__ */
	TAINT_OTHER_THREAD = 1 << 4,    /* a thread without a trace touched files meanwhile */
	TAINT_UNREADABLE = 1 << 5,      /* a file was opened that could not be digested (FIFO, device, read error) */
	TAINT_CHANGED_PLACE = 1 << 6,   /* chdir, chroot and similar */
	TAINT_UNKNOWN_CALL = 1 << 7,    /* a call whose effect is not known (raw system calls, sockets) */
	TAINT_TOLD_OTHERWISE = 1 << 11, /* the compiler got another directory, variable or number than is recorded */
	/* These only make the result path-dependent: clear them before dependencies_build(). */
	TAINT_PATH_MACRO = 1 << 8,  /* a file that was read contains __FILE__ or a similar macro */
	TAINT_PLACE = 1 << 9,       /* a file that was read contains a path inside one of the places */
	TAINT_ARITHMETIC = 1 << 10, /* the compiler called functions of the host's libm */
	TAINT_KNOWN_MACRO = 1 << 12 /* a file names __FILE__ in a way that the output shows if it is used */
};
#define TAINT_COUNT 13

/* Taints with which a result may still be cached. */
#define TAINTS_SOFT \
	((uint32_t)(TAINT_TIME_MACRO | TAINT_PATH_MACRO | TAINT_PLACE | TAINT_ARITHMETIC | TAINT_KNOWN_MACRO))

struct places;
struct snapshot;

/*
 * A file in the compiler's scratch directory: SCRATCH_NO a file of the host, SCRATCH_PASSING a file for this
 * compilation, SCRATCH_KEPT a file for later compilations. SCRATCH_WRITTEN: the compiler only creates and removes files
 * of that name; one that it reads is the host's.
 */
enum scratch { SCRATCH_NO, SCRATCH_WRITTEN, SCRATCH_PASSING, SCRATCH_KEPT };
typedef enum scratch trace_scratch(const char *path);

/* Searches a file that the compiler opened, and returns the taints that its content causes. */
typedef uint32_t trace_reader(const void *bytes, size_t size, const struct key *digest, const struct places *places);

struct trace {
	struct trace_event *events;
	size_t count;
	size_t capacity;
	uint32_t *chains;    /* of the events with one hash of their paths */
	struct stream asked; /* names of the environment variables that were read, each once, with its NUL */
	/* questions to the machine, each once, sorted by question */
	struct machine_answer answers[MACHINE_ANSWERS_MAX];
	size_t answer_count;
	uint32_t calls; /* number of calls that the watch saw */
	_Atomic uint32_t tainted;
	char *culprits[TAINT_COUNT]; /* for each taint the first path that caused it; NULL: none is known */
	int64_t start_ns; /* stamp_now() at the start of the compilation: a file of that time is not settled */
	bool failed;
	const char *lock; /* an existing file that the compiler opens for writing only to lock it, or NULL */
	/* tells the compiler's scratch files, whose changes are no side effects; NULL: the compiler has none */
	trace_scratch *scratch;
	trace_reader *reader; /* NULL: files are not searched */
	/* what getcwd, getenv and stat must return to the compiler (interpose/watch/snapshot.h); may be NULL */
	const struct snapshot *told;
	const struct places *places; /* the places for TAINT_PLACE; set by the caller, may be NULL */
};

void trace_init(struct trace *trace, int64_t start_ns);
void trace_free(struct trace *trace);
/*
 * Adds a copy of the event and its path. Returns the stored event, which may be an earlier equal one, or NULL
 * (`failed` is set). The pointer is valid until the next trace_add(), its path until trace_free().
 */
const struct trace_event *trace_add(struct trace *trace, const struct trace_event *event);
/* Returns the stored TRACE_OPEN event in which the path was a file, or NULL. It saves the watch a second digest. */
const struct trace_event *trace_opened(const struct trace *trace, const char *path);
/* Returns true if both events found the same file, or the same absence. */
bool trace_same_answer(const struct trace_event *one, const struct trace_event *other);
/* Records the name of an environment variable that was read. Threads: the caller serialises the calls. */
void trace_asked(struct trace *trace, const char *variable);
/* Returns the name recorded after `previous` (NULL: the first name), or NULL at the end. */
const char *trace_next_asked(const struct trace *trace, const char *previous);
/*
 * Records an answer of the machine. A different answer to the same question taints the trace. Threads: as for
 * trace_asked().
 */
void trace_answered(struct trace *trace, uint32_t question, int64_t answer);
/* Adds bits of enum trace_taint. Any thread may call it. */
void trace_taint(struct trace *trace, uint32_t taint);
/*
 * As trace_taint(), and records the path (may be NULL) that caused the taints. Only the thread that compiles may call
 * it. The path is copied; without memory it is dropped.
 */
void trace_taint_by(struct trace *trace, uint32_t taint, const char *path);
/* Returns a path that caused one of these taints, or NULL. Valid until trace_free(). */
const char *trace_culprit(const struct trace *trace, uint32_t taints);
/* Returns true if there is an event of that kind: TRACE_OPEN: a file was opened for reading, or in vain. */
bool trace_has(const struct trace *trace, enum trace_kind kind);

#endif
