/* SPDX-License-Identifier: MIT */
/*
 * value: a compressed and signed bundle (cache/tools/bundle.h), as an engine stores it under a name (docs/DESIGN.md G3,
 * G4, G6)
 *
 *     at  bytes
 *      0      8  magic
 *      8      4  version of this head
 *     12      4  format of the entries in the bundle (cache/entry.h)
 *     16      4  flags: signed
 *     20      4  0
 *     24      8  bytes of the bundle
 *     32     32  key of the results, or the digest of the name of a bundle with many keys
 *     64     16  id of the key that signed it, padded with zeros
 *     80     32  keyed BLAKE2b-256 of the 80 bytes before and of the bytes after; zeros if not signed
 *    112         one zstd frame
 *
 * Integers are little-endian. The signature covers key and format, so a value cannot be moved to another name. An
 * attacker can put back an old value, but the dependencies of its entries are still checked.
 *
 * Values are untrusted: head, key and size are checked first, then the signature. Only then is the value decompressed,
 * piece by piece, and no further than to the size in the head. The reader of the bundle checks the decompressed bytes.
 * Memory holds the compressed bytes, at most ENGINE_VALUE_MAX, and one piece of the decompressed bytes.
 *
 * Calling sequence: value_begin(), value_write() (a bundle_put) for a whole bundle, value_end(), or value_abandon()
 * instead. value_open(), value_read() (a bundle_get) until it returns 0, value_close().
 * Errors: value_write(): -ENOMEM; -EFBIG if the value is too large for any engine. value_read(): -EBADMSG if the bytes
 * do not match the head. value_open(): an enum with the reason; then there is nothing to close.
 * Threads: one per struct. Ownership: the caller frees a value with free(); it must outlive its reader.
 */
#ifndef AGENT_WIRE_VALUE_H
#define AGENT_WIRE_VALUE_H

#include "agent/wire/keyring.h"
#include "cache/entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <zstd.h>

#define VALUE_VERSION    2
#define VALUE_HEAD_BYTES 112
#define VALUE_RAW_MAX    (UINT64_C(64) << 20) /* the results of one key */
#define VALUE_BUNDLE_MAX (UINT64_C(4) << 30)  /* a bundle of many keys */

/* Compression levels of zstd. */
enum value_effort {
	VALUE_QUICK =
	    3, /* level 1 saves hardly any time and no bytes; 6 saves a twentieth and takes three times as long */
	VALUE_THOROUGH = 9, /* for bundles, which are made once and fetched by every node */
};

struct value_writer {
	ZSTD_CCtx *packer;
	uint8_t *value;
	size_t size, room;
	uint64_t raw_size, raw_max;
};

/* Starts a value. `raw_size`: size of the bundle, which makes a small one compress better; 0: unknown. */
int value_begin(struct value_writer *ret_writer, enum value_effort effort, uint64_t raw_size, uint64_t raw_max);
int value_write(void *writer, const void *bytes, size_t size);
/* Finishes a value, and signs it with the first key of the ring; NULL: unsigned. Frees the writer, also on failure. */
int value_end(struct value_writer *writer, const uint8_t key[ENTRY_KEY_BYTES], const struct keyring *keyring,
              void **ret_value, size_t *ret_size);
void value_abandon(struct value_writer *writer);

enum value_found {
	VALUE_SOUND,
	VALUE_FOREIGN,     /* not a value, another version, or entries of another format */
	VALUE_LARGE,       /* the bundle is larger than the limit */
	VALUE_OTHER_KEY,   /* the head has another key */
	VALUE_UNSIGNED,    /* not signed */
	VALUE_UNKNOWN_KEY, /* signed with a key that is not in the ring */
	VALUE_FORGED,      /* the signature does not match the bytes */
	VALUE_DAMAGED,     /* the decompressed bytes do not match the head */
	VALUE_NO_MEMORY,
	VALUE_FOUNDS
};

/* VALUE_TRUST_ENGINE: unsigned values are accepted. A wrong signature is never accepted. */
enum value_trust { VALUE_TRUST_KEYS, VALUE_TRUST_ENGINE };

struct value_reader {
	ZSTD_DCtx *unpacker;
	ZSTD_inBuffer in;
	uint64_t left; /* bytes still to be decompressed, by the size in the head */
	bool ended;
};

enum value_found value_open(const void *value, size_t size, const uint8_t key[ENTRY_KEY_BYTES],
                            const struct keyring *keyring, enum value_trust trust, uint64_t raw_max,
                            struct value_reader *ret_reader);
ssize_t value_read(void *reader, void *bytes, size_t size);
void value_close(struct value_reader *reader);

/* Returns a text for people. */
const char *value_words(enum value_found found);

#define VALUE_NAME_MAX 128
/* Returns whether a bundle may have this name: at most VALUE_NAME_MAX letters, digits and "._-+@:/". */
bool value_name_allowed(const char *name);
/* Computes the key of a bundle from its name. */
void value_name_key(const char *name, uint8_t ret_key[ENTRY_KEY_BYTES]);

#endif
