/* SPDX-License-Identifier: MIT */
/*
 * envelope: what lies under a key in the engine: all results of it, packed, and who vouches for them (docs/DESIGN.md G3, G4)
 *
 *     at  bytes
 *      0      8  magic
 *      8      4  version of the envelope
 *     12      4  format of the entries in it (cache/entry.h)
 *     16      4  flags: signed; a bundle of many keys (agent/bundle_value.h), else the results of one
 *     20      4  0
 *     24      8  bytes of what is packed
 *     32     32  key; of a bundle what stands for its name
 *     64     16  id of the key that signed it, zeros behind
 *     80     32  keyed BLAKE2b-256 of the 80 bytes before and of what follows; zeros where nobody signed
 *    112         one frame of zstd
 *
 * Integers are little-endian. The signature is over the key and the format, so a value cannot be moved under another
 * name. An old value can be put back: its conditions still decide whether it is right.
 *
 * Opening trusts nothing: head, key and size are compared first, then the signature is, and only then is anything
 * unpacked, into as many bytes as the head says (at most `raw_max`) and not one more. What a value holds is under its
 * signature too: a bundle is not taken for the results of a key.
 *
 * Errors: an enum that says what is wrong. Threads, fork: no state. Ownership: what comes back is the caller's (free).
 */
#ifndef AGENT_ENVELOPE_H
#define AGENT_ENVELOPE_H

#include "agent/keyring.h"
#include "cache/entry.h"

#include <stddef.h>
#include <stdint.h>

#define ENVELOPE_VERSION    1
#define ENVELOPE_HEAD_BYTES 112
#define ENVELOPE_RAW_MAX    (UINT64_C(64) << 20)
#define ENVELOPE_BUNDLE_MAX (UINT64_C(4) << 30) /* it is unpacked piece by piece */

enum envelope_content { ENVELOPE_RESULTS, ENVELOPE_BUNDLE };

enum envelope_found {
	ENVELOPE_SOUND,
	ENVELOPE_FOREIGN,     /* no envelope, or of another version, or with entries of another format */
	ENVELOPE_LARGE,       /* more is in it than may be */
	ENVELOPE_OTHER_KEY,   /* it is of another key */
	ENVELOPE_UNSIGNED,    /* nobody vouches for it */
	ENVELOPE_UNKNOWN_KEY, /* signed with a key that is not in the ring */
	ENVELOPE_FORGED,      /* the signature is not of these bytes */
	ENVELOPE_DAMAGED,     /* it does not unpack to what it says */
	ENVELOPE_NO_MEMORY,
	ENVELOPE_FOUNDS
};

/* Are values believed that no key of ours signed? A signature that is wrong is never believed. */
enum envelope_trust { ENVELOPE_TRUST_KEYS, ENVELOPE_TRUST_ENGINE };

/* Signed with the ring's first key; not signed where that is NULL. -ENOMEM; -EFBIG: past ENVELOPE_RAW_MAX. */
int envelope_seal(const uint8_t key[ENTRY_KEY_BYTES], const struct keyring *keyring, const void *raw, size_t size,
                  void **ret_value, size_t *ret_size);

enum envelope_found envelope_open(const void *value, size_t size, const uint8_t key[ENTRY_KEY_BYTES],
                                  const struct keyring *keyring, enum envelope_trust trust, uint64_t raw_max,
                                  void **ret_raw, size_t *ret_size);

/*
 * The same where something else packs and unpacks: `value` has room for the head, and behind it `packed` bytes of one frame,
 * which unpack to `raw_size`. -EFBIG: more than a bundle may have.
 */
int envelope_close(const uint8_t key[ENTRY_KEY_BYTES], enum envelope_content content, const struct keyring *keyring,
                   uint8_t *value, size_t packed, uint64_t raw_size);
/* All but unpacking: the frame lies behind the head. */
enum envelope_found envelope_check(const void *value, size_t size, const uint8_t key[ENTRY_KEY_BYTES],
                                   enum envelope_content content, const struct keyring *keyring,
                                   enum envelope_trust trust, uint64_t raw_max, uint64_t *ret_raw_size);
/* For people. */
const char *envelope_words(enum envelope_found found);

#endif
