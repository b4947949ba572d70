/* SPDX-License-Identifier: MIT */
/*
 * flight: one compile of a key at a time, not N (docs/DESIGN.md D)
 *
 *     new --seat taken--> seated --the file's lock taken, or not to be had--> settled: look, compile, land
 *      |                    |  `-- another process's flight ended --> look; missed: seated again, or settled
 *      |                    `-- what that process made was not kept --> settled, without a seat
 *      `-- another thread's flight ended, or waited long enough --> settled, without a seat
 *
 * Purpose: threads of one process that miss on a key wait for the one that compiles it (its seat is in a table), and
 * that one waits for other processes (cache/flight_file.h). Whoever waited looks again. Nobody depends on it: when a
 * flight cannot be had, or took too long, one compiles.
 *
 * Results that are not kept (too new, side effects, ...) would have everybody wait for nothing, one after the other. So
 * nobody waits for a second flight of a key once the first gave nothing: those who waited go on side by side, and the
 * key is marked for a minute, in the process and in the file, so that later ones do not wait at all. A result that was
 * kept and does not serve one who waited for it (other headers under the same names) marks it in the process as well.
 * Only after a flight that ended without saying how (its holder died or was cancelled) does one of those who wait take
 * over while the others wait on.
 *
 * Calling sequence, per compile, with a zeroed struct flight:
 *     do { look up; } while (missed && flight_wait(flight, options, key));
 *     compile if still missed; flight_land(flight, outcome)
 * flight_land() of a flight that holds nothing does nothing.
 * Waiting ends after `wait_seconds` in all; and what a process waited for others in vain counts for its next waits too,
 * until one of them was worth it: nobody can hold a process up for longer, however many keys it compiles. A thread that
 * has a flight never waits for another (a compile inside a compile).
 *
 * Errors: none; see flight_file.h for when processes are not waited for. Threads: any; locks are held for a few loads
 * and stores. Signals: not from handlers. errno is not preserved. Cancellation: off, or the waits must not be cut.
 * Fork: flight_fork_child() from an atfork handler. A child has no flights: it closes its copies of the descriptors and
 * leaves the locks to the parent; what it lands of the parent's does nothing.
 */
#ifndef CACHE_FLIGHT_H
#define CACHE_FLIGHT_H

#include "cache/entry.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct flight_options {
	const char *directory; /* NULL: threads only */
	bool shared;
	bool read_only;        /* what is made here reaches no other process: threads only */
	unsigned wait_seconds; /* 0: no flights */
};

struct seat;

struct flight {
	struct seat *seat; /* NULL: none held */
	pid_t owner;       /* of the seat */
	uint8_t key[ENTRY_KEY_BYTES];
	int64_t deadline;
	enum { FLIGHT_NEW, FLIGHT_SEATED, FLIGHT_SETTLED } state;
	int rounds;
	bool hopeful; /* waited for a result that was kept */
};

enum flight_outcome {
	FLIGHT_ABANDONED, /* no answer: somebody else may try */
	FLIGHT_NOT_KEPT,
	FLIGHT_KEPT_HERE, /* this process has it, the store does not */
	FLIGHT_KEPT
};

/* After a miss. True: look again, and when that misses too, call once more. False: compile now. */
bool flight_wait(struct flight *flight, const struct flight_options *options, const uint8_t key[ENTRY_KEY_BYTES]);
void flight_land(struct flight *flight, enum flight_outcome outcome);

void flight_fork_child(void);

#endif
