/* SPDX-License-Identifier: MIT */
/*
 * entry: one result, immutable and reference-counted (docs/DESIGN.md B13, C2, C3)
 *
 * Purpose: the file format of a result and the object in memory are the same bytes: a fixed header with magic, format
 * version, the full 32-byte key and all lengths; opaque dependencies; named sections. Checksums cover every byte: one
 * the header (so that the lengths can be trusted before anything else is read), one the dependencies, one the sections.
 * The store does not interpret sections; their tags belong to the caller.
 *
 * Calling sequence: entry_build() from parts, or entry_parse_header() + entry_adopt() from a file's bytes; then the
 * other functions read it, and entry_ref()/entry_unref() share it.
 *
 * A file contains one to STORE_RESULTS_MAX entries of the same key one after the other, newest first. Every entry is
 * complete: it contains its key and its checksums. No two files have to be consistent with each other.
 *
 * Bytes: little-endian; sections are 16-byte aligned inside the entry; total length is a multiple of 16.
 * Limits: ENTRY_SECTIONS_MAX sections; an entry is smaller than 2 GiB.
 * Errors: -ENOMEM; -EINVAL for invalid arguments, also if they are too large or too many; -EBADMSG for bytes that are
 * not a sound entry, whatever the damage is.
 * Threads: reference counts are atomic, the rest never changes after an entry is shared. Fork, signals: plain memory.
 * Ownership: entry_build() and entry_adopt() give the caller one reference; pointers into an entry are valid as long as
 * the caller has a reference.
 */
#ifndef CACHE_ENTRY_H
#define CACHE_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ENTRY_KEY_BYTES    32
#define ENTRY_HEADER_BYTES 192 /* must be read before the lengths are known */
#define ENTRY_FORMAT       2
#define ENTRY_SECTIONS_MAX 64
#define STORE_RESULTS_MAX  16 /* entries in a file */
#define ENTRY_BYTES_MAX    (1u << 31)
#define ENTRY_DEFAULT_CAP  (UINT64_C(5) << 30) /* of the cache */

/*
 * Returns the size of the largest file that is stored, read, imported or fetched: an eighth of the cap, because a
 * larger one would evict most of the cache. Without a cap (0), an eighth of the default one: a forged sparse file would
 * otherwise take gigabytes of the host's memory.
 */
static inline uint64_t entry_size_limit(uint64_t max_size)
{
	return (max_size != 0 ? max_size : ENTRY_DEFAULT_CAP) / 8;
}

/* The first bytes of a file of entries, in this and in all later formats. */
#define ENTRY_MAGIC_BYTES 8
extern const uint8_t entry_magic[ENTRY_MAGIC_BYTES];

struct section {
	uint32_t tag;  /* chosen by the caller */
	int32_t value; /* a number that is stored with the section (a return code) */
	const void *bytes;
	size_t size;
};

struct entry;

/* The fields of an entry's header, and what only this process knows of it. */
struct entry_info {
	uint8_t key[ENTRY_KEY_BYTES];
	uint64_t total_size; /* header, dependencies and sections */
	uint64_t dependencies_size;
	uint64_t body_offset; /* end of header and dependencies, where the table of sections begins */
	uint64_t created_ns;  /* CLOCK_REALTIME */
	uint64_t cost_ns;     /* the time of the compilation, which a hit saves */
	uint32_t section_count;
	/* of an entry in memory; not in its bytes */
	bool short_lived;
	uid_t reader;
};

/* Makes an entry from copies of its parts. `cost_ns` is the time of the compilation. */
int entry_build(const uint8_t key[ENTRY_KEY_BYTES], uint64_t cost_ns, const void *dependencies,
                size_t dependencies_size, const struct section *sections, size_t section_count,
                struct entry **ret_entry);

/*
 * Checks magic, format, header checksum, all lengths against each other, and that the entry is not longer than
 * `available_in_file`. `bytes` has `available_in_memory` bytes, of which only the header is read.
 */
int entry_parse_header(const void *bytes, size_t available_in_memory, uint64_t available_in_file,
                       struct entry_info *ret_info);

/* Returns whether the checksum of the dependencies is right. `entry_bytes` has at least info->body_offset bytes. */
bool entry_dependencies_sound(const void *entry_bytes, const struct entry_info *info);

/* Verifies every checksum and the section table of info->total_size bytes. */
bool entry_sound(const void *entry_bytes, const struct entry_info *info);

/*
 * Calls entry_sound(), and takes ownership of `bytes`, which malloc() has allocated and which are one whole entry
 * (`size` is total_size). On failure the bytes still belong to the caller.
 */
int entry_adopt(void *bytes, size_t size, struct entry **ret_entry);

/*
 * The reader is the effective user that trusted the file of this entry. The memory front serves the entry to that user
 * only, because another user may not trust the file. ENTRY_ANYBODY is the value of a new entry: it was made here, its
 * file can be written by root only, or the process cannot become another user. Set the reader before the entry is
 * shared.
 */
#define ENTRY_ANYBODY ((uid_t) - 1)
void entry_set_reader(struct entry *entry, uid_t reader);

/* Marks an entry that no later process is likely to request: the store evicts it first. Call before it is shared. */
void entry_set_short_lived(struct entry *entry);

struct entry *entry_ref(struct entry *entry);
void entry_unref(struct entry *entry); /* accepts NULL */

const struct entry_info *entry_info(const struct entry *entry);
const void *entry_bytes(const struct entry *entry, size_t *ret_size);
const void *entry_dependencies(const struct entry *entry, size_t *ret_size);
/* Finds the first section with that tag. Returns false if there is none. */
bool entry_section(const struct entry *entry, uint32_t tag, struct section *ret_section);
/* Finds section number `index` in the order of entry_build(). Returns false if there are fewer. */
bool entry_section_at(const struct entry *entry, size_t index, struct section *ret_section);

#endif
