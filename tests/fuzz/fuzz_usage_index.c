/* SPDX-License-Identifier: MIT */
/*
 * The usage index of a directory. First what stands in the file: a byte (bit 0: magic and format are mended, bit 1: the
 * number of records is small, bit 2: the checksum is mended, bit 3: no file at all, bit 4: it ends where the input
 * does), how many records and so many bytes of them. Then steps: one byte each for what is done, a key, a size and a
 * time.
 *
 * Properties: every record number lies in the records; what is saved is
 * loaded again as it was; a file whose checksum is wrong is as none. An eviction on what was loaded ends, and removes
 * nothing that is not there.
 */
#include "cache/upkeep/evict.h"
#include "cache/upkeep/usage_index.h"

#include "tests/fuzz/fuzz.h"

#define STEPS 64

static struct directory directory;
static char path[300];
static int home;

FUZZ_SET_UP()
{
	int shard;

	directory.path = (char *)fuzz_directory();
	(void)snprintf(path, sizeof(path), "%s/v1/usage-index", directory.path);
	require(directory_open(&directory, DIRECTORY_MAKE, &home) == 0);
	require(directory_open_shard(&directory, home, 0xab, DIRECTORY_MAKE, &shard) == 0);
	close(shard);
}

static void check(const struct usage_index *index)
{
	int oldest = usage_index_oldest(index, UINT64_MAX);
	unsigned unknown;

	require(index->page.count <= USAGE_INDEX_RECORDS);
	require(oldest < (int)index->page.count && (oldest >= 0 || index->page.count == 0));
	for (uint32_t i = 0; i < index->page.count && oldest >= 0; i++) {
		require(index->page.records[oldest].used <= index->page.records[i].used);
	}
	(void)usage_index_total(index, &unknown);
	require(unknown <= DIRECTORY_SHARDS);
}

static uint64_t checksum_of(const struct usage_index_page *page)
{
	const size_t from = offsetof(struct usage_index_page, format);
	const size_t to = offsetof(struct usage_index_page, records) + page->count * sizeof(page->records[0]);

	return XXH3_64bits((const uint8_t *)page + from, to - from);
}

/* Returns whether it is sound, as far as bytes say it. */
static bool prepare(struct input *input)
{
	static struct usage_index_page page;
	uint8_t what = (uint8_t)take_number(input, 1);
	size_t head = offsetof(struct usage_index_page, records);
	size_t wanted, given;
	const uint8_t *bytes;

	(void)unlink(path);
	if (what & 8) {
		return false;
	}
	memset(&page, 0, sizeof(page));
	page.checksum = take_number(input, 8);
	page.format = (uint32_t)take_number(input, 1);
	page.count = (uint32_t)take_number(input, 4);
	page.cursor = (uint32_t)take_number(input, 4);
	page.stores = (uint32_t)take_number(input, 4);
	for (size_t i = 0; i < 4; i++) {
		struct usage_index_shard *shard = &page.shards[take_number(input, 1)];

		shard->bytes = take_number(input, 8);
		shard->files = (uint32_t)take_number(input, 4);
		shard->known = (uint32_t)take_number(input, 4);
	}
	wanted = take_number(input, 1) % 8 * sizeof(page.records[0]);
	bytes = take_bytes(input, wanted, &given);
	memcpy(page.records, bytes, given);
	given = what & 16 ? given : wanted;
	if (what & 1) {
		memcpy(page.magic, "NVCACCNT", 8);
		page.format = 1;
	}
	if (what & 2) {
		page.count %= (uint32_t)(given / sizeof(page.records[0])) + 1;
	}
	if (what & 4 && page.count <= USAGE_INDEX_RECORDS) {
		page.checksum = checksum_of(&page);
	}
	fuzz_write(path, &page, head + given);
	if (page.count > USAGE_INDEX_RECORDS || head + page.count * sizeof(page.records[0]) > head + given) {
		return false;
	}
	return memcmp(page.magic, "NVCACCNT", 8) == 0 && page.format == 1 && checksum_of(&page) == page.checksum;
}

static void step(struct usage_index *index, struct input *input)
{
	uint8_t key[ENTRY_KEY_BYTES] = {0};
	uint8_t what = (uint8_t)take_number(input, 1);
	uint64_t size;
	int64_t used;
	int found;

	key[0] = (uint8_t)take_number(input, 1);
	key[31] = (uint8_t)take_number(input, 1);
	size = take_number(input, what & 16 ? 8 : 2);
	used = (int64_t)take_number(input, what & 32 ? 8 : 2);
	switch (what & 7) {
	case 0:
		usage_index_put(index, key, size, what & 64 ? size / 2 : 0, used);
		break;
	case 1:
		usage_index_subtract(index, key, size);
		break;
	case 2:
		usage_index_begin_shard(index, key[0]);
		for (uint32_t i = 0; i < index->page.count; i++) {
			require(index->page.records[i].key[0] != key[0]);
		}
		break;
	case 3:
		usage_index_count(index, key, size, used);
		break;
	case 4:
		usage_index_count_other(index, key[0], size);
		break;
	case 5:
		usage_index_set_used(index, key, used);
		break;
	case 6:
		usage_index_forget(index, key);
		break;
	default:
		found = usage_index_oldest(index, size);
		require(found < (int)index->page.count);
		break;
	}
	found = usage_index_find(index, key);
	require(found < (int)index->page.count);
	require(found < 0 || memcmp(index->page.records[found].key, key, sizeof(key)) == 0);
	check(index);
}

static void save_and_load(struct usage_index *index)
{
	struct usage_index *again;
	size_t size =
	    offsetof(struct usage_index_page, records) + index->page.count * sizeof(struct usage_index_record);

	require(usage_index_save(index) == 0);
	require(usage_index_load(&directory, home, &again) == 0);
	require(memcmp(&again->page, &index->page, size) == 0);
	usage_index_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = input_of(data, size);
	struct evict evict = {.directory = &directory, .home = home, .max_size = 1000, .now = 1000000};
	struct evict_report report = {0};
	const uint8_t key[ENTRY_KEY_BYTES] = {0xab};
	struct usage_index *index;
	bool sound = prepare(&input);
	uint8_t last = (uint8_t)take_number(&input, 1);

	require(usage_index_load(&directory, home, &index) == 0);
	require(sound || index->page.count == 0);
	check(index);
	for (size_t i = 0; i < STEPS && input.left > 0; i++) {
		step(index, &input);
	}
	save_and_load(index);
	usage_index_free(index);
	if (last & 1) {
		(void)evict_put(&evict, &(struct evict_file){.key = key, .size = 2000, .rank = 1000000}, &report);
		require(report.entries == 0 && report.temporaries == 0);
	}
	return 0;
}
