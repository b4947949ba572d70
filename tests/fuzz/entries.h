/* SPDX-License-Identifier: MIT */
/*
 * entries: where things lie in an entry's bytes, and what everyone can ask of a sound one
 */
#ifndef TESTS_FUZZ_ENTRIES_H
#define TESTS_FUZZ_ENTRIES_H

#include "cache/entry.h"

#include "tests/fuzz/fuzz.h"

#define AT_TOTAL_SIZE        48
#define AT_DEPENDENCIES_SIZE 56
#define AT_DEPENDENCIES_SUM  80
#define AT_BODY_SUM          96
#define AT_HEADER_SUM        176

static inline struct entry *empty_entry(const uint8_t key[ENTRY_KEY_BYTES])
{
	struct entry *entry;

	require(entry_build(key, 0, NULL, 0, NULL, 0, &entry) == 0);
	return entry;
}

/* Puts magic and format there. */
static inline void mend_magic(uint8_t *bytes)
{
	static const uint8_t key[ENTRY_KEY_BYTES];
	struct entry *model = empty_entry(key);
	size_t size;

	memcpy(bytes, entry_bytes(model, &size), 12);
	entry_unref(model);
}

/* Every byte that an accepted entry points at must be there to be read. */
static inline void read_all(const struct entry *entry)
{
	struct section section;
	size_t size, i;
	uint64_t sum = XXH3_64bits(entry_bytes(entry, &size), size);

	sum += XXH3_64bits(entry_dependencies(entry, &size), size);
	for (i = 0; entry_section_at(entry, i, &section); i++) {
		sum += XXH3_64bits(section.bytes, section.size);
		require(entry_section(entry, section.tag, &section));
	}
	require(i == entry_info(entry)->section_count);
	__asm__ volatile("" : : "r"(sum));
}

#endif
