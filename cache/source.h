/* SPDX-License-Identifier: MIT */
/*
 * source: reads the file of one key (docs/DESIGN.md C2)
 *
 * Calling sequence: source_open(); source_header() and source_head() or source_take() at the offset of each result,
 * which is info->total_size after the previous one; source_close(). A small file is read by the first of these as a
 * whole, and closed.
 * Errors: negative errno values; -EPERM: not trusted, or not a regular file; -EBADMSG: not what the store wrote. A
 * length is used for an allocation only after the file's size or a header's checksum has confirmed it.
 * Ownership: a source is used by one call of the store and one thread.
 */
#ifndef CACHE_SOURCE_H
#define CACHE_SOURCE_H

#include "cache/directory.h"
#include "cache/entry.h"

struct source {
	int file; /* -1: closed */
	uint64_t size;
	uint8_t *bytes; /* `have` bytes of the file, from `at` on */
	uint64_t at, have;
};

/*
 * Opens the file and checks its type, owner, mode and size. `ret_found` is also written with -EPERM and -EBADMSG, so
 * that the caller can check later whether the file is still the same.
 */
int source_open(const struct directory *directory, int at, const char *path, struct stat *ret_found,
                struct source *ret_source);
void source_close(struct source *source);

/*
 * Returns 1 if a file in a shard is trusted and begins like an entry, 0 if not (such files may not be removed), or a
 * negative errno value if it cannot be examined.
 */
int source_look(const struct directory *directory, int shard, const char *name, struct stat *ret_found);

/* Returns bytes of the file, which are in it and remain valid until the next call. More than asked for are read. */
int source_bytes(struct source *source, uint64_t offset, uint64_t size, const uint8_t **ret_bytes);

/* Reads and verifies the header at `offset`. -EBADMSG: it is damaged, or has another key. */
int source_header(struct source *source, uint64_t offset, const uint8_t key[ENTRY_KEY_BYTES],
                  struct entry_info *ret_info);

/* Returns 0, or a negative value to end the visits. The visitor may take a reference of the entry. */
typedef int source_visit(void *context, const struct entry *entry);
/*
 * Visits the sound results of the source, oldest first, until `visit` returns a negative value, which is returned.
 * -EBADMSG: a result was damaged; or a header was, or has another key, and nothing behind it is visited. `ret_end` is
 * the offset of that header, or the end of the results. No result can be read from the source afterwards.
 */
int source_each(struct source *source, const uint8_t key[ENTRY_KEY_BYTES], source_visit *visit, void *context,
                uint64_t *ret_end);

/* Returns header and dependencies, as source_bytes() does, after verifying their checksum. */
int source_head(struct source *source, uint64_t offset, const struct entry_info *info, const uint8_t **ret_head);

/* Returns the whole entry. It may take over the bytes of the source, of which no other result can be read then. */
int source_take(struct source *source, uint64_t offset, const struct entry_info *info, struct entry **ret_entry);

#endif
