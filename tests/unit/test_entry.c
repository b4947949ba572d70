/* SPDX-License-Identifier: MIT */
/* entry: round trips, and bytes that are not what entry_build() made */
#include "cache/entry.h"
#include "tests/unit/support.h"

#include <xxhash.h>

/* The file format again, so that a change of it fails here: it needs a new ENTRY_FORMAT. */
#define AT_BODY_SUM   96
#define AT_HEADER_SUM 176

static const uint8_t key[ENTRY_KEY_BYTES] = {1, 2, 3, 4, [31] = 99};

static struct entry *build(size_t dependencies_size, const struct section *sections, size_t count)
{
	static uint8_t dependencies[100000];
	struct entry *entry;

	memset(dependencies, 'c', sizeof(dependencies));
	cr_assert_eq(entry_build(key, 12345, dependencies, dependencies_size, sections, count, &entry), 0);
	return entry;
}

/* An entry of 20 bytes of dependencies and sections of 5, 0 and 16 bytes. */
static struct entry *build_small(void)
{
	struct section sections[] = {{7, -1, "hello", 5}, {8, 6, NULL, 0}, {9, 0, "0123456789abcdef", 16}};

	return build(20, sections, 3);
}

/* A malloc'ed copy, so that the address sanitizer sees a read past the end. */
static uint8_t *copy_of(const struct entry *entry, size_t *ret_size)
{
	const void *bytes = entry_bytes(entry, ret_size);
	uint8_t *copy = malloc(*ret_size);

	memcpy(copy, bytes, *ret_size);
	return copy;
}

static uint8_t *small_bytes(size_t *ret_size)
{
	struct entry *entry = build_small();
	uint8_t *bytes = copy_of(entry, ret_size);

	entry_unref(entry);
	return bytes;
}

static void seal(uint8_t *bytes, size_t at, const void *from, size_t size)
{
	XXH128_hash_t hash = XXH3_128bits(from, size);

	memcpy(bytes + at, &hash.low64, 8);
	memcpy(bytes + at + 8, &hash.high64, 8);
}

static void seal_header(uint8_t *bytes)
{
	seal(bytes, AT_HEADER_SUM, bytes, AT_HEADER_SUM);
}

/* Makes both checksums right, as a forger would. */
static void seal_body(uint8_t *bytes, size_t size)
{
	struct entry_info info;

	cr_assert_eq(entry_parse_header(bytes, size, size, &info), 0);
	seal(bytes, AT_BODY_SUM, bytes + info.body_offset, size - info.body_offset);
	seal_header(bytes);
}

static int adopt(uint8_t *bytes, size_t size)
{
	struct entry *entry;
	int rc = entry_adopt(bytes, size, &entry);

	if (rc == 0) {
		entry_unref(entry);
	}
	return rc;
}

Test(entry, returns_what_it_was_built_from)
{
	static uint8_t large[3000001];
	struct section sections[] = {{1, -5, "abc", 3}, {2, 0, large, sizeof(large)}, {3, 7, NULL, 0}, {4, 1, "x", 1}};
	struct entry *built, *adopted;
	struct section got;
	uint8_t *bytes;
	size_t size;

	memset(large, 0x5a, sizeof(large));
	built = build(77, sections, 4);
	bytes = copy_of(built, &size);
	cr_assert_eq(entry_adopt(bytes, size, &adopted), 0);
	entry_unref(built);
	cr_assert_arr_eq(entry_info(adopted)->key, key, sizeof(key));
	cr_assert_eq(entry_info(adopted)->cost_ns, 12345);
	cr_assert_gt(entry_info(adopted)->created_ns, 0);
	cr_assert_eq(((const char *)entry_dependencies(adopted, &size))[76], 'c');
	cr_assert_eq(size, 77);
	for (size_t i = 0; i < 4; i++) {
		cr_assert(entry_section_at(adopted, i, &got));
		cr_assert_eq(got.tag, sections[i].tag);
		cr_assert_eq(got.value, sections[i].value);
		cr_assert_eq(got.size, sections[i].size);
		cr_assert(got.size == 0 || memcmp(got.bytes, sections[i].bytes, got.size) == 0);
		cr_assert_eq((uintptr_t)got.bytes % 16, 0);
	}
	cr_assert_not(entry_section_at(adopted, 4, &got));
	entry_unref(adopted);
}

Test(entry, rejects_impossible_parts)
{
	struct section missing = {1, 0, NULL, 1};
	struct section huge = {1, 0, "", ENTRY_BYTES_MAX};
	struct section wrapping = {1, 0, "", SIZE_MAX};
	struct section halves[] = {{1, 0, "", ENTRY_BYTES_MAX / 2}, {1, 0, "", ENTRY_BYTES_MAX / 2}};
	struct entry *entry = NULL;

	cr_assert_eq(entry_build(key, 0, NULL, 0, &missing, 1, &entry), -EINVAL);
	cr_assert_eq(entry_build(key, 0, NULL, 0, &huge, 1, &entry), -EINVAL);
	cr_assert_eq(entry_build(key, 0, NULL, 0, &wrapping, 1, &entry), -EINVAL);
	cr_assert_eq(entry_build(key, 0, NULL, 0, halves, 2, &entry), -EINVAL);
	cr_assert_eq(entry_build(key, 0, NULL, 0, NULL, 1, &entry), -EINVAL);
	cr_assert_eq(entry_build(key, 0, NULL, 5, NULL, 0, &entry), -EINVAL);
	cr_assert_eq(entry_build(key, 0, "", SIZE_MAX, NULL, 0, &entry), -EINVAL);
	cr_assert_null(entry);
}

Test(entry, any_flipped_bit_is_rejected)
{
	size_t size;
	uint8_t *bytes = small_bytes(&size);

	for (size_t bit = 0; bit < size * 8; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		cr_assert_eq(adopt(bytes, size), -EBADMSG, "bit %zu", bit);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	cr_assert_eq(adopt(bytes, size), 0);
}

Test(entry, any_truncated_entry_is_rejected)
{
	size_t size;
	uint8_t *bytes = small_bytes(&size);

	for (size_t length = 0; length < size; length++) {
		uint8_t *part = malloc(length ? length : 1);

		memcpy(part, bytes, length);
		cr_assert_eq(adopt(part, length), -EBADMSG, "length %zu", length);
		free(part);
	}
	free(bytes);
}

Test(entry, a_hostile_section_table_with_valid_checksums_is_rejected)
{
	static const uint32_t hostile[] = {0,   1,    15,         16,         17,         31,        32,
	                                   192, 224,  240,        272,        288,        304,       320,
	                                   400, 1000, 0x7ffffff0, 0x80000000, 0xfffffff0, UINT32_MAX};
	size_t size;
	uint8_t *bytes = small_bytes(&size);
	size_t table = ENTRY_HEADER_BYTES + 32;
	size_t i;

	for (size_t row = 0; row < 3; row++) {
		for (i = 0; i < 2 * COUNT(hostile); i++) {
			uint8_t *field = bytes + table + row * 16 + (i % 2 ? 12 : 8);
			uint32_t kept;
			bool same_slots;

			memcpy(&kept, field, 4);
			memcpy(field, &hostile[i / 2], 4);
			/* another size within the same 16 bytes moves no section; only padding becomes part of it */
			same_slots =
			    (i % 2 ? (kept + 15) / 16 == ((uint64_t)hostile[i / 2] + 15) / 16 : kept == hostile[i / 2]);
			seal_body(bytes, size);
			cr_assert_eq(adopt(bytes, size), same_slots ? 0 : -EBADMSG, "row %zu value %zu", row, i);
			if (same_slots) {
				bytes = small_bytes(&size); /* the old bytes were freed with the entry */
				field = bytes + table + row * 16 + (i % 2 ? 12 : 8);
			}
			memcpy(field, &kept, 4);
		}
	}
	free(bytes);
}

Test(entry, dependencies_are_checked_alone)
{
	struct entry_info info;
	size_t size;
	uint8_t *bytes = small_bytes(&size);

	cr_assert_eq(entry_parse_header(bytes, size, size, &info), 0);
	bytes = realloc(bytes, info.body_offset);
	cr_assert(entry_dependencies_sound(bytes, &info));
	bytes[ENTRY_HEADER_BYTES + 19] ^= 1;
	cr_assert_not(entry_dependencies_sound(bytes, &info));
	free(bytes);
}
