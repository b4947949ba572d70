/* SPDX-License-Identifier: MIT */
#include "keygen/digest.h"
#include "tests/unit/support.h"

#include <xxhash.h>

static struct key key_of(const void *bytes, size_t size)
{
	struct span span = {.bytes = bytes, .size = size};
	struct key key;

	digest_key(&span, 1, &key);
	return key;
}

static struct fingerprint fingerprint_of(const void *bytes, size_t size)
{
	struct span span = {.bytes = bytes, .size = size};
	struct fingerprint fingerprint;
	struct secret secret;

	digest_secret("test", 4, &secret);
	digest_fingerprint(&secret, &span, 1, &fingerprint);
	return fingerprint;
}

static bool same_fingerprint(struct fingerprint a, struct fingerprint b)
{
	return a.low == b.low && a.high == b.high;
}

/* From an independent implementation: hashlib.blake2b(b"abc", digest_size=32). */
Test(digest, a_key_is_blake2b_256)
{
	static const uint8_t abc[KEY_BYTES] = {0xbd, 0xdd, 0x81, 0x3c, 0x63, 0x42, 0x39, 0x72, 0x31, 0x71, 0xef,
	                                       0x3f, 0xee, 0x98, 0x57, 0x9b, 0x94, 0x96, 0x4e, 0x3b, 0xb1, 0xcb,
	                                       0x3e, 0x42, 0x72, 0x62, 0xc8, 0xc0, 0x68, 0xd5, 0x23, 0x19};
	static const uint8_t nothing[KEY_BYTES] = {0x0e, 0x57, 0x51, 0xc0, 0x26, 0xe5, 0x43, 0xb2, 0xe8, 0xab, 0x2e,
	                                           0xb0, 0x60, 0x99, 0xda, 0xa1, 0xd1, 0xe5, 0xdf, 0x47, 0x77, 0x8f,
	                                           0x77, 0x87, 0xfa, 0xab, 0x45, 0xcd, 0xf1, 0x2f, 0xe3, 0xa8};
	struct key key = key_of("abc", 3);

	cr_assert_eq(memcmp(key.bytes, abc, KEY_BYTES), 0);
	digest_key(NULL, 0, &key);
	cr_assert_eq(memcmp(key.bytes, nothing, KEY_BYTES), 0);
}

/* From an independent implementation: blake2b(bytes([n]) + b"seed", digest_size=32) for n = 0, 1, ..., concatenated. */
Test(digest, every_part_of_a_secret_depends_on_the_seed)
{
	static const uint8_t begins[4] = {0x5f, 0x90, 0x59, 0x6d}, ends[4] = {0xbd, 0x8a, 0x28, 0x9d};
	struct secret secret, other;

	digest_secret("seed", 4, &secret);
	cr_assert_eq(memcmp(secret.low, begins, 4), 0);
	cr_assert_eq(memcmp(secret.high + SECRET_BYTES - 4, ends, 4), 0);
	digest_secret("seed", 3, &other);
	for (size_t at = 0; at + 8 <= SECRET_BYTES; at += 8) {
		cr_assert_neq(memcmp(secret.low + at, other.low + at, 8), 0);
		cr_assert_neq(memcmp(secret.high + at, other.high + at, 8), 0);
		cr_assert_neq(memcmp(secret.low + at, secret.high + at, 8), 0);
	}
}

Test(digest, each_half_of_a_fingerprint_uses_its_own_secret)
{
	struct span span = {.bytes = "text", .size = 4};
	struct fingerprint one, other;
	struct secret secret;

	digest_secret("seed", 4, &secret);
	digest_fingerprint(&secret, &span, 1, &one);
	for (size_t i = 0; i < SECRET_BYTES; i++) {
		secret.high[i] ^= (uint8_t)(i * 31 + 7);
	}
	digest_fingerprint(&secret, &span, 1, &other);
	cr_assert_eq(one.low, other.low);
	cr_assert_neq(one.high, other.high);
}

Test(digest, spans_are_hashed_as_if_concatenated)
{
	uint8_t bytes[1500];
	struct key whole_key;
	struct fingerprint whole;
	struct secret secret;

	digest_secret("test", 4, &secret);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	}
	whole_key = key_of(bytes, sizeof(bytes));
	whole = fingerprint_of(bytes, sizeof(bytes));
	for (size_t cut = 0; cut <= sizeof(bytes); cut += 37) {
		struct span spans[] = {{bytes, cut}, {NULL, 0}, {bytes + cut, sizeof(bytes) - cut}};
		struct key key;
		struct fingerprint fingerprint;

		digest_key(spans, 3, &key);
		digest_fingerprint(&secret, spans, 3, &fingerprint);
		cr_assert_eq(memcmp(&key, &whole_key, sizeof(key)), 0);
		cr_assert(same_fingerprint(fingerprint, whole));
	}
}

/* Small spans are copied together before they are hashed; large ones are streamed, and wider on some processors. */
Test(digest, a_fingerprint_is_the_same_whether_spans_are_small_or_large)
{
	static uint8_t bytes[20000];
	struct secret secret;

	digest_secret("test", 4, &secret);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	}
	for (size_t size = 4000; size <= sizeof(bytes); size += 97) {
		struct fingerprint whole = fingerprint_of(bytes, size), pieces;
		struct span spans[] = {{bytes, size / 3}, {bytes + size / 3, size - size / 3}};

		digest_fingerprint(&secret, spans, 2, &pieces);
		cr_assert(same_fingerprint(whole, pieces), "%zu bytes", size);
		cr_assert_eq(whole.low, XXH3_64bits_withSecret(bytes, size, secret.low, SECRET_BYTES));
		cr_assert_eq(whole.high, XXH3_64bits_withSecret(bytes, size, secret.high, SECRET_BYTES));
		bytes[size - 1] ^= 1;
		cr_assert(!same_fingerprint(fingerprint_of(bytes, size), whole), "%zu bytes", size);
	}
}

Test(digest, texts_of_different_lengths_have_different_hashes)
{
	static const uint8_t zeros[300];
	struct key key = key_of(zeros, 299), longer = key_of(zeros, 300);

	cr_assert_neq(memcmp(&key, &longer, sizeof(key)), 0);
	cr_assert(!same_fingerprint(fingerprint_of(zeros, 299), fingerprint_of(zeros, 300)));
}
