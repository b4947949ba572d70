/* SPDX-License-Identifier: MIT */
/*
 * source: the file of one key, being read (docs/DESIGN.md C2)
 *
 * Calling sequence: source_open(), source_load() (small files then lie in memory and no descriptor is held),
 * source_header() and source_head() or source_take() at the offset of each result, the next one lying info->total_size
 * further; source_close().
 * Errors: negative errno values; -EPERM: not trusted; -EBADMSG: not what the store wrote. Nothing is allocated by a
 * length that the file's size or a header's checksum does not vouch for.
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

/* `ret_found` is filled in for 0, -EPERM and -EBADMSG, to tell later whether the file is still the same. */
int source_open(const struct directory *directory, int at, const char *path, struct stat *ret_found,
                struct source *ret_source);
void source_close(struct source *source);

/* Is what has this name in a shard a file of entries, or the beginning of one: nothing else is removed. */
bool source_is_ours(const struct directory *directory, int shard, const char *name);

/* The same, with what was seen of the file. False: errno says why it could not be looked at; another kind of file, and
 * one that is not trusted, is not ours, and was seen all the same. */
bool source_look(const struct directory *directory, int shard, const char *name, struct stat *ret_found,
                 bool *ret_ours);

int source_load(struct source *source);

/* The header at `offset` must be sound and of that key. */
int source_header(const struct source *source, uint64_t offset, const uint8_t key[ENTRY_KEY_BYTES],
                  struct entry_info *ret_info);

/* Header and dependencies, their checksum verified: `ret_owned` is the caller's to free() (NULL where loaded). */
int source_head(const struct source *source, uint64_t offset, const struct entry_info *info, const uint8_t **ret_head,
                uint8_t **ret_owned);

/* The whole entry. `owned`, given up by the caller, is what source_head() gave, or NULL. A loaded source may be empty
 * after. */
int source_take(struct source *source, uint64_t offset, const struct entry_info *info, uint8_t *owned,
                struct entry **ret_entry);

#endif
