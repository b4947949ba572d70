/* SPDX-License-Identifier: MIT */
/*
 * bundle: many entries as one stream of bytes (docs/DESIGN.md E4): `nvrtccache export`, and the values of an engine
 *
 * Purpose: writes entries one after the other and reads them back, by functions of the caller. It never seeks, so pipes
 * will do. The writer keeps nothing; the reader holds one entry, and never more than twice the bytes that have come.
 *
 *     header    64 bytes: magic, format, format of the entries, number of keys announced, checksum
 *     per entry frame of 64 bytes (length, key, checksum), then the entry's own bytes (cache/entry.h)
 *     last      frame of 64 bytes (number of entries, checksum over every byte before it), then nothing more
 *
 * Integers are little-endian, everything is 16-byte aligned. Magic and format stay at their place in later formats. The
 * announced number, for progress bars, is the number of keys when the writer began.
 *
 * Reading trusts nothing: a frame's checksum is verified before its length is used, the length is compared with the
 * limit before anything is allocated, the entry is verified like one from a file (cache/entry.h) and its key compared
 * with the frame's. A damaged entry is reported and skipped, because its frame still says where it ends. Behind a
 * damaged frame nothing can be found. The checksums detect accidents, not forgeries.
 *
 * Calling sequence: bundle_write_begin(), bundle_write_entry() any number of times, bundle_write_end(); or
 * bundle_read_begin() and bundle_read_next() until it returns a value that ends it.
 * Errors: negative errno values, those of `put` and `get` too; -ENOMEM. bundle_read_begin(): -EBADMSG: not a bundle, or
 * a damaged header; -EPROTONOSUPPORT: another format, see reader->format and entry_format.
 * Threads: one per struct. Ownership: the structs hold nothing that must be freed.
 */
#ifndef CACHE_TOOLS_BUNDLE_H
#define CACHE_TOOLS_BUNDLE_H

#include "cache/entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <xxhash.h>

#define BUNDLE_FORMAT      1
#define BUNDLE_FRAME_BYTES 64

/* Takes all of it, or returns a negative errno. */
typedef int bundle_put(void *context, const void *bytes, size_t size);

struct bundle_writer {
	bundle_put *put;
	void *context;
	uint64_t entries;
	XXH3_state_t sum; /* of all bytes so far */
};

int bundle_write_begin(struct bundle_writer *writer, uint64_t keys, bundle_put *put, void *context);
int bundle_write_entry(struct bundle_writer *writer, const struct entry *entry);
int bundle_write_end(struct bundle_writer *writer);

/* Gives 1 to `size` bytes; 0: there are no more; or a negative errno. */
typedef ssize_t bundle_get(void *context, void *bytes, size_t size);

struct bundle_reader {
	bundle_get *get;
	void *context;
	uint64_t entry_size_max;
	uint32_t format;
	uint32_t entry_format;
	uint64_t keys;    /* announced */
	uint64_t entries; /* frames of entries that were seen */
	XXH3_state_t sum; /* of all bytes so far */
};

enum bundle_found {
	BUNDLE_ENTRY,   /* a sound one */
	BUNDLE_DAMAGED, /* an entry that is not what was written: passed over */
	BUNDLE_LARGE,   /* an entry past the limit: passed over */
	/* these end it: */
	BUNDLE_END,     /* all was as it was written */
	BUNDLE_CHANGED, /* all was read, and not all was as it was written */
	BUNDLE_CUT,     /* there are no more bytes, and should be */
	BUNDLE_BROKEN,  /* a frame is damaged, so that what follows cannot be found; or there is more behind the last */
	BUNDLE_FAILED   /* *ret_error says why */
};

/* `entry_size_max` 0: no limit but that of entries. */
int bundle_read_begin(struct bundle_reader *reader, uint64_t entry_size_max, bundle_get *get, void *context);
/* *ret_entry only with BUNDLE_ENTRY, one reference; *ret_error only with BUNDLE_FAILED. */
enum bundle_found bundle_read_next(struct bundle_reader *reader, struct entry **ret_entry, int *ret_error);

#endif
