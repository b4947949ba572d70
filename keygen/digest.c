/* SPDX-License-Identifier: MIT */
/*
 * Computing a fingerprint is as fast as reading the memory. Small inputs are copied together and hashed twice in one
 * call each; larger inputs are streamed in pieces that stay in the processor's cache for the second hash.
 */
#include "keygen/digest.h"

#include <blake2.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/random.h>

/* XXH3's code is in its header. This object has it for the whole library, digest_wide.o for AVX2 and itself. */
#ifdef DIGEST_WIDE
#define XXH_INLINE_ALL
#else
#define XXH_IMPLEMENTATION
#endif
#include <xxhash.h>

#define TOGETHER_BYTES 4096
#define PIECE_BYTES    ((size_t)16 << 10)

#define AT_RANDOM_BYTES 16

/* The Makefile compiles this file a second time, for AVX2: only the function DIGEST_UPDATE, into digest_wide.o. */
#ifdef DIGEST_WIDE
#define DIGEST_UPDATE digest_update_wide
#else
#define DIGEST_UPDATE digest_update
#endif
typedef void update_function(XXH3_state_t *low, XXH3_state_t *high, const struct span *span);
update_function digest_update, digest_update_wide;

/* Hashes each piece for both while it is in the processor's cache, so that large inputs are read from memory once. */
void DIGEST_UPDATE(XXH3_state_t *low, XXH3_state_t *high, const struct span *span)
{
	const uint8_t *at = span->bytes;

	for (size_t left = span->size; left > 0;) {
		size_t piece = left < PIECE_BYTES ? left : PIECE_BYTES;

		XXH3_64bits_update(low, at, piece);
		XXH3_64bits_update(high, at, piece);
		at += piece;
		left -= piece;
	}
}

#ifndef DIGEST_WIDE
#ifdef __x86_64__
/* glibc since 2.33 has asked the processor at the start. CPUID itself traps in a virtual machine, for 8 us. */
struct cpuid_leaf {
	unsigned found[4], active[4];
};
extern const struct cpuid_leaf *__x86_get_cpuid_feature_leaf(unsigned leaf) __attribute__((weak));
#define LEAF_7   1
#define EBX_AVX2 (1U << 5)

static update_function *choose_update(void)
{
	return __x86_get_cpuid_feature_leaf && (__x86_get_cpuid_feature_leaf(LEAF_7)->active[1] & EBX_AVX2)
	           ? digest_update_wide
	           : digest_update;
}
#else
static update_function *choose_update(void)
{
	return digest_update;
}
#endif

static void hash_streamed(const struct secret *secret, const struct span *spans, size_t count,
                          struct fingerprint *ret_fingerprint)
{
	update_function *update = choose_update();
	XXH3_state_t low, high;

	XXH3_64bits_reset_withSecret(&low, secret->low, SECRET_BYTES);
	XXH3_64bits_reset_withSecret(&high, secret->high, SECRET_BYTES);
	for (size_t i = 0; i < count; i++) {
		update(&low, &high, &spans[i]);
	}
	ret_fingerprint->low = XXH3_64bits_digest(&low);
	ret_fingerprint->high = XXH3_64bits_digest(&high);
}

/* libb2's calls fail only for a digest length outside 1..64. */
void digest_key(const struct span *spans, size_t count, struct key *ret_key)
{
	blake2b_state state;

	(void)blake2b_init(&state, KEY_BYTES);
	for (size_t i = 0; i < count; i++) {
		if (spans[i].size > 0) {
			(void)blake2b_update(&state, spans[i].bytes, spans[i].size);
		}
	}
	(void)blake2b_final(&state, ret_key->bytes, KEY_BYTES);
}

void digest_secret(const void *seed, size_t size, struct secret *ret_secret)
{
	uint8_t *at = (uint8_t *)ret_secret;

	for (size_t done = 0; done < sizeof(*ret_secret); done += KEY_BYTES) {
		/* A counter before the seed makes the blocks differ. */
		const uint8_t number = (uint8_t)(done / KEY_BYTES);
		const struct span spans[] = {{&number, sizeof(number)}, {seed, size}};
		size_t left = sizeof(*ret_secret) - done;
		struct key key;

		digest_key(spans, 2, &key);
		memcpy(at + done, key.bytes, left < KEY_BYTES ? left : KEY_BYTES);
	}
}

/*
 * The raw system call does not block: early at boot it fails, and the fallback is used, so that the host is not
 * delayed.
 */
int digest_random_secret(struct secret *ret_secret)
{
	const void *started_with;

	if (syscall(SYS_getrandom, ret_secret, sizeof(*ret_secret), GRND_NONBLOCK) == (long)sizeof(*ret_secret)) {
		return 0;
	}
	/* getauxval() returns the address as a number. */
	started_with = (const void *)getauxval(AT_RANDOM); /* NOLINT(performance-no-int-to-ptr) */
	digest_secret(started_with, started_with ? AT_RANDOM_BYTES : 0, ret_secret);
	return started_with ? 0 : -ENOSYS;
}

/* Copies small spans together, because hashing one span twice is faster than streaming two spans twice. */
void digest_fingerprint(const struct secret *secret, const struct span *spans, size_t count,
                        struct fingerprint *ret_fingerprint)
{
	uint8_t bytes[TOGETHER_BYTES];
	size_t size = 0;

	for (size_t i = 0; i < count; i++) {
		if (spans[i].size > sizeof(bytes) - size) {
			hash_streamed(secret, spans, count, ret_fingerprint);
			return;
		}
		if (spans[i].size) {
			memcpy(bytes + size, spans[i].bytes, spans[i].size);
		}
		size += spans[i].size;
	}
	ret_fingerprint->low = XXH3_64bits_withSecret(bytes, size, secret->low, SECRET_BYTES);
	ret_fingerprint->high = XXH3_64bits_withSecret(bytes, size, secret->high, SECRET_BYTES);
}

uint64_t digest_half(const struct secret *secret, const struct span *span)
{
	return XXH3_64bits_withSecret(span->bytes, span->size, secret->low, SECRET_BYTES);
}

_Static_assert(SECRET_BYTES >= XXH3_SECRET_SIZE_MIN, "XXH3 takes no shorter secret");
#endif
