/* SPDX-License-Identifier: MIT */
/*
 * digest: the two hashes of a request (docs/DESIGN.md B1, B18)
 *
 * A key is BLAKE2b-256. It names the entry on disk and must not collide even if an attacker chooses the bytes. A
 * fingerprint finds the entry in this process's memory front, which compares nothing else. It is two XXH3-64 of the
 * same bytes, each with its own secret that only this process knows, and takes a tenth of the time of a key.
 *
 * Why secrets: for the published XXH3 it is easy to write two texts that collide (each lane adds the product of two
 * halves of text ^ secret, which is 0 whenever one half of the text equals the secret's). Why two: with one unknown
 * secret, texts that differ in the top bits of two words of a lane collide once in 2^33, and the 64 or 128 bits of the
 * result come from the same sums, so two of 2^18 successive texts would collide. Two secrets make that 2^66.
 *
 * Calling sequence: digest_random_secret() once, then pure functions. Errors: none but of that function.
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

/* One of several runs of bytes that are hashed as if concatenated. */
struct span {
	const void *bytes;
	size_t size;
};

/* XXH3 expects a secret that looks random; this is the shortest that it accepts. */
#define SECRET_BYTES 136

struct secret {
	uint8_t low[SECRET_BYTES];
	uint8_t high[SECRET_BYTES];
};

/* Computes the key of the concatenated spans. */
void digest_key(const struct span *spans, size_t count, struct key *ret_key);
/* Derives a secret from the seed; every byte of it depends on the whole seed. */
void digest_secret(const void *seed, size_t size, struct secret *ret_secret);
/*
 * Makes the random secret of this process. It comes from the kernel by a raw system call, because libc has getrandom()
 * only since 2.25, and a preload may replace it. If the call is refused or would block (early at boot), the secret is
 * computed from the 16 random bytes that every program gets at its start. A forked child has its parent's secret, as it
 * has the parent's memory front. -ENOSYS: neither source exists. The secret is then a published constant, so that no
 * entries may be looked up by fingerprint. errno may change.
 */
int digest_random_secret(struct secret *ret_secret);
void digest_fingerprint(const struct secret *secret, const struct span *spans, size_t count,
                        struct fingerprint *ret_fingerprint);
/* Returns the lower half of a fingerprint, which is enough if no attacker chooses the bytes. */
uint64_t digest_half(const struct secret *secret, const struct span *span);

#endif
