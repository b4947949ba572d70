/* SPDX-License-Identifier: MIT */
/*
 * Records of events. Bit 1 of the first byte: the head of the record is mended. The rest is read as whatever the bytes
 * say: every text lies in them, and every request can be read or is refused.
 */
#include "cache/events.h"
#include "keygen/about.h"

#include "tests/fuzz/fuzz.h"

#define AT_CHECKSUM 8
#define AT_SIZE     16
#define AT_LIST     24

static void require_inside(struct events_text text, const uint8_t *all, size_t size)
{
	const uint8_t *at = text.bytes;

	require(text.size == 0 || (at >= all && text.size <= size && at <= all + size - text.size));
}

static int see_fact(const struct about_fact *fact, void *context)
{
	*(size_t *)context += fact->size;
	return 0;
}

static void read_any(const uint8_t *all, size_t size)
{
	uint64_t counts[COUNTER_COUNT] = {0}, since = 0;
	struct events_record record;
	struct events_text about;
	size_t at = 0;

	while (events_next(all, size, &at, &record)) {
		size_t sum = 0;

		for (size_t i = 0; i < EVENTS_PARTS; i++) {
			require_inside(record.parts[i], all, size);
		}
		events_add_amounts(&record, counts, &since);
		about = record.parts[EVENTS_ABOUT];
		require(about_read(about.bytes, about.size, see_fact, &sum) <= 0 && sum <= size);
	}
	require(at == size);
}

/* Makes a sound record of the bytes, as far as checksum and list say. */
static void mend(uint8_t *record, size_t size)
{
	const uint64_t list = COUNTERS_LIST;
	uint64_t sum;

	if (size >= AT_LIST + sizeof(list)) {
		memcpy(record, EVENTS_MAGIC, DIRECTORY_MAGIC_BYTES);
		memcpy(record + AT_LIST, &list, sizeof(list));
		memcpy(record + AT_SIZE, &(uint32_t){(uint32_t)size}, sizeof(uint32_t));
		sum = XXH3_64bits(record + AT_SIZE, size - AT_SIZE);
		memcpy(record + AT_CHECKSUM, &sum, sizeof(sum));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = input_of(data, size);
	uint64_t what = take_number(&input, 1);
	uint8_t *copy;

	copy = copy_of(input.at, input.left);
	if (what & 2) {
		mend(copy, input.left);
	}
	read_any(copy, input.left);
	free(copy);
	return 0;
}
