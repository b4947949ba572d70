/* SPDX-License-Identifier: MIT */
/*
 * Entries, in memory and as the file of a key. Bit 6 of the first byte chooses.
 *
 * 0: the rest is hostile bytes. Bits 0 to 4 choose what is mended before they are tried, since no fuzzer finds a
 * 128-bit checksum: bit 0 the magic, format and key; bit 1 the dependencies' checksum; bit 2 the body's; bit 3 the
 * header's; bit 4 the same for a second entry right behind the first. Bit 5 adds the way through a file. What is
 * accepted can be read to its last byte, those who read whole directories (cache/tools/inspect.h, cache/tools/inventory.h) find the
 * same in it, and a put over the file gives a sound one. 1: an entry is built of the rest.
 * What is read from it builds the same bytes again; with other bytes in some places it is never accepted, unless the
 * checksums are made to fit; then it can be read like any other.
 */
#include "cache/store.h"
#include "cache/tools/inspect.h"
#include "cache/tools/inventory.h"

#include "tests/fuzz/entries.h"

#define SECTIONS 4

static const uint8_t key[ENTRY_KEY_BYTES] = {0xab};
static char *root;
static char entry_path[300];
static struct store *store;

FUZZ_SET_UP()
{
	struct store_options options = {.directory = fuzz_directory(), .max_size = UINT64_C(1) << 30};
	struct entry *entry = empty_entry(key);
	int at;

	root = strdup(options.directory);
	require(root != NULL);
	at = snprintf(entry_path, sizeof(entry_path), "%s/v1/ab/", options.directory);
	for (size_t i = 1; i < ENTRY_KEY_BYTES; i++) {
		at += snprintf(entry_path + at, sizeof(entry_path) - (size_t)at, "%02x", key[i]);
	}
	require(store_open(&options, &store) == 0);
	require(store_put(store, entry) == 0); /* makes the directories */
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

static const char *judge(void *context, const struct entry *entry, bool *ret_other)
{
	read_all(entry);
	return NULL;
}

static int see(void *context, const struct inspected *file)
{
	struct inspected *seen = context;

	require(file->verdict < INSPECT_VERDICTS && (file->reason == NULL) == (file->verdict == INSPECT_SOUND));
	*seen = *file;
	return 0;
}

static int count_result(void *context, const struct entry *entry)
{
	read_all(entry);
	++*(uint64_t *)context;
	return 0;
}

/* Who reads all of a directory finds what a look-up can find, and nothing else. */
static void look_at_file(void)
{
	const struct directory directory = {.path = root};
	struct inspected seen = {.results = UINT64_MAX};
	uint64_t results = 0;
	int home, rc;

	require(directory_open(&directory, DIRECTORY_REACH, &home) == 0);
	require(inspect_shard(&directory, home, key[0], judge, see, &seen) == 0);
	close(home);
	rc = inventory_read(&directory, key, count_result, &results);
	require(results == seen.results && results <= STORE_RESULTS_MAX);
	require((rc == 0) == (seen.verdict == INSPECT_SOUND));
}

static void try_file(const uint8_t *bytes, size_t size)
{
	struct entry *mine = empty_entry(key);
	struct entry *entry;

	fuzz_write(entry_path, bytes, size);
	look_at_file();
	if (store_get(store, key, odd, NULL, &entry) == 0) {
		require(memcmp(entry_info(entry)->key, key, sizeof(key)) == 0);
		read_all(entry);
		entry_unref(entry);
	}
	/* a put over it, and what it kept of it, are sound */
	require(store_put(store, mine) == 0);
	entry_unref(mine);
	require(store_get(store, key, NULL, NULL, &entry) == 0);
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

static struct entry *build(const struct entry *like, struct input *input)
{
	struct section sections[SECTIONS] = {{0}};
	size_t dependencies_size;
	const void *dependencies;
	struct entry *entry;
	size_t count = 0;
	const uint8_t *mine = key;
	uint64_t cost;

	if (like) {
		dependencies = entry_dependencies(like, &dependencies_size);
		while (entry_section_at(like, count, &sections[count])) {
			count++;
		}
		mine = entry_info(like)->key;
		cost = entry_info(like)->cost_ns;
	} else {
		cost = take_number(input, 2);
		dependencies = take_bytes(input, take_number(input, 1), &dependencies_size);
		for (size_t wanted = take_number(input, 1) % (SECTIONS + 1); count < wanted; count++) {
			sections[count].tag = (uint32_t)take_number(input, 1);
			sections[count].value = (int32_t)take_number(input, 4);
			sections[count].bytes = take_bytes(input, take_number(input, 1), &sections[count].size);
		}
	}
	require(entry_build(mine, cost, dependencies, dependencies_size, sections, count, &entry) == 0);
	return entry;
}

static void honest(struct input input)
{
	struct entry *entry = build(NULL, &input);
	struct entry *again = build(entry, NULL);
	struct entry *adopted;
	size_t size, again_size;
	const uint8_t *original = entry_bytes(entry, &size);
	uint8_t *bytes = copy_of(entry_bytes(again, &again_size), size);

	require(again_size == size);
	/* but for the time of its making */
	memcpy(bytes + AT_CREATED, original + AT_CREATED, 8);
	seal(bytes + AT_HEADER_SUM, bytes, AT_HEADER_SUM);
	require(memcmp(bytes, original, size) == 0);
	while (input.left > 0) {
		bytes[take_number(&input, 2) % size] ^= (uint8_t)take_number(&input, 1);
	}
	if (memcmp(bytes, original, size) == 0) {
		require(entry_adopt(bytes, size, &adopted) == 0);
		entry_unref(adopted);
	} else {
		require(entry_adopt(bytes, size, &adopted) < 0);
		/* the same with the checksums that belong to it: what is accepted then can be read */
		(void)mend(bytes, size, 2 | 4 | 8);
		if (entry_adopt(bytes, size, &adopted) == 0) {
			read_all(adopted);
			entry_unref(adopted);
		} else {
			free(bytes);
		}
	}
	entry_unref(entry);
	entry_unref(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 0 && data[0] & 64) {
		honest(input_of(data + 1, size - 1));
	} else if (size > 0) {
		hostile(data + 1, size - 1, data[0]);
	}
	return 0;
}
