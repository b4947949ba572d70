/* SPDX-License-Identifier: MIT */
/*
 * board: what the workers of a soak tell the one that watches them, in a file that all of them map
 *
 * soak.py reads and writes the same layout: BOARD_SLOTS rows of BOARD_COUNTS 64-bit numbers, row 0 being `stop` alone.
 * A worker that is killed has told everything but the compile that it was in.
 */
#ifndef TESTS_SOAK_BOARD_H
#define TESTS_SOAK_BOARD_H

#include <stdatomic.h>
#include <stdint.h>

#define BOARD_SLOTS 256

struct board_row {
	_Atomic uint64_t compiles; /* through the cache */
	_Atomic uint64_t same;     /* as a plain compile before and after says */
	_Atomic uint64_t moved;    /* an edit fell in between: nothing can be said */
	_Atomic uint64_t wrong;
	_Atomic uint64_t lives;     /* processes begun in this slot */
	_Atomic uint64_t waited_ns; /* for agents that did not help, the process that is alive now */
	_Atomic uint64_t worst_ns;  /* ... of any, the one that waited longest */
	_Atomic uint64_t spare[1];
};

struct board {
	_Atomic uint64_t stop;
	_Atomic uint64_t spare[7];
	struct board_row rows[BOARD_SLOTS];
};

#endif
