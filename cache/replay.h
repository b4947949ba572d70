/* SPDX-License-Identifier: MIT */
/*
 * replay: what `nvrtccache warm` tells the library in its worker processes
 *
 * A worker makes the calls of a recorded request (keygen/recording.h). The library exports one variable, which the
 * worker sets before the first call of a compiler. Other programs do not know it, so in them it is always zero.
 *
 * While it is set, a call that bypasses the cache is not performed, and returns the compiler's internal error: its
 * options may let the compiler write files. With REPLAY_CHECK a miss is not compiled either, and nothing is counted.
 */
#ifndef CACHE_REPLAY_H
#define CACHE_REPLAY_H

#include <stdint.h>

enum replay_mode { REPLAY_NONE, REPLAY_COMPILE, REPLAY_CHECK };

enum replay_outcome { REPLAY_NO_CALL, REPLAY_HIT, REPLAY_STORED, REPLAY_NOT_KEPT, REPLAY_BYPASSED };

#define REPLAY_WHY_BYTES 640

struct replay_order {
	enum replay_mode mode;
	uint64_t floating_point; /* of the recorded calls */
	/* how the last call ended, as the library tells */
	enum replay_outcome outcome;
	char key[65];               /* "": it had none */
	char why[REPLAY_WHY_BYTES]; /* not a hit, not stored, or bypassed; "": not known */
};

/* In the library. The command finds it by dlsym() under the second name, by which the library does not refer to it. */
extern struct replay_order replay_told __attribute__((visibility("hidden")));
#define REPLAY_SYMBOL nvrtccache_library_replay

/* Returns true if a call that the library would only forward must not be performed. */
#define REPLAY_FORBIDS() (replay_told.mode != REPLAY_NONE)

#endif
