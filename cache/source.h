/* SPDX-License-Identifier: MIT */
/*
 * source: the file of one key, while it is read (docs/DESIGN.md C2)
 *
 * Calling sequence: source_open(); source_load(), which reads small files whole and closes them; source_header() and
 * source_head() or source_take() at the offset of each result, which is info->total_size behind the one before;
 * source_close().
 * Errors: negative errno values; -EPERM: not trusted; -EBADMSG: not what the store wrote. Nothing is allocated by a
 * length that neither the file's size nor a header's checksum confirms.
 * Ownership: a source belongs to one call.
 */
#ifndef CACHE_SOURCE_H
#define CACHE_SOURCE_H

#include "cache/directory.h"
#include "cache/entry.h"

struct source {
	int file; /* -1: closed */
	uint64_t size;
	uint8_t *whole; /* all bytes, or NULL: they are read piece by piece */
};

/* `ret_found` is also written with -EPERM and -EBADMSG, to check later whether the file is still the same. */
int source_open(const struct directory *directory, int at, const char *path, struct stat *ret_found,
                struct source *ret_source);
void source_close(struct source *source);

/* Is the file of this name in a shard one of entries, or the beginning of one? Nothing else may be removed. */
bool source_is_ours(const struct directory *directory, int shard, const char *name);

/* The same, with the file's stat. False: it could not be examined, and errno says why. */
bool source_look(const struct directory *directory, int shard, const char *name, struct stat *ret_found,
                 bool *ret_ours);

int source_load(struct source *source);

/* Reads the header at `offset`, which must be sound and of that key. */
int source_header(const struct source *source, uint64_t offset, const uint8_t key[ENTRY_KEY_BYTES],
                  struct entry_info *ret_info);

/* One result of a file: where it lies, and what its header says. */
struct source_result {
	uint64_t offset;
	struct entry_info info;
};
/*
 * Lists at most `most` results of a loaded source, newest first, up to the first header that is not sound, or not of
 * that key: -EBADMSG, with the results before it. `ret_end`: where the list ends.
 */
int source_list(const struct source *source, const uint8_t key[ENTRY_KEY_BYTES], size_t most,
                struct source_result *ret_results, size_t *ret_count, uint64_t *ret_end);

/* Gives header and dependencies, their checksum verified. `ret_owned` is the caller's to free() (NULL if loaded). */
int source_head(const struct source *source, uint64_t offset, const struct entry_info *info, const uint8_t **ret_head,
                uint8_t **ret_owned);

/*
 * Gives the whole entry. `owned` is what source_head() gave, or NULL; this function takes it. A loaded source may be
 * empty afterwards.
 */
int source_take(struct source *source, uint64_t offset, const struct entry_info *info, uint8_t *owned,
                struct entry **ret_entry);

#endif
