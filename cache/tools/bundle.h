/* SPDX-License-Identifier: MIT */
/*
 * bundle: several entries in one stream of bytes, as `nvrtccache export` writes them (docs/DESIGN.md E4)
 *
 * Purpose: writes entries and reads them back. It never seeks, so pipes work. The reader has at most one entry in
 * memory.
 *
 *     header    24 bytes: magic, format, format of the entries, number of keys announced
 *     per entry frame of 56 bytes, then the entry's own bytes (cache/entry.h). The frame has their length, and the id
 *               of a key (16 bytes) and the keyring's signature of them (32); zeros: not signed
 *     last      frame of zeros; then the end
 *
 * Integers are little-endian. Magic and format will have the same place in later formats. The announced number is that
 * of the keys when the writer began; it is meant for progress bars.
 *
 * The reader does not trust the stream: it verifies an entry like one from a file (cache/entry.h), and compares its
 * length with the frame's. A damaged entry is skipped. After a wrong length no frame follows, and the rest of the
 * stream is not read. Checksums detect accidents; only signatures detect forgeries. Each entry has its own, as a value
 * of an engine has: who carries a bundle can leave entries out, or mix those of several bundles, but not make one.
 *
 * Calling sequence: bundle_write_begin(), bundle_write_entry() any number of times, bundle_write_end(); or
 * bundle_read_begin(), then bundle_read_next() until it returns no 1. Errors: negative errno values, including those of
 * the stream; -ENOMEM. bundle_read_begin(): -ENOEXEC: not a bundle; -EPROTONOSUPPORT: another format, which is in
 * reader->header. bundle_read_next(): -EBADMSG: the stream is damaged or ends too early; after damage to single
 * entries, at its end. With a keyring: -ENOMSG: the entry is not signed; -ENOKEY: signed with a key that is not in the
 * ring; -EKEYREJECTED: the signature is wrong.
 * Threads: one per struct. Ownership: stream and keyring stay the caller's.
 */
#ifndef CACHE_TOOLS_BUNDLE_H
#define CACHE_TOOLS_BUNDLE_H

#include "cache/entry.h"
#include "cache/tools/keyring.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define BUNDLE_FORMAT       3
#define BUNDLE_HEADER_BYTES 24
#define BUNDLE_FRAME_BYTES  56

struct bundle_header {
	uint8_t magic[8];
	uint32_t format;
	uint32_t entry_format;
	uint64_t keys;
};

/* `keys`: about how many entries will follow. */
int bundle_write_begin(FILE *stream, uint64_t keys);
/* `key` NULL: the entry is not signed. */
int bundle_write_entry(FILE *stream, const struct entry *entry, const struct keyring_key *key);
int bundle_write_end(FILE *stream);

struct bundle_reader {
	FILE *stream;
	const struct keyring *keyring; /* NULL: signatures are not verified */
	uint64_t limit;                /* larger entries are skipped without being read into memory */
	uint64_t large;                /* how many were; the caller may add others */
	struct bundle_header header;
	bool damaged; /* an entry was, and was skipped */
};

/* Reads the header. `stream`, `keyring` and `limit` are set, the rest is zero. */
int bundle_read_begin(struct bundle_reader *reader);
/*
 * Returns 1 after the next entry, of which the caller gets a reference in *ret_entry; NULL: it was skipped. Returns 0
 * at the end of a stream that is complete.
 */
int bundle_read_next(struct bundle_reader *reader, struct entry **ret_entry);

#endif
