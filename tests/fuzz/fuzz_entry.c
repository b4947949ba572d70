/* SPDX-License-Identifier: MIT */
/*
 * fuzz_entry: hostile bytes as an entry, in memory and as the file of a key
 *
 * clang -g -O1 -fsanitize=fuzzer,address,undefined -DXXH_INLINE_ALL -D_GNU_SOURCE -I. tests/fuzz/fuzz_entry.c \
 *     cache/entry.c cache/store.c cache/source.c cache/draft.c cache/directory.c -o fuzz_entry && ./fuzz_entry
 *
 * The first byte chooses what is mended before the bytes are tried, since no fuzzer finds a 128-bit checksum:
 * bit 0 the magic, format and key; bit 1 the conditions' checksum; bit 2 the body's; bit 3 the header's; bit 4 the same
 * for a second entry right behind the first. Bit 5 adds the way through a file.
 */
#include "cache/store.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define AT_TOTAL_SIZE      48
#define AT_CONDITIONS_SIZE 56
#define AT_CONDITIONS_SUM  80
#define AT_BODY_SUM        96
#define AT_HEADER_SUM      176

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static const uint8_t key[ENTRY_KEY_BYTES] = {0xab};
static char base[64];
static char entry_path[200];
static struct store *store;

static int remove_one(const char *path, const struct stat *found, int type, struct FTW *where)
{
	(void)found;
	(void)type;
	(void)where;
	return remove(path);
}

static void clean_up(void)
{
	(void)nftw(base, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void require(int truth)
{
	if (!truth) {
		abort();
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct store_options options = {.directory = base, .max_size = UINT64_C(1) << 30};
	struct entry *entry;
	int at;
	size_t i;

	(void)argc;
	(void)argv;
	(void)snprintf(base, sizeof(base), "/tmp/fuzz-entry-XXXXXX");
	require(mkdtemp(base) != NULL);
	(void)atexit(clean_up);
	at = snprintf(entry_path, sizeof(entry_path), "%s/v1/ab/", base);
	for (i = 1; i < ENTRY_KEY_BYTES; i++) {
		at += snprintf(entry_path + at, sizeof(entry_path) - (size_t)at, "%02x", key[i]);
	}
	require(store_open(&options, &store) == 0);
	require(entry_build(key, 0, NULL, 0, NULL, 0, &entry) == 0);
	require(store_put(store, entry) == 0); /* makes the directories */
	entry_unref(entry);
	return 0;
}

static void seal(uint8_t *at, const uint8_t *from, size_t size)
{
	XXH128_hash_t hash = XXH3_128bits(from, size);

	memcpy(at, &hash.low64, 8);
	memcpy(at + 8, &hash.high64, 8);
}

/* Returns how long the mended entry says it is, or 0. */
static uint64_t mend(uint8_t *bytes, size_t size, uint8_t what)
{
	struct entry *entry;
	uint64_t total;
	uint64_t conditions;

	if (size < ENTRY_HEADER_BYTES) {
		return 0;
	}
	if (what & 1) {
		size_t ignored;

		require(entry_build(key, 0, NULL, 0, NULL, 0, &entry) == 0);
		memcpy(bytes, entry_bytes(entry, &ignored), 12);
		memcpy(bytes + 16, key, sizeof(key));
		entry_unref(entry);
	}
	memcpy(&total, bytes + AT_TOTAL_SIZE, 8);
	memcpy(&conditions, bytes + AT_CONDITIONS_SIZE, 8);
	if (total <= size && conditions <= total && total % 16 == 0) {
		uint64_t body = (ENTRY_HEADER_BYTES + conditions + 15) & ~UINT64_C(15);

		if (what & 2 && body <= total) {
			seal(bytes + AT_CONDITIONS_SUM, bytes + ENTRY_HEADER_BYTES, body - ENTRY_HEADER_BYTES);
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

/* Every byte that an accepted entry points at must be there to be read. */
static void read_all(const struct entry *entry)
{
	struct section section;
	size_t size;
	const uint8_t *bytes = entry_bytes(entry, &size);
	uint64_t sum = XXH3_64bits(bytes, size);
	const uint8_t *conditions = entry_conditions(entry, &size);
	size_t i;

	sum += XXH3_64bits(conditions, size);
	for (i = 0; entry_section_at(entry, i, &section); i++) {
		sum += XXH3_64bits(section.bytes, section.size);
		require(entry_section(entry, section.tag, &section));
	}
	require(i == entry_info(entry)->section_count);
	__asm__ volatile("" : : "r"(sum));
}

static bool odd(void *context, const void *conditions, size_t size)
{
	(void)context;
	return XXH3_64bits(conditions, size) & 1;
}

static void try_file(const uint8_t *bytes, size_t size)
{
	int file = open(entry_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct entry *entry;
	struct entry *mine;

	require(file >= 0 && write(file, bytes, size) == (ssize_t)size);
	close(file);
	if (store_get(store, key, odd, NULL, &entry) == 0) {
		require(memcmp(entry_info(entry)->key, key, sizeof(key)) == 0);
		read_all(entry);
		entry_unref(entry);
	}
	/* a put over it, and what it kept of it, are sound */
	require(entry_build(key, 0, NULL, 0, NULL, 0, &mine) == 0);
	require(store_put(store, mine) == 0);
	entry_unref(mine);
	require(store_get(store, key, NULL, NULL, &entry) == 0);
	entry_unref(entry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct entry_info info;
	struct entry *entry;
	uint8_t *bytes;
	uint64_t first;

	if (size < 1) {
		return 0;
	}
	bytes = malloc(size);
	memcpy(bytes, data + 1, --size);
	first = mend(bytes, size, data[0]);
	if (data[0] & 16 && first > 0) {
		(void)mend(bytes + first, size - first, data[0]);
	}
	if (data[0] & 32) {
		try_file(bytes, size);
	}
	if (entry_parse_header(bytes, size, size, &info) == 0) {
		require(info.body_offset <= info.total_size && info.total_size <= size);
		(void)entry_conditions_sound(bytes, &info);
	}
	if (entry_adopt(bytes, size, &entry) == 0) {
		read_all(entry);
		entry_unref(entry);
	} else {
		free(bytes);
	}
	return 0;
}
