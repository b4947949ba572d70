/* SPDX-License-Identifier: MIT */
/*
 * events: the record of what happened in all processes: counts, and each miss and bypass (docs/DESIGN.md E2, E3)
 *
 * Purpose: each miss and each bypassed call adds a record at once. Hits add records of their counts: each of the first
 * 256 hits of a process one, then one per tick of the coarse clock (1 to 10 ms) until the process is a second old, then
 * one a second. So a worker that ends by _exit or a signal in its first second loses none of the first 256 hits.
 * Every record also contains the counts since the process's last record (cache/counters.h). `nvrtccache stats` and
 * `explain` read the records; there are no other counters.
 *
 * Files: <directory>/v1/events, to which records are appended, each by one write, without a lock. A writer that finds
 * more than EVENTS_ROLL bytes in it rolls it over:
 *
 *     counts and newest calls of events.old --appended--> events --renamed--> events.old
 *
 * One process does so at a time, with a lock on the file that it tries once. A file that contains such counts carries
 * all that is older, so that a process that dies in between leaves nothing that is counted twice. A record that would
 * make a file larger than EVENTS_BYTES is not written (when several processes append the last ones, the file may be
 * that much larger). A writer that is stopped between its open and its write while the file is rolled over twice loses
 * that record, so the second time is EVENTS_GRACE_NS after the first or later. Meanwhile the file may become full. Its
 * last EVENTS_SPARE bytes are for EVENTS_NOW, because a process that ends has no next record.
 *
 * A record has a length and a checksum. Readers skip bytes that are torn, damaged or of another list of counters, up to
 * the next sound record. A record that cannot be written is lost, but not its counts: the next record contains them.
 *
 * Calling sequence: events_open() once; counters_add() and the like; events_tell() after each miss or bypass, and
 * events_tell_counts() after each hit; EVENTS_NOW at exit. For readers: events_read(), events_free(). Threads: any.
 * Fork: events_fork_child() in the child. Errors: negative errno values; -EPERM: not trusted.
 */
#ifndef CACHE_EVENTS_H
#define CACHE_EVENTS_H

#include "cache/counters.h"
#include "cache/directory.h"

#include <limits.h>
#include <stdatomic.h>
#include <sys/types.h>

#define EVENTS_BYTES         ((size_t)3 << 18) /* without what is carried */
#define EVENTS_ROLL          ((size_t)1 << 19)
#define EVENTS_SPARE         ((size_t)1 << 16)
#define EVENTS_RECORD_BYTES  ((size_t)16 << 10)
#define EVENTS_CARRIED_BYTES ((size_t)1 << 18) /* of the sums and the calls that are carried at most */
#define EVENTS_GRACE_NS      INT64_C(100000000)

#define EVENTS_MAGIC    "NVCEVENT" /* the first bytes of each record */
#define EVENTS_NAME     "events"
#define EVENTS_OLD_NAME "events.old"

/* These numbers are in the files. */
enum events_kind {
	EVENTS_COUNTS, /* counts only */
	EVENTS_SUMS,   /* the counts of all earlier files */
	EVENTS_ZERO,   /* the user has set the counts to zero: earlier counts are ignored */
	EVENTS_STORED, /* a miss whose result was stored */
	EVENTS_NOT_KEPT,
	EVENTS_BYPASSED,
	EVENTS_KINDS
};

/* What `detail` explains: why the call was not a hit. */
enum events_why {
	EVENTS_WHY_UNKNOWN, /* nothing: no entry was found */
	EVENTS_WHY_STALE,   /* which dependency of an entry has changed */
	EVENTS_WHY_UNFIT    /* why a valid entry was not served, or why no look-up was done */
};

struct events_text {
	const void *bytes;
	size_t size;
};

enum events_part {
	EVENTS_AMOUNTS, /* to add to the counters: struct counters_amount */
	EVENTS_DETAIL,
	EVENTS_REFUSAL, /* what prevented caching: a file, a variable, a return code */
	EVENTS_ABOUT,   /* the request, for people (keygen/about.h) */
	EVENTS_PARTS
};

/*
 * A record in a file is the beginning of this struct, then its parts. All numbers are little-endian. events_spell()
 * sets magic, checksum, sizes and list.
 */
struct events_record {
	char magic[DIRECTORY_MAGIC_BYTES];
	uint64_t checksum; /* XXH3 of all that follows */
	uint32_t size;     /* of the whole record */
	uint32_t kind;     /* enum events_kind */
	uint64_t list;     /* identifies the list of counters */
	uint64_t when_ns;  /* CLOCK_REALTIME at the end of the call; of EVENTS_SUMS: when counting began */
	/* the following belong to the last three kinds */
	uint64_t took_ns; /* the time from the beginning of the call to its end */
	uint64_t cost_ns; /* the time that the compiler itself took */
	uint16_t sizes[EVENTS_PARTS];
	uint32_t pid;
	int32_t return_code;
	uint32_t reason; /* why the result was not cached, or the call bypassed the cache (enum counter); else 0 */
	uint32_t why;    /* enum events_why */
	uint32_t agent;  /* what the node's agent answered (enum agent_outcome) */
	uint8_t has_key;
	uint8_t is_cut;      /* the request lacks its last facts */
	uint16_t is_carried; /* it was copied from the file before, or is the sums of that */
	uint8_t key[ENTRY_KEY_BYTES];
	/* not in the file */
	struct events_text parts[EVENTS_PARTS];
};

#define EVENTS_HEAD_BYTES offsetof(struct events_record, parts)
/* Bytes that the texts of a record, which are all parts but the amounts, may have together. */
#define EVENTS_TEXT_BYTES (EVENTS_RECORD_BYTES - EVENTS_HEAD_BYTES - COUNTER_COUNT * sizeof(struct counters_amount))

/* ---- this process (events.c) ---- */

enum events_when { EVENTS_WHEN_DUE, EVENTS_NOW };

/*
 * Sets the directory, whose path must stay valid; before, or if that is NULL, nothing is written. A missing directory
 * is created by the first record, but not again after the host has removed it.
 */
void events_open(const struct directory *directory, pid_t process);
/*
 * Adds the record of a call (EVENTS_WHEN_DUE), with the time and with the counts that are not recorded yet as its
 * amounts; or if its kind is EVENTS_COUNTS a record of these counts, if there are any and it is due.
 */
int events_tell(struct events_record *record, enum events_when when);
int events_tell_counts(enum events_when when);
void events_fork_child(void);

/* ---- the file (events_file.c) ---- */

struct events_place {
	struct directory directory;
	char path[PATH_MAX]; /* of the newest file */
	/* identifies the file that was opened last, through trusted directories; 0: none yet, so it may be created */
	_Atomic uint64_t known;
};

/*
 * Appends a record. EVENTS_WHEN_DUE: EVENTS_SPARE bytes are left. -EFBIG: the file is full and cannot be rolled over,
 * or the texts are too long. -ENOMEM.
 */
int events_append(struct events_place *place, const struct events_record *record, enum events_when when);
/* Makes all counts zero for readers. */
int events_zero(const struct directory *directory);

/* ---- reading (events_file.c) ---- */

struct events {
	uint64_t counts[COUNTER_COUNT]; /* EVENTS_ALL: the totals with their shares */
	uint64_t since_ns;              /* when counting began, in nanoseconds since 1970; 0: nothing was counted */
	struct events_record *records;  /* of calls, oldest first */
	size_t count;
	bool old_is_carried; /* the newest file carries events.old, which is not counted or listed */
	bool has_foreign;    /* a file is not ours or not trusted, and stays */
};

/*
 * Reads both files, or what events.old contains (EVENTS_PAST). A missing directory has no records; files that
 * are missing or foreign count as empty.
 */
enum events_files { EVENTS_ALL, EVENTS_PAST };
int events_read(const struct directory *directory, enum events_files files, struct events *ret_events);
void events_free(struct events *events);

/* ---- the bytes of a record (events.c) ---- */

/* Writes the record and returns its size: EVENTS_HEAD_BYTES, and those of its parts. */
size_t events_spell(const struct events_record *record, uint8_t *ret_bytes);
/* Finds the first sound record at `*at` or later, and moves `*at` behind it. Its parts point into `bytes`. */
bool events_next(const void *bytes, size_t size, size_t *at, struct events_record *ret_record);
/* Adds the counts of a record to `counts`, or resets them (EVENTS_ZERO). `since` is when counting began; 0: unknown. */
void events_add_amounts(const struct events_record *record, uint64_t counts[COUNTER_COUNT], uint64_t *since_ns);

#endif
