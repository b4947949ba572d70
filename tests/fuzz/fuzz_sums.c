/* SPDX-License-Identifier: MIT */
/*
 * The file of sums. A byte (bit 0: the first bytes are ours, bit 1: check values are mended), then the sums of up to
 * four shards: number, bytes, files, check value; then the file's size.
 *
 * Properties: a sum is known only if its check value is right, and the total is that of the known ones. An eviction on
 * what was read ends, and removes nothing, because there is no file.
 */
#include "cache/upkeep/evict.h"
#include "cache/upkeep/sums.h"

#include "tests/fuzz/fuzz.h"

#define SUMS_AT 16

static struct directory directory;
static char path[300];
static int home;

FUZZ_SET_UP()
{
	directory.path = fuzz_directory();
	(void)snprintf(path, sizeof(path), "%s/v1/sums", directory.path);
	require(directory_open(&directory, DIRECTORY_MAKE, &home) == 0);
}

static uint32_t check_of(const struct sums_shard *sum, unsigned shard)
{
	return (uint32_t)XXH3_64bits(sum, offsetof(struct sums_shard, known)) ^ (1 << 8 | shard);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t key[ENTRY_KEY_BYTES] = {0xab};
	const struct sample_task task = {&directory, home, 1000, 1000000, key, 2000};
	struct input input = input_of(data, size);
	struct {
		char first[SUMS_AT];
		struct sums_shard shards[DIRECTORY_SHARDS];
	} page = {.first = ""};
	struct sums sums;
	uint64_t total = 0;
	uint8_t what = (uint8_t)take_number(&input, 1);

	memcpy(page.first, what & 1 ? "NVCACSUM" : "XVCACSUM", 8);
	for (size_t i = 0; i < 4; i++) {
		unsigned shard = (unsigned)take_number(&input, 1);
		struct sums_shard *sum = &page.shards[shard];

		sum->bytes = take_number(&input, 8);
		sum->files = (uint32_t)take_number(&input, 4);
		sum->known = (uint32_t)take_number(&input, 4);
		sum->known = what & 2 ? check_of(sum, shard) : sum->known;
	}
	(void)unlink(path);
	fuzz_write(path, &page, sizeof(page) - take_number(&input, 2) % sizeof(page));
	sums_open(&directory, home, SUMS_READ, &sums);
	for (unsigned i = 0; i < DIRECTORY_SHARDS; i++) {
		require(!sums.shards[i].known || page.shards[i].known == check_of(&page.shards[i], i));
		require(sums.shards[i].known || (sums.shards[i].bytes == 0 && sums.shards[i].files == 0));
		total += sums.shards[i].bytes;
	}
	require(sums_total(&sums).bytes == total && total < UINT64_C(1) << 58);
	close(sums.file);
	require(evict_entries(&task, EVICT_AFTER_STORE).entries == 0);
	return 0;
}
