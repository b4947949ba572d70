/* SPDX-License-Identifier: MIT */
/* memory_fixture: a memory front, and entries that carry a mark */
#ifndef MEMORY_FIXTURE_H
#define MEMORY_FIXTURE_H

#include "cache/memory.h"
#include "tests/unit/support.h"

/* What one result may cost beside its bytes; tests only assume that it is more than nothing and less than this. */
#define OVERHEAD_MAX 512

static struct memory *memory;

static inline void open_memory(uint64_t max_bytes)
{
	memory = memory_open(max_bytes);
}

static inline void set_up(void)
{
	open_memory(1 << 20);
}

/* An entry whose section begins with `mark`, with a text as its dependencies (NULL: none). */
static inline struct entry *make(uint32_t mark, const char *dependencies, size_t size)
{
	uint8_t key[ENTRY_KEY_BYTES] = {0};
	struct section section = {.tag = 1, .value = (int32_t)mark, .size = size};
	struct entry *entry = NULL;
	void *bytes = calloc(1, size + 1);

	section.bytes = bytes;
	cr_assert_eq(
	    entry_build(key, 1, dependencies, dependencies != NULL ? strlen(dependencies) : 0, &section, 1, &entry), 0);
	free(bytes);
	return entry;
}

static inline uint32_t mark_of(const struct entry *entry)
{
	struct section section;

	return entry != NULL && entry_section(entry, 1, &section) ? (uint32_t)section.value : 0;
}

static inline void put(uint64_t low, uint64_t high, uint32_t mark, const char *dependencies, size_t size)
{
	struct entry *entry = make(mark, dependencies, size);

	memory_put(memory, low, high, entry);
	entry_unref(entry);
}

/* Returns the mark of the entry found, or 0. */
static inline uint32_t get_if(uint64_t low, uint64_t high, store_check *check, void *context)
{
	struct entry *entry = memory_get(memory, low, high, check, context);
	uint32_t mark = mark_of(entry);

	entry_unref(entry);
	return mark;
}

static inline uint32_t get(uint64_t low)
{
	return get_if(low, 0, NULL, NULL);
}

#endif
