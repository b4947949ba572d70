/* SPDX-License-Identifier: MIT */
/*
 * entry: the bytes of one result
 *
 *   0                192                       body_offset                               total_size
 *   | struct header  | dependencies, zeros to 16 | section table | section, zeros to 16 ... |
 *   |   header_sum   |     dependencies_sum      |                body_sum                  |
 *
 * Sections are in the order of the table and without gaps, so their offsets follow from their sizes. The table contains
 * the offsets so that any section can be found directly; entry_adopt() accepts only a table with the right offsets.
 *
 *   (nothing) --entry_build/entry_adopt--> 1 reference --ref/unref--> n references --last unref--> freed
 */
#include "cache/entry.h"

#include "cache/calls.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "entries are little-endian, and so is every host of CUDA"
#endif

#define ALIGNMENT UINT64_C(16)

const uint8_t entry_magic[ENTRY_MAGIC_BYTES] = {0x8e, 'N', 'V', 'R', 'T', 'C', '\r', '\n'};

/*
 * Checksums detect accidental damage only: a process that can write the file can compute them. cache/trust.h checks the
 * writer.
 */
struct header {
	uint8_t magic[8];
	uint32_t format;
	uint32_t section_count;
	uint8_t key[ENTRY_KEY_BYTES];
	uint64_t total_size;
	uint64_t dependencies_size;
	uint64_t created_ns;
	uint64_t cost_ns;
	XXH128_hash_t dependencies_sum;
	XXH128_hash_t body_sum;
	uint8_t reserved[64];
	XXH128_hash_t header_sum; /* of all members before it */
};

struct row {
	uint32_t tag;
	int32_t value;
	uint32_t offset; /* from the start of the entry */
	uint32_t size;
};

_Static_assert(sizeof(struct header) == ENTRY_HEADER_BYTES, "the header is a file format");
_Static_assert(sizeof(struct row) == ALIGNMENT, "sections are aligned behind any number of rows");

struct entry {
	atomic_uint references;
	struct entry_info info;
	uint8_t *bytes;
};

/* Sections start at multiples of 16, so that readers may cast them to structs. */
static uint64_t align_size(uint64_t size)
{
	return (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

/* Zeroes the gaps, which would otherwise contain memory of this process. */
static void zero_to_alignment(uint8_t *bytes, uint64_t end)
{
	memset(bytes + end, 0, align_size(end) - end);
}

/* Makes an entry of the bytes. On success they belong to the entry. */
static int adopt_bytes(uint8_t *bytes, const struct entry_info *info, struct entry **ret_entry)
{
	struct entry *entry = malloc(sizeof(*entry));

	if (!entry) {
		return -ENOMEM;
	}
	atomic_init(&entry->references, 1);
	entry->info = *info;
	entry->info.reader = ENTRY_ANYBODY;
	entry->bytes = bytes;
	*ret_entry = entry;
	return 0;
}

/* Returns the size of an entry of these parts, or 0 if the parts are invalid. */
static uint64_t measure_parts(const void *dependencies, size_t dependencies_size, const struct section *sections,
                              size_t count)
{
	uint64_t total;
	size_t i;

	if (count > ENTRY_SECTIONS_MAX || (count > 0 && !sections) || dependencies_size >= ENTRY_BYTES_MAX ||
	    (dependencies_size > 0 && !dependencies)) {
		return 0;
	}
	total = align_size(ENTRY_HEADER_BYTES + dependencies_size) + count * sizeof(struct row);
	for (i = 0; i < count; i++) {
		if (sections[i].size >= ENTRY_BYTES_MAX || (sections[i].size > 0 && !sections[i].bytes)) {
			return 0;
		}
		total += align_size(sections[i].size);
	}
	return total < ENTRY_BYTES_MAX ? total : 0;
}

/* Writes the table of sections at `offset`, and their bytes behind it. */
static void put_sections(uint8_t *bytes, uint64_t offset, const struct section *sections, size_t count)
{
	uint8_t *table = bytes + offset;

	offset += count * sizeof(struct row);
	for (size_t i = 0; i < count; i++) {
		struct row row = {.tag = sections[i].tag,
		                  .value = sections[i].value,
		                  .offset = (uint32_t)offset,
		                  .size = (uint32_t)sections[i].size};

		memcpy(table + i * sizeof(row), &row, sizeof(row));
		if (row.size > 0) {
			memcpy(bytes + offset, sections[i].bytes, row.size);
		}
		zero_to_alignment(bytes, offset + row.size);
		offset += align_size(row.size);
	}
}

/* Writes the header, with the checksums of all that is behind it. */
static void put_header(uint8_t *bytes, uint64_t body, struct header *header)
{
	memcpy(header->magic, entry_magic, sizeof(entry_magic));
	header->dependencies_sum = XXH3_128bits(bytes + ENTRY_HEADER_BYTES, body - ENTRY_HEADER_BYTES);
	header->body_sum = XXH3_128bits(bytes + body, header->total_size - body);
	header->header_sum = XXH3_128bits(header, offsetof(struct header, header_sum));
	memcpy(bytes, header, sizeof(*header));
}

/* Builds all parts in one allocation, whose bytes are later written to the file. */
int entry_build(const uint8_t key[ENTRY_KEY_BYTES], uint64_t cost_ns, const void *dependencies,
                size_t dependencies_size, const struct section *sections, size_t section_count,
                struct entry **ret_entry)
{
	const uint64_t body = align_size(ENTRY_HEADER_BYTES + (uint64_t)dependencies_size);
	struct header header = {.format = ENTRY_FORMAT,
	                        .section_count = (uint32_t)section_count,
	                        .total_size = measure_parts(dependencies, dependencies_size, sections, section_count),
	                        .dependencies_size = dependencies_size,
	                        .created_ns = (uint64_t)call_clock_ns(CLOCK_REALTIME),
	                        .cost_ns = cost_ns};
	struct entry_info info;
	uint8_t *bytes;
	int rc;

	if (header.total_size == 0) {
		return -EINVAL;
	}
	bytes = malloc(header.total_size);
	if (!bytes) {
		return -ENOMEM;
	}
	memcpy(header.key, key, ENTRY_KEY_BYTES);
	if (dependencies_size > 0) {
		memcpy(bytes + ENTRY_HEADER_BYTES, dependencies, dependencies_size);
	}
	zero_to_alignment(bytes, ENTRY_HEADER_BYTES + dependencies_size);
	put_sections(bytes, body, sections, section_count);
	put_header(bytes, body, &header);
	rc = entry_parse_header(bytes, header.total_size, header.total_size, &info);
	if (rc == 0) {
		rc = adopt_bytes(bytes, &info, ret_entry);
	}
	if (rc < 0) {
		free(bytes);
	}
	return rc;
}

/* Each length is checked against the others and against the number of bytes before it is used. */
int entry_parse_header(const void *bytes, size_t available_in_memory, uint64_t available_in_file,
                       struct entry_info *ret_info)
{
	struct header header;
	uint64_t body;

	if (available_in_memory < sizeof(header)) {
		return -EBADMSG;
	}
	memcpy(&header, bytes, sizeof(header));
	if (memcmp(header.magic, entry_magic, sizeof(entry_magic)) != 0 || header.format != ENTRY_FORMAT ||
	    !XXH128_isEqual(header.header_sum, XXH3_128bits(&header, offsetof(struct header, header_sum)))) {
		return -EBADMSG;
	}
	/* each length is compared before it is added to another, so that no sum can wrap around */
	if (header.total_size >= ENTRY_BYTES_MAX || header.total_size > available_in_file ||
	    header.total_size % ALIGNMENT != 0 || header.dependencies_size > header.total_size ||
	    header.section_count > ENTRY_SECTIONS_MAX) {
		return -EBADMSG;
	}
	body = align_size(ENTRY_HEADER_BYTES + header.dependencies_size);
	if (body + header.section_count * sizeof(struct row) > header.total_size) {
		return -EBADMSG;
	}
	*ret_info = (struct entry_info){.total_size = header.total_size,
	                                .dependencies_size = header.dependencies_size,
	                                .body_offset = body,
	                                .created_ns = header.created_ns,
	                                .cost_ns = header.cost_ns,
	                                .section_count = header.section_count};
	memcpy(ret_info->key, header.key, ENTRY_KEY_BYTES);
	return 0;
}

static XXH128_hash_t stored_checksum(const void *bytes, size_t field)
{
	XXH128_hash_t sum;

	memcpy(&sum, (const uint8_t *)bytes + field, sizeof(sum));
	return sum;
}

/* Dependencies have a checksum of their own, so that the body need not be read if they do not hold. */
bool entry_dependencies_sound(const void *entry_bytes, const struct entry_info *info)
{
	return XXH128_isEqual(
	    stored_checksum(entry_bytes, offsetof(struct header, dependencies_sum)),
	    XXH3_128bits((const uint8_t *)entry_bytes + ENTRY_HEADER_BYTES, info->body_offset - ENTRY_HEADER_BYTES));
}

/* Copies the row instead of casting, because the bytes of an entry may be at any address. */
static struct row row_at(const uint8_t *bytes, const struct entry_info *info, size_t index)
{
	struct row row;

	memcpy(&row, bytes + info->body_offset + index * sizeof(row), sizeof(row));
	return row;
}

/* Sections must follow one another without gaps or overlaps, so that every byte belongs to exactly one of them. */
static bool body_sound(const uint8_t *bytes, const struct entry_info *info)
{
	uint64_t offset = info->body_offset + info->section_count * sizeof(struct row);
	size_t i;

	if (!XXH128_isEqual(stored_checksum(bytes, offsetof(struct header, body_sum)),
	                    XXH3_128bits(bytes + info->body_offset, info->total_size - info->body_offset))) {
		return false;
	}
	for (i = 0; i < info->section_count; i++) {
		struct row row = row_at(bytes, info, i);

		if (row.offset != offset || row.size > info->total_size - offset) {
			return false;
		}
		offset += align_size(row.size);
	}
	return offset == info->total_size;
}

bool entry_sound(const void *entry_bytes, const struct entry_info *info)
{
	return entry_dependencies_sound(entry_bytes, info) && body_sound(entry_bytes, info);
}

/* Verifies all checksums, once; afterwards sections are used without a check. */
int entry_adopt(void *bytes, size_t size, struct entry **ret_entry)
{
	struct entry_info info;
	int rc = entry_parse_header(bytes, size, size, &info);

	if (rc < 0) {
		return rc;
	}
	if (info.total_size != size || !entry_sound(bytes, &info)) {
		return -EBADMSG;
	}
	return adopt_bytes(bytes, &info, ret_entry);
}

void entry_set_reader(struct entry *entry, uid_t reader)
{
	entry->info.reader = reader;
}

void entry_set_short_lived(struct entry *entry)
{
	entry->info.short_lived = true;
}

struct entry *entry_ref(struct entry *entry)
{
	atomic_fetch_add_explicit(&entry->references, 1, memory_order_relaxed);
	return entry;
}

/* Release and acquire: all accesses of other threads happen before the last thread frees the entry. */
void entry_unref(struct entry *entry)
{
	if (entry && atomic_fetch_sub_explicit(&entry->references, 1, memory_order_acq_rel) == 1) {
		free(entry->bytes);
		free(entry);
	}
}

const struct entry_info *entry_info(const struct entry *entry)
{
	return &entry->info;
}

const void *entry_bytes(const struct entry *entry, size_t *ret_size)
{
	*ret_size = entry->info.total_size;
	return entry->bytes;
}

const void *entry_dependencies(const struct entry *entry, size_t *ret_size)
{
	*ret_size = entry->info.dependencies_size;
	return entry->bytes + ENTRY_HEADER_BYTES;
}

bool entry_section_at(const struct entry *entry, size_t index, struct section *ret_section)
{
	struct row row;

	if (index >= entry->info.section_count) {
		return false;
	}
	row = row_at(entry->bytes, &entry->info, index);
	*ret_section =
	    (struct section){.tag = row.tag, .value = row.value, .bytes = entry->bytes + row.offset, .size = row.size};
	return true;
}

/* A linear search: entries have about ten sections. */
bool entry_section(const struct entry *entry, uint32_t tag, struct section *ret_section)
{
	size_t i;

	for (i = 0; i < entry->info.section_count; i++) {
		if (row_at(entry->bytes, &entry->info, i).tag == tag) {
			return entry_section_at(entry, i, ret_section);
		}
	}
	return false;
}
