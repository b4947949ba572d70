/* SPDX-License-Identifier: MIT */
/*
 * bundle: several entries in one stream of bytes, as `nvrtccache export` writes them (docs/DESIGN.md E4)
 *
 * Purpose: writes entries and reads them back. It never seeks, so pipes work. The reader has
 * at most one entry in memory, and never allocates more than 1 MiB or twice the bytes that have arrived.
 *
 *     header    24 bytes: magic, format, format of the entries, number of keys announced
 *     per entry frame of 48 bytes (kind, length, key), then the entry's own bytes (cache/entry.h)
 *     last      frame of 48 bytes (kind, zero, BLAKE2b-256 of every byte before it)
 *     signature id of a key (16 bytes) and the keyring's signature of that digest (32); zeros: not signed; then the end
 *
 * Integers are little-endian. Magic and format will have the same place in later formats. The announced number is that
 * of the keys when the writer began; it is meant for progress bars.
 *
 * The reader does not trust the stream: it compares a length with the limit before it allocates memory, verifies the
 * entry like one from a file (cache/entry.h), and compares the entry's length and key with the frame's. A damaged entry
 * is skipped, because its frame still tells where it ends. A wrong length is noticed where no frame follows or at the
 * end, and the rest of the stream is not read. The checksums detect accidents; only a signature detects forgeries, and
 * it comes last, so a stream must be read twice if nothing unsigned may be used.
 *
 * Calling sequence: bundle_write_begin(), bundle_write_entry() any number of times, bundle_write_end(); or
 * bundle_read_begin(), then bundle_read_next() until it returns no 1; after 0 bundle_judge(). Errors: negative errno
 * values, including those of the stream; -ENOMEM. bundle_read_begin(): -ENOEXEC: not a bundle; -EPROTONOSUPPORT:
 * another format, which is in reader->format and reader->entry_format. bundle_read_next(): -EBADMSG: the stream is
 * damaged or ends too early; after damage to single entries, at its end. bundle_judge(): -ENOMSG: not signed; -ENOKEY:
 * signed with a key that is not in the ring; -EKEYREJECTED: the signature is wrong.
 * Threads: one per struct. Ownership: the stream stays the caller's.
 */
#ifndef CACHE_TOOLS_BUNDLE_H
#define CACHE_TOOLS_BUNDLE_H

#include "cache/entry.h"
#include "cache/tools/keyring.h"

#include <blake2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define BUNDLE_FORMAT          2
#define BUNDLE_HEADER_BYTES    24
#define BUNDLE_FRAME_BYTES     48
#define BUNDLE_SIGNATURE_BYTES 48

struct bundle_signature {
	char key_id[KEYRING_ID_BYTES];
	uint8_t mac[KEYRING_MAC_BYTES];
};

struct bundle_writer {
	FILE *stream;
	blake2b_state sum; /* of all bytes so far */
};

/* `keys`: about how many entries will follow. */
int bundle_write_begin(struct bundle_writer *writer, uint64_t keys, FILE *stream);
int bundle_write_entry(struct bundle_writer *writer, const struct entry *entry);
/* `key` NULL: the bundle is not signed. */
int bundle_write_end(struct bundle_writer *writer, const struct keyring_key *key);

struct bundle_reader {
	FILE *stream;
	uint64_t entry_size_max;
	uint32_t format;
	uint32_t entry_format;
	uint64_t keys;     /* the number that the header announces */
	blake2b_state sum; /* of all bytes so far */
	uint64_t large;    /* entries larger than the limit, which were skipped */
	bool damaged;      /* an entry was, and was skipped */
	/* at the end of the stream */
	uint8_t digest[ENTRY_KEY_BYTES];
	struct bundle_signature signature;
};

/* Reads the header. Entries larger than `entry_size_max` bytes are skipped. */
int bundle_read_begin(struct bundle_reader *reader, uint64_t entry_size_max, FILE *stream);
/*
 * Returns 1 after the next entry, of which the caller gets a reference in *ret_entry; NULL: it was skipped. Returns 0
 * at the end of a stream that is complete and unchanged.
 */
int bundle_read_next(struct bundle_reader *reader, struct entry **ret_entry);
/* Verifies the signature of a bundle that was read to its end. */
int bundle_judge(const struct bundle_reader *reader, const struct keyring *keyring);

#endif
