/* SPDX-License-Identifier: MIT */
/*
 * The account of a directory. First what stands in the file: a byte (bit 0: magic and format are mended, bit 1: the
 * number of records is small, bit 2: the checksum is mended, bit 3: no file at all, bit 4: it ends where the input
 * does), how many records and so many bytes of them. Then steps: one byte each for what is done, a key, a size and a
 * time.
 *
 * Properties: every index lies in the records; what is saved is
 * loaded again as it was; a file whose checksum is wrong is as none. An eviction on what was loaded ends, and removes
 * nothing that is not there.
 */
#include "cache/account.h"
#include "cache/evict.h"

#include "tests/fuzz/fuzz.h"

#define STEPS 64

static struct directory directory;
static char path[300];
static int home;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	int shard;

	(void)argc;
	(void)argv;
	directory.path = (char *)fuzz_directory();
	(void)snprintf(path, sizeof(path), "%s/v1/account", directory.path);
	require(directory_open(&directory, true, &home) == 0);
	require(directory_open_shard(&directory, home, 0xab, DIRECTORY_MAKE, &shard) == 0);
	close(shard);
	return 0;
}

static void check(const struct account *account)
{
	int oldest = account_oldest(account, UINT64_MAX);
	unsigned unknown;

	require(account->page.count <= ACCOUNT_RECORDS);
	require(oldest < (int)account->page.count && (oldest >= 0 || account->page.count == 0));
	for (uint32_t i = 0; i < account->page.count && oldest >= 0; i++) {
		require(account->page.records[oldest].used <= account->page.records[i].used);
	}
	(void)account_total(account, &unknown);
	require(unknown <= DIRECTORY_SHARDS);
}

/* Returns whether it is sound, as far as bytes say it. */
static bool prepare(struct input *input)
{
	static struct account_page page;
	uint8_t what = (uint8_t)take_number(input, 1);
	size_t head = offsetof(struct account_page, records);
	uint64_t sum;
	size_t wanted;
	size_t given;
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
		struct account_shard *shard = &page.shards[take_number(input, 1)];

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
	if (what & 4 && page.count <= ACCOUNT_RECORDS) {
		page.checksum =
		    XXH3_64bits((uint8_t *)&page + offsetof(struct account_page, format),
		                head + page.count * sizeof(page.records[0]) - offsetof(struct account_page, format));
	}
	fuzz_write(path, &page, head + given);
	if (page.count > ACCOUNT_RECORDS || head + page.count * sizeof(page.records[0]) > head + given) {
		return false;
	}
	sum = XXH3_64bits((uint8_t *)&page + offsetof(struct account_page, format),
	                  head + page.count * sizeof(page.records[0]) - offsetof(struct account_page, format));
	return memcmp(page.magic, "NVCACCNT", 8) == 0 && page.format == 1 && sum == page.checksum;
}

static void step(struct account *account, struct input *input)
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
		account_put(account, key, size, what & 64 ? size / 2 : 0, used);
		break;
	case 1:
		account_subtract(account, key, size);
		break;
	case 2:
		account_begin_shard(account, key[0]);
		for (uint32_t i = 0; i < account->page.count; i++) {
			require(account->page.records[i].key[0] != key[0]);
		}
		break;
	case 3:
		account_count(account, key, size, used);
		break;
	case 4:
		account_count_other(account, key[0], size);
		break;
	case 5:
		account_set_used(account, key, used);
		break;
	case 6:
		account_forget(account, key);
		break;
	default:
		found = account_oldest(account, size);
		require(found < (int)account->page.count);
		break;
	}
	found = account_find(account, key);
	require(found < (int)account->page.count);
	require(found < 0 || memcmp(account->page.records[found].key, key, sizeof(key)) == 0);
	check(account);
}

static void save_and_load(struct account *account)
{
	struct account *again;
	size_t size = offsetof(struct account_page, records) + account->page.count * sizeof(struct account_record);

	require(account_save(account) == 0);
	require(account_load(&directory, home, &again) == 0);
	require(memcmp(&again->page, &account->page, size) == 0);
	account_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = input_of(data, size);
	struct evict evict = {.directory = &directory, .home = home, .max_size = 1000, .now = 1000000};
	struct evict_report report = {0};
	const uint8_t key[ENTRY_KEY_BYTES] = {0xab};
	struct account *account;
	bool sound = prepare(&input);
	uint8_t last = (uint8_t)take_number(&input, 1);

	require(account_load(&directory, home, &account) == 0);
	require(sound || account->page.count == 0);
	check(account);
	for (size_t i = 0; i < STEPS && input.left > 0; i++) {
		step(account, &input);
	}
	save_and_load(account);
	account_free(account);
	if (last & 1) {
		(void)evict_put(&evict, key, 2000, 0, &report);
		require(report.entries == 0 && report.temporaries == 0);
	}
	return 0;
}
