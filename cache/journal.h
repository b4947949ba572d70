/* SPDX-License-Identifier: MIT */
/*
 * journal: what was lately not a hit, and why, for people (docs/DESIGN.md E)
 *
 * Purpose: a key that is not found tells nobody what it lacked. So each miss, refusal and pass-through leaves a record:
 * when, of which process, how it ended and why, and what was asked for. Hits leave none.
 *
 * Files: <directory>/v1/journal, and <directory>/v1/journal.old, what was the journal before that: of half of
 * JOURNAL_BYTES each, so that what is forgotten is always the oldest. A record is appended by one write, under a lock
 * on the file itself; whoever finds no room for it moves the journal to the old one's place. The size is never passed
 * where the file system has locks; elsewhere by one record for each of those who write at once. What lies there is none
 * of the results: it is not evicted, counted or exported.
 *
 * A record begins with its magic, length and a checksum of all of it. What is torn, damaged or of another format is
 * passed over up to the next record that is sound.
 *
 * Calling sequence: journal_write() after each such call, where the cache directory may be written. journal_read(),
 * look at the records, journal_free(). Errors: negative errno values; a record that cannot be written is lost, and
 * nothing else is. journal_write(): -ENOENT: there is no cache directory (none is made); -EPERM: not trusted, or the
 * file is none of ours; -EAGAIN: others kept moving it. journal_read(): files that are missing or none of ours hold
 * nothing.
 * Ownership: records point into the journal's bytes. A text has no NUL behind it.
 */
#ifndef CACHE_JOURNAL_H
#define CACHE_JOURNAL_H

#include "cache/directory.h"

#define JOURNAL_BYTES        ((size_t)1 << 20)
#define JOURNAL_RECORD_BYTES ((size_t)16 << 10)

enum journal_outcome {
	JOURNAL_STORED = 1, /* a miss, and its result was stored */
	JOURNAL_NOT_KEPT,   /* a miss, and it was not */
	JOURNAL_PASSED      /* bypassed: no lookup */
};

struct journal_text {
	const char *bytes;
	size_t size;
};

struct journal_record {
	uint64_t when_ns; /* CLOCK_REALTIME, at its end */
	uint64_t cost_ns; /* of the compiler's own work */
	uint64_t took_ns; /* from the call's beginning to its end */
	uint32_t pid;
	enum journal_outcome outcome;
	bool has_key;
	bool is_stale;   /* a result was there, and did not hold: `detail` says why */
	uint8_t agent;   /* what the node's agent said: enum agent_outcome (cache/agent.h); 0: it was not asked */
	bool is_unfit;   /* a result that holds was not given, or none was looked for: `detail` says why */
	bool has_failed; /* the compiler said so */
	bool is_cut;     /* there was no room for all that it is about */
	uint8_t key[ENTRY_KEY_BYTES];
	struct journal_text reason; /* a counter's name, or empty */
	struct journal_text detail; /* "header changed: inc/vec.h", or empty */
	struct journal_text about;  /* the request, as the caller describes it */
	/*
	 * The dependency that kept the result from the cache: "the file inc/vec.h", or empty. Older builds put it into
	 * the detail.
	 */
	struct journal_text refusal;
};

/* So much of an about fits in a record with these. */
size_t journal_room(const struct journal_record *record);

/* -EINVAL: it is longer than JOURNAL_RECORD_BYTES. */
int journal_write(const struct directory *directory, const struct journal_record *record);

struct journal {
	struct journal_record *records; /* oldest first */
	size_t count;
	void *bytes;
};

int journal_read(const struct directory *directory, struct journal *ret_journal);
void journal_free(struct journal *journal);

/* 0: a journal can be written and read there, or begun; -EPERM: what has its name is none of ours. */
int journal_check(const struct directory *directory);

/* The sound records of a run of bytes, in order. `each` returns non-zero to end it, which is given back. */
typedef int journal_visit(const struct journal_record *record, void *context);
int journal_parse(const void *bytes, size_t size, journal_visit *each, void *context);

#endif
