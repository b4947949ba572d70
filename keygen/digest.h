/* SPDX-License-Identifier: MIT */
/*
 * digest: the two hashes of a request (docs/DESIGN.md B1, B18)
 *
 * A key is BLAKE2b-256: it names the entry on disk and must not collide, whoever chose the bytes.  A fingerprint finds
 * the entry in this process's memory front, and nothing else is compared there.  It is two XXH3-64 of the same bytes,
 * each with a secret of its own that only this process knows, and costs a tenth of a key.
 *
 * Why secrets: for the published XXH3 anybody can write two texts that collide (in each lane it adds the product of two
 * halves of text ^ secret, which is 0 whatever one half says where the other is the secret's).  Why two: under one
 * unknown secret, texts that differ in the top bits of two words of a lane collide once in 2^33, and the 64 or 128 bits
 * of the result are made of the same sums; so of 2^18 texts in a row two would.  Two secrets make that 2^66.
 *
 * Calling sequence: digest_secret() once from bytes that nobody can guess, then pure functions.
 * Errors: none.
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

/* Looks like random bytes: XXH3 asks for that. The least that it takes. */
#define SECRET_BYTES 136

struct secret {
	uint8_t low[SECRET_BYTES];
	uint8_t high[SECRET_BYTES];
};

void digest_key(const struct span *spans, size_t count, struct key *ret_key);
/* The secret that hangs on those bytes, all of it on all of them. */
void digest_secret(const void *seed, size_t size, struct secret *ret_secret);
void digest_fingerprint(const struct secret *secret, const struct span *spans, size_t count,
                        struct fingerprint *ret_fingerprint);
/* The lower half of a fingerprint: enough where nobody chooses what is compared. */
uint64_t digest_half(const struct secret *secret, const struct span *span);

#endif
