/* SPDX-License-Identifier: MIT */
/*
 * value: what an engine holds under a name: a bundle (cache/tools/bundle.h), packed and signed (docs/DESIGN.md G3, G4,
 * G6)
 *
 *     at  bytes
 *      0      8  magic
 *      8      4  version of this head
 *     12      4  format of the entries in the bundle (cache/entry.h)
 *     16      4  flags: signed
 *     20      4  0
 *     24      8  bytes of the bundle
 *     32     32  key: of the results, or the digest of the name of a bundle of many keys
 *     64     16  id of the key that signed it, padded with zeros
 *     80     32  keyed BLAKE2b-256 of the 80 bytes before and of what follows; zeros if not signed
 *    112         one frame of zstd
 *
 * Integers are little-endian. The signature covers key and format, so a value cannot be moved to another name. An old
 * value can be put back: its dependencies still decide whether it holds.
 *
 * Opening trusts nothing: head, key and size are compared first, then the signature, and only then is anything
 * unpacked, piece by piece and no more than the head says. The reader of the bundle checks what comes out. In memory
 * are the packed bytes, at most ENGINE_VALUE_MAX, and one piece of the unpacked ones.
 *
 * Calling sequence: value_begin(), value_write() (a bundle_put) of a whole bundle, value_end(), or value_abandon()
 * instead. value_open(), value_read() (a bundle_get) until it gives 0, value_close().
 * Errors: value_write(): -ENOMEM, -EFBIG: no engine takes that much; value_read(): -EBADMSG: it does not unpack to what
 * the head says; value_open(): an enum that says what is wrong, and then there is nothing to close.
 * Threads: one per struct. Ownership: a value is the caller's (free), and must outlive its reader.
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

/* How hard a value is packed. */
enum value_effort {
	VALUE_QUICK =
	    3, /* 1 packs as small and no faster to speak of; 6 gains a twentieth and takes three times as long */
	VALUE_THOROUGH = 9, /* made once, fetched by every node */
};

struct value_writer {
	ZSTD_CCtx *packer;
	uint8_t *value;
	size_t size, room;
	uint64_t raw_size, raw_max;
};

/* `raw_size` where it is known (a small bundle then packs smaller), else 0. */
int value_begin(struct value_writer *ret_writer, enum value_effort effort, uint64_t raw_size, uint64_t raw_max);
int value_write(void *writer, const void *bytes, size_t size);
/* Signed with the ring's first key; not signed where that is NULL. On failure too the writer is gone. */
int value_end(struct value_writer *writer, const uint8_t key[ENTRY_KEY_BYTES], const struct keyring *keyring,
              void **ret_value, size_t *ret_size);
void value_abandon(struct value_writer *writer);

enum value_found {
	VALUE_SOUND,
	VALUE_FOREIGN,     /* not a value, another version, or entries of another format */
	VALUE_LARGE,       /* its contents exceed the limit */
	VALUE_OTHER_KEY,   /* the key in it is another one */
	VALUE_UNSIGNED,    /* it is not signed */
	VALUE_UNKNOWN_KEY, /* signed with a key that is not in the ring */
	VALUE_FORGED,      /* the signature is not of these bytes */
	VALUE_DAMAGED,     /* the unpacked bytes do not match the head */
	VALUE_NO_MEMORY,
	VALUE_FOUNDS
};

/* Are unsigned values accepted? A wrong signature never is. */
enum value_trust { VALUE_TRUST_KEYS, VALUE_TRUST_ENGINE };

struct value_reader {
	ZSTD_DCtx *unpacker;
	ZSTD_inBuffer in;
	uint64_t left; /* of what it says it unpacks to */
	bool ended;
};

enum value_found value_open(const void *value, size_t size, const uint8_t key[ENTRY_KEY_BYTES],
                            const struct keyring *keyring, enum value_trust trust, uint64_t raw_max,
                            struct value_reader *ret_reader);
ssize_t value_read(void *reader, void *bytes, size_t size);
void value_close(struct value_reader *reader);

/* For people. */
const char *value_words(enum value_found found);

#define VALUE_NAME_MAX 128
/* The name of a bundle of many keys: letters, digits and "._-+@:/", and no more than that of them. */
bool value_name_allowed(const char *name);
/* Computes the key of a bundle from its name. */
void value_name_key(const char *name, uint8_t ret_key[ENTRY_KEY_BYTES]);

#endif
