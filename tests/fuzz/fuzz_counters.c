/* SPDX-License-Identifier: MIT */
/*
 * A file of counters. The first byte chooses: bit 0: the header is mended; bit 1: the checksum too; bits 4 to 7: which
 * file. The rest is what stands in the file, zeros up to its whole length if bit 2 is set.
 *
 * Properties: a file with other bytes than were written in any place counts nothing; what is added to whatever stands
 * there can be read, on top of what was sound, and past the largest number it stays there.
 */
#include "cache/counters_file.h"

#include "tests/fuzz/fuzz.h"

#define HEADER      32
#define AT_CHECKSUM 24
#define AT_VALUES   (HEADER + 8) /* behind the time when it was begun */
#define FILE_BYTES  (AT_VALUES + 8 * COUNTER_COUNT)

static struct directory directory;
static uint8_t header[HEADER];

FUZZ_SET_UP()
{
	static const struct counters_amounts nothing;
	char path[300];

	directory.path = (char *)fuzz_directory();
	require(counters_file_add(&directory, 0, &nothing, COUNTERS_FILE_WAIT, COUNTERS_FILE_MAKE) == 0);
	(void)snprintf(path, sizeof(path), "%s/v1/stats/00", directory.path);
	fuzz_read(path, header, HEADER);
}

static uint64_t sum_of(const uint8_t *bytes)
{
	return XXH3_64bits_withSeed(bytes + HEADER, FILE_BYTES - HEADER, XXH3_64bits(bytes, AT_CHECKSUM));
}

static uint64_t number_at(const uint8_t *bytes, size_t index)
{
	uint64_t number;

	memcpy(&number, bytes + AT_VALUES + 8 * index, 8);
	return number;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t values[COUNTER_COUNT] = {0};
	uint64_t sums[COUNTER_COUNT];
	struct counters_amounts amounts = {.count = 0};
	uint8_t bytes[2 * FILE_BYTES] = {0};
	int64_t since, begun;
	char path[300];
	uint64_t sum;
	uint8_t what;
	bool sound;

	if (size < 1 || size - 1 > sizeof(bytes)) {
		return 0;
	}
	what = *data++;
	size--;
	if (size > 0) {
		memcpy(bytes, data, size);
	}
	size = what & 4 && size < FILE_BYTES ? FILE_BYTES : size;
	if (what & 1) {
		memcpy(bytes, header, AT_CHECKSUM);
	}
	if (what & 2) {
		sum = sum_of(bytes);
		memcpy(bytes + AT_CHECKSUM, &sum, 8);
	}
	/* what is another's by its first bytes stays, and the next file is taken in its place */
	for (unsigned i = 0; i < COUNTERS_FILES; i++) {
		(void)snprintf(path, sizeof(path), "%s/v1/stats/%02x", directory.path, i);
		(void)unlink(path);
	}
	(void)snprintf(path, sizeof(path), "%s/v1/stats/%02x", directory.path, what >> 4);
	fuzz_write(path, bytes, size);
	sum = sum_of(bytes);
	sound =
	    size >= FILE_BYTES && memcmp(bytes, header, AT_CHECKSUM) == 0 && memcmp(bytes + AT_CHECKSUM, &sum, 8) == 0;
	require(counters_file_read(&directory, values, &since) == 0);
	memcpy(&begun, bytes + HEADER, sizeof(begun));
	require(since == (sound ? begun : 0));
	for (size_t i = 0; i < COUNTER_COUNT; i++) {
		require(values[i] == (sound ? number_at(bytes, i) : 0));
		sums[i] = number_at(bytes, COUNTER_COUNT - 1 - i);
		if (sums[i] != 0) {
			amounts.list[amounts.count++] = (struct counters_amount){(enum counter)i, sums[i]};
		}
	}
	require(counters_file_add(&directory, what >> 4, &amounts, COUNTERS_FILE_WAIT, COUNTERS_FILE_MAKE) == 0);
	for (size_t i = 0; i < COUNTER_COUNT; i++) {
		sums[i] = values[i] > UINT64_MAX - sums[i] ? UINT64_MAX : values[i] + sums[i];
		values[i] = 0;
	}
	require(counters_file_read(&directory, values, &since) == 0);
	require(sound ? since == begun : since > 0);
	require(memcmp(values, sums, sizeof(values)) == 0);
	return 0;
}
