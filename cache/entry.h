/* SPDX-License-Identifier: MIT */
/*
 * entry: one result, immutable, shared by reference (docs/DESIGN.md B13, C2, C3)
 *
 * Purpose: the file format of a result and the object in memory are the same bytes: a fixed header with magic, format
 * version, the full 32-byte key and all lengths; opaque dependencies; named sections. Every byte is under a checksum:
 * the header under its own (so that lengths can be believed before anything else is read), the dependencies under one,
 * the sections under one. Storage knows nothing of what a section means; tags belong to the caller.
 *
 * Calling sequence: entry_build() from parts, or entry_parse_header() + entry_adopt() from a file's bytes; entry_*()
 * look inside; entry_ref()/entry_unref() share it.
 *
 * A file holds one to STORE_RESULTS_MAX entries of the same key one behind the other, newest first. Every entry is
 * complete in itself: key inside, own checksums. There are never two files that must agree.
 *
 * Bytes: little-endian; sections are 16-byte aligned inside the entry; total length is a multiple of 16.
 * Limits: ENTRY_SECTIONS_MAX sections; an entry below 2 GiB.
 * Errors: -ENOMEM; -EINVAL for arguments, too large or too many ones too; -EBADMSG for bytes that are not a sound entry
 * (any damage is just that).
 * Threads: reference counts are atomic, the rest never changes. Fork, signals: plain memory.
 * Ownership: entry_build/adopt give the caller one reference; pointers into an entry live as long as a reference.
 */
#ifndef CACHE_ENTRY_H
#define CACHE_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ENTRY_KEY_BYTES    32
#define ENTRY_HEADER_BYTES 192 /* so much must be read before lengths are known */
#define ENTRY_FORMAT       1
#define ENTRY_SECTIONS_MAX 64
#define ENTRY_BYTES_MAX    (1u << 31)

/* The first bytes of a file of entries, in every format to come. */
#define ENTRY_MAGIC_BYTES 8
extern const uint8_t entry_magic[ENTRY_MAGIC_BYTES];

struct section {
	uint32_t tag;  /* the caller's name for it */
	int32_t value; /* a number that is stored with it (a return code) */
	const void *bytes;
	size_t size;
};

struct entry;

/* The fields of an entry's header. */
struct entry_info {
	uint8_t key[ENTRY_KEY_BYTES];
	uint64_t total_size; /* header, dependencies and sections */
	uint64_t dependencies_size;
	uint64_t body_offset; /* where sections begin: header and dependencies lie before it */
	uint64_t created_ns;  /* CLOCK_REALTIME */
	uint64_t cost_ns;     /* the time of the compilation, which a hit saves */
	uint32_t section_count;
};

int entry_build(const uint8_t key[ENTRY_KEY_BYTES], uint64_t cost_ns, const void *dependencies,
                size_t dependencies_size, const struct section *sections, size_t section_count,
                struct entry **ret_entry);

/* Checks magic, format, header checksum, all lengths against each other, and that total_size <= available. */
int entry_parse_header(const void *bytes, size_t available_in_memory, uint64_t available_in_file,
                       struct entry_info *ret_info);

/* Is the checksum of the dependencies right? `bytes` has at least info->body_offset bytes. */
bool entry_dependencies_sound(const void *entry_bytes, const struct entry_info *info);

/*
 * Takes ownership of `bytes` (malloc; exactly one whole entry at its start, `size` >= total_size) and verifies every
 * checksum and the section table. On failure the bytes still belong to the caller.
 */
int entry_adopt(void *bytes, size_t size, struct entry **ret_entry);

/* Gives a copy with other dependencies of the same size; -EINVAL: of another size. */
int entry_amend(const struct entry *entry, const void *dependencies, size_t size, struct entry **ret_entry);

/*
 * The effective user that trusted the file of this entry. From memory it is served to that user only, because another
 * one may not trust the file. ENTRY_ANYBODY (a new entry): made here, owned by root, or the process cannot become
 * another user. Set it before the entry is shared.
 */
#define ENTRY_ANYBODY ((uid_t) - 1)
void entry_set_reader(struct entry *entry, uid_t reader);
uid_t entry_reader(const struct entry *entry);

/* No later process is likely to ask for it: the store evicts it first. Set it before the entry is shared. */
void entry_set_short_lived(struct entry *entry);
bool entry_short_lived(const struct entry *entry);

struct entry *entry_ref(struct entry *entry);
void entry_unref(struct entry *entry); /* NULL is fine */

const struct entry_info *entry_info(const struct entry *entry);
const void *entry_bytes(const struct entry *entry, size_t *ret_size);
const void *entry_dependencies(const struct entry *entry, size_t *ret_size);
/* The first section with that tag; false: there is none. */
bool entry_section(const struct entry *entry, uint32_t tag, struct section *ret_section);
/* Section number `index` in the order they were built; false past the end. */
bool entry_section_at(const struct entry *entry, size_t index, struct section *ret_section);

#endif
