/* SPDX-License-Identifier: MIT */
/*
 * digest: the two hashes of a request (DESIGN B1)
 *
 * A key is BLAKE2b-256: it names the entry on disk and must not collide, whoever chose the bytes.  A fingerprint is
 * XXH3-128 of the same bytes: it finds the entry in this process's memory front, where only the process itself could
 * collide with itself, and costs a tenth.
 *
 * Calling sequence: pure functions.  Threads, fork, signals: no state.  Errors: none.
 */
#ifndef KEYGEN_DIGEST_H
#define KEYGEN_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define KEY_BYTES 32

struct key {
	uint8_t bytes[KEY_BYTES];
};

struct fingerprint {
	uint64_t low;
	uint64_t high;
};

/* One run of bytes of several that are hashed as if they stood one behind the other. */
struct span {
	const void *bytes;
	size_t size;
};

void digest_key(const struct span *spans, size_t count, struct key *ret_key);
void digest_fingerprint(const struct span *spans, size_t count, struct fingerprint *ret_fingerprint);

#endif
