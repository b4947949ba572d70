/* SPDX-License-Identifier: MIT */
/*
 * value: the file of one key, compressed and signed, as an engine stores it under a name (docs/DESIGN.md G3, G4)
 *
 *     at  bytes
 *      0      8  magic
 *      8      4  version of this head
 *     12      4  format of the entries (cache/entry.h)
 *     16      8  bytes of the file
 *     24     32  key of the results
 *     56     16  id of the key that signed it, padded with zeros; only zeros: not signed
 *     72     32  keyed BLAKE2b-256 of the 72 bytes before and of the bytes after
 *    104         one zstd frame: the entries one after the other, newest first
 *
 * Integers are little-endian. The signature covers key and format, so a value cannot be moved to another name. An
 * attacker can put back an old value, but the dependencies of its entries are still checked.
 *
 * Values are untrusted: the head is checked first, then the size, then the signature. Only then is the value
 * decompressed, into as many bytes as the head says, and each entry is checked like one from a file.
 *
 * Calling sequence: fill in `results`; value_seal(); value_open(), results_free().
 * Errors: value_seal(): negative errno values; -EFBIG: the results do not fit. value_open(): an enum with the
 * reason. Threads: no state. Ownership: the caller frees a value with free(); results hold a reference to each entry.
 */
#ifndef AGENT_WIRE_VALUE_H
#define AGENT_WIRE_VALUE_H

#include "cache/entry.h"
#include "cache/store.h"
#include "cache/tools/keyring.h"

#define VALUE_VERSION    3
#define VALUE_HEAD_BYTES 104
#define VALUE_RAW_MAX    (UINT64_C(64) << 20)

/* The results of one key, oldest first. */
struct results {
	struct entry *entries[STORE_RESULTS_MAX];
	size_t count;
};
void results_free(struct results *results);

/* Makes a value of at most `raw_max` bytes before compression. */
int value_seal(const struct results *results, const uint8_t key[ENTRY_KEY_BYTES], const struct keyring *keyring,
               uint64_t raw_max, void **ret_value, size_t *ret_size);

enum value_found {
	VALUE_SOUND,
	VALUE_AGED,      /* sound, but not signed with the first key of the ring */
	VALUE_FOREIGN,   /* not a value, another version, or entries of another format */
	VALUE_OTHER_KEY, /* the head has another key */
	VALUE_LARGE,     /* larger than the limit */
	VALUE_FORGED,    /* not signed with a key of the ring, or the signature does not match the bytes */
	VALUE_DAMAGED,   /* the decompressed bytes do not match the head, or are no entries of the key */
};

/* VALUE_TRUST_ENGINE: unsigned values, and those of unknown keys, are accepted. A wrong signature is never accepted. */
enum value_trust { VALUE_TRUST_KEYS, VALUE_TRUST_ENGINE };

/* What a value is judged by. */
struct value_rules {
	const struct keyring *keyring; /* NULL: none */
	enum value_trust trust;
	uint64_t raw_max; /* largest size before compression */
};

/* Verifies and unpacks a value. Only with VALUE_SOUND and VALUE_AGED there are results. */
enum value_found value_open(const void *value, size_t size, const uint8_t key[ENTRY_KEY_BYTES],
                            const struct value_rules *rules, struct results *ret_results);

#endif
