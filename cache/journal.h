/* SPDX-License-Identifier: MIT */
/*
 * journal: records recent misses, uncached compilations and bypasses, with their reasons (docs/DESIGN.md E)
 *
 * Purpose: a missing key does not show why it is missing. So each miss, uncached compilation and bypass adds a record:
 * the time, the process, the outcome and its reason, and the request. Hits are not recorded.
 *
 * Files: <directory>/v1/journal, and <directory>/v1/journal.old, which is the previous journal. Each has at most half
 * of JOURNAL_BYTES, and the oldest records are lost first. A record is appended by one write, under a lock on the file
 * itself. A process that finds no room for its record renames the journal to journal.old. If the file system has locks,
 * the size is never exceeded; otherwise by at most one record of each concurrent writer. The journal is not part of the
 * results: it is not evicted, counted or exported.
 *
 * A record begins with its magic, its length and a checksum of the whole record. Bytes that are torn, damaged or of
 * another format are skipped up to the next sound record.
 *
 * Calling sequence: journal_write() after each such call, if the cache directory may be written. journal_read(),
 * use the records, journal_free(). Errors: negative errno values; a record that cannot be written is lost, with no
 * other effect. journal_write(): -ENOENT: there is no cache directory (it is not created); -EPERM: not trusted, or the
 * file is not ours; -EAGAIN: other processes kept locking or renaming it. journal_read(): files that are missing or not
 * ours count as empty.
 * Ownership: records point into the journal's bytes. A text is not terminated by a NUL.
 */
#ifndef CACHE_JOURNAL_H
#define CACHE_JOURNAL_H

#include "cache/directory.h"

#define JOURNAL_BYTES        ((size_t)1 << 20)
#define JOURNAL_RECORD_BYTES ((size_t)16 << 10)

enum journal_outcome {
	JOURNAL_STORED = 1, /* a miss whose result was stored */
	JOURNAL_NOT_KEPT,   /* a miss whose result was not cached */
	JOURNAL_PASSED      /* a bypass: there was no look-up */
};

struct journal_text {
	const char *bytes;
	size_t size;
};

struct journal_record {
	uint64_t when_ns; /* CLOCK_REALTIME at the end of the call */
	uint64_t cost_ns; /* the time that the compiler itself took */
	uint64_t took_ns; /* the time from the beginning of the call to its end */
	uint32_t pid;
	enum journal_outcome outcome;
	bool has_key;
	bool is_stale;   /* there was a result, but its dependencies did not hold: `detail` says why */
	uint8_t agent;   /* the answer of the node's agent: enum agent_outcome (cache/agent.h); 0: it was not asked */
	bool is_unfit;   /* a valid result was not served, or there was no look-up for one: `detail` says why */
	bool has_failed; /* the compiler returned an error */
	bool is_cut;     /* `about` was shortened to fit */
	uint8_t key[ENTRY_KEY_BYTES];
	struct journal_text reason; /* a counter's name, or empty */
	struct journal_text detail; /* "header changed: inc/vec.h", or empty */
	struct journal_text about;  /* the request, as the caller describes it */
	/*
	 * The dependency because of which the result was not cached: "the file inc/vec.h", or empty. Older builds put
	 * it into the detail.
	 */
	struct journal_text refusal;
};

/* Returns how many bytes of `about` fit in a record with the other texts of this one. */
size_t journal_room(const struct journal_record *record);

/* Appends a record. -EINVAL: it is longer than JOURNAL_RECORD_BYTES. */
int journal_write(const struct directory *directory, const struct journal_record *record);

struct journal {
	struct journal_record *records; /* oldest first */
	size_t count;
	void *bytes;
};

/* Reads the records of both files. A missing directory has none. */
int journal_read(const struct directory *directory, struct journal *ret_journal);
void journal_free(struct journal *journal);

/*
 * Returns 0 if the directory has a journal of ours or none yet. -EPERM: a file of that name is not ours or not trusted.
 */
int journal_check(const struct directory *directory);

/*
 * Calls `each` for the sound records in `bytes`, in order. journal_parse() stops at and returns a non-zero value of it.
 */
typedef int journal_visit(const struct journal_record *record, void *context);
int journal_parse(const void *bytes, size_t size, journal_visit *each, void *context);

#endif
