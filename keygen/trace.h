/* SPDX-License-Identifier: MIT */
/*
 * trace: what one compile did to the outside world, in order
 *
 * Purpose: the recorder that the watch fills (interpose/watch/) and that dependencies are made from.  It keeps
 * every path with its outcome and order, every environment variable that was asked for, and every act that forbids
 * keeping the result (B7).  Pure data: it makes no system call of its own.
 *
 * Calling sequence: trace_init(), trace_*() while the compile runs, dependencies_build(), trace_free().
 * Events of equal kind, path and outcome are kept once, at their first place. A path that is one file now and another
 * then, or there and not there, taints: of such a compile nobody knows what it was made from.
 *
 * Errors: memory that cannot be had, or an event without a path, sets `failed`, and the result is not kept.
 * Threads: one trace belongs to the thread that compiles; other threads taint it through `tainted` alone (atomic).
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
	/* what the compiler kept for its later compiles was opened, or made: no dependencies (enum scratch) */
	TRACE_SCRATCH_READ = 4,
	TRACE_SCRATCH_MADE = 5
};

struct trace_event {
	enum trace_kind kind;
	int error;        /* 0: present, else the errno of the failed call */
	const char *path; /* as the compiler spelled it */
	struct file_stamp stamp;
	struct key digest; /* TRACE_OPEN and present: BLAKE2b-256 of the content */
};

/* Why a result must not be kept, whatever its dependencies: bits. */
enum trace_taint {
	TAINT_WRITE = 1 << 0,           /* a file was written, made, removed, renamed (B7) */
	TAINT_PROCESS = 1 << 1,         /* fork, exec, system */
	TAINT_TOO_NEW = 1 << 2,         /* a file changed during the compile, or is as new as it (B3) */
	TAINT_TIME_MACRO = 1 << 3,      /* a file that was read holds __DATE__ or __TIME__ (B4) */
	TAINT_OTHER_THREAD = 1 << 4,    /* a thread that we could not attribute touched files meanwhile */
	TAINT_UNREADABLE = 1 << 5,      /* a file was opened that we could not digest (FIFO, device, read error) */
	TAINT_CHANGED_PLACE = 1 << 6,   /* chdir, chroot and the like */
	TAINT_UNKNOWN_CALL = 1 << 7,    /* a call whose effect we do not know (raw system calls, sockets) */
	TAINT_TOLD_OTHERWISE = 1 << 11, /* told another directory, variable or number than is recorded */
	/* These do not forbid, they bind the result (B6): clear them before dependencies_build(). */
	TAINT_PATH_MACRO = 1 << 8, /* a file that was read names __FILE__ or its kin */
	TAINT_PLACE = 1 << 9,      /* a file that was read spells a path inside one of the places */
	TAINT_ARITHMETIC = 1 << 10 /* the compiler computed with functions of the host's mathematics library */
};
#define TAINT_COUNT 12

/* Those that may leave a result worth keeping. */
#define TAINTS_SOFT ((uint32_t)(TAINT_TIME_MACRO | TAINT_PATH_MACRO | TAINT_PLACE | TAINT_ARITHMETIC))

struct trace_chunk;
struct places;
struct snapshot;

/* What a file is that lies where the compiler has its own: one of the host's, one for this compile, one for later ones.
 */
enum scratch { SCRATCH_NO, SCRATCH_PASSING, SCRATCH_KEPT };
typedef enum scratch trace_scratch(const char *path);

/*
 * How a compiler's files are searched while they are read: piece by piece, `room` bytes in front of each being free for
 * the search. The taints of the whole are told once it was read.
 */
#define TRACE_SEARCH_BYTES 64

struct trace_reader {
	size_t room;
	void (*begin)(void *search, const struct places *places);
	void (*piece)(void *search, uint8_t *piece, size_t size);
	uint32_t (*taints)(const void *search, const struct key *digest);
};

struct trace {
	struct trace_event *events;
	size_t count;
	size_t capacity;
	char **asked; /* environment variables that were asked for, each once */
	size_t asked_count;
	size_t asked_capacity;
	struct machine_answer answers[MACHINE_ANSWERS_MAX]; /* numbers that were asked for, each once, in order */
	size_t answer_count;
	uint32_t calls; /* calls seen at all */
	_Atomic uint32_t tainted;
	const char *culprits[TAINT_COUNT]; /* of each taint the first path that it came from; NULL: none is known */
	int64_t start_ns;                  /* stamp_now() when the compile began: what is as new is not kept */
	uint64_t mode;                     /* of floating-point operations, when it began; for precompiled headers */
	bool failed;
	const char *lock;       /* a file, there already, that is opened for writing to be locked alone; NULL: none */
	trace_scratch *scratch; /* tells the compiler's own files, which are no side effects; NULL: it has none */
	const struct trace_reader *reader; /* NULL: files are not searched */
	const struct snapshot
	    *told; /* what getcwd, getenv and stat must say (interpose/watch/snapshot.h); may be NULL */
	const struct places *places; /* what TAINT_PLACE is about; set by the caller, may be NULL */
	/* open-addressed set of event indexes, by kind, path and outcome */
	uint32_t *index;
	size_t index_capacity;
	struct trace_chunk *chunks; /* the strings */
};

void trace_init(struct trace *trace, int64_t start_ns);
void trace_free(struct trace *trace);
/* Copies the event (and its path). Returns the kept event, an earlier equal one, or NULL (failed is set). The pointer
 * is good until the next trace_add(); the path that it holds, until trace_free(). */
const struct trace_event *trace_add(struct trace *trace, const struct trace_event *event);
/* The kept TRACE_OPEN event of that path that was present, or NULL: lets the watch skip a second digest. */
const struct trace_event *trace_opened(const struct trace *trace, const char *path);
void trace_asked(struct trace *trace, const char *variable);
/*
 * A number that the machine was asked for. Another answer than before to the same question taints the trace. Threads: the
 * caller serialises these.
 */
void trace_answered(struct trace *trace, uint32_t question, int64_t answer);
void trace_taint(struct trace *trace, uint32_t taint);
/* By the thread that compiles. The path, which may be NULL, is copied; where there is no memory for it, none is known. */
void trace_taint_by(struct trace *trace, uint32_t taint, const char *path);
/* A path that one of these taints came from, or NULL. Good until trace_free(). */
const char *trace_culprit(const struct trace *trace, uint32_t taints);
/* Did the compile open (or try to open) any file for reading? */
bool trace_opened_any(const struct trace *trace);

#endif
