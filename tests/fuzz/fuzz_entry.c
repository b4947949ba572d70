/* SPDX-License-Identifier: MIT */
/*
 * Entries, in memory and as the file of a key. Bits 0 to 4 of the first byte choose what is mended before the rest is
 * tried, since no fuzzer finds a 128-bit checksum: bit 0 the magic, format and key; bit 1 the dependencies' checksum; bit
 * 2 the body's; bit 3 the header's; bit 4 the same for a second entry right behind the first. Bit 5 adds the way through
 * a file. What is accepted can be read to its last byte, also by those who read whole directories
 * (cache/tools/inventory.h), and a put over the file gives a sound one.
 */
#include "cache/store.h"
#include "cache/tools/inventory.h"

#include "tests/fuzz/entries.h"

static const uint8_t key[ENTRY_KEY_BYTES] = {0xab};
static const char *root;
static char entry_path[300];
static struct store store;

FUZZ_SET_UP()
{
	struct entry *entry = empty_entry(key);
	int at;

	root = fuzz_directory();
	store = (struct store){.directory.path = root, .max_size = UINT64_C(1) << 30};
	at = snprintf(entry_path, sizeof(entry_path), "%s/v1/ab/", root);
	for (size_t i = 1; i < ENTRY_KEY_BYTES; i++) {
		at += snprintf(entry_path + at, sizeof(entry_path) - (size_t)at, "%02x", key[i]);
	}
	require(store_put(&store, entry) == 0); /* makes the directories */
	entry_unref(entry);
}

/* Returns how long the mended entry says it is, or 0. */
static uint64_t mend(uint8_t *bytes, size_t size, uint8_t what)
{
	uint64_t total, dependencies;

	if (size < ENTRY_HEADER_BYTES) {
		return 0;
	}
	if (what & 1) {
		mend_magic(bytes);
		memcpy(bytes + 16, key, sizeof(key));
	}
	memcpy(&total, bytes + AT_TOTAL_SIZE, 8);
	memcpy(&dependencies, bytes + AT_DEPENDENCIES_SIZE, 8);
	if (total <= size && dependencies <= total && total % 16 == 0) {
		uint64_t body = (ENTRY_HEADER_BYTES + dependencies + 15) & ~UINT64_C(15);

		if (what & 2 && body <= total) {
			seal(bytes + AT_DEPENDENCIES_SUM, bytes + ENTRY_HEADER_BYTES, body - ENTRY_HEADER_BYTES);
		}
		if (what & 4 && body <= total) {
			seal(bytes + AT_BODY_SUM, bytes + body, total - body);
		}
	}
	if (what & 8) {
		seal(bytes + AT_HEADER_SUM, bytes, AT_HEADER_SUM);
	}
	return total <= size ? total : 0;
}

static bool odd(void *context, const void *dependencies, size_t size)
{
	return XXH3_64bits(dependencies, size) & 1;
}

static int count_result(void *context, const struct entry *entry)
{
	read_all(entry);
	++*(uint64_t *)context;
	return 0;
}

static void look_at_file(void)
{
	const struct directory directory = {.path = root};
	uint64_t results = 0;

	(void)inventory_read(&directory, key, count_result, &results);
	require(results <= STORE_RESULTS_MAX);
}

static void try_file(const uint8_t *bytes, size_t size)
{
	struct entry *mine = empty_entry(key);
	struct entry *entry;

	fuzz_write(entry_path, bytes, size);
	look_at_file();
	if (store_get(&store, key, odd, NULL, &entry) == 0) {
		require(memcmp(entry_info(entry)->key, key, sizeof(key)) == 0);
		read_all(entry);
		entry_unref(entry);
	}
	/* a put over it, and what it kept of it, are sound */
	require(store_put(&store, mine) == 0);
	entry_unref(mine);
	require(store_get(&store, key, NULL, NULL, &entry) == 0);
	entry_unref(entry);
}

static void hostile(const uint8_t *data, size_t size, uint8_t what)
{
	uint8_t *bytes = copy_of(data, size);
	uint64_t first = mend(bytes, size, what);
	struct entry_info info;
	struct entry *entry;

	if (what & 16 && first > 0) {
		(void)mend(bytes + first, size - first, what);
	}
	if (what & 32) {
		try_file(bytes, size);
	}
	if (entry_parse_header(bytes, size, size, &info) == 0) {
		require(info.body_offset <= info.total_size && info.total_size <= size);
		(void)entry_dependencies_sound(bytes, &info);
	}
	if (entry_adopt(bytes, size, &entry) == 0) {
		read_all(entry);
		entry_unref(entry);
	} else {
		free(bytes);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 0) {
		hostile(data + 1, size - 1, data[0]);
	}
	return 0;
}
