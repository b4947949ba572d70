/* SPDX-License-Identifier: MIT */
/*
 * Records of events. The first byte: bit 0: what is done; bit 1: the head of the record is mended.
 *
 * 0: records of the input's texts, one behind the other with bytes of the input between: all come back, byte for byte
 *    and in order, and no other.
 * 1: the rest is read as whatever the bytes say: every text lies in them, and every request can be read or is refused.
 */
#include "cache/events.h"
#include "keygen/about.h"

#include "tests/fuzz/fuzz.h"

#define RECORDS     6
#define AT_CHECKSUM 8
#define AT_SIZE     16
#define AT_LIST     24
#define TEXT        2000

static uint8_t bytes[RECORDS * (EVENTS_RECORD_BYTES + 256)];
static struct events_record told[RECORDS];

static struct events_text put_text(struct input *input)
{
	struct events_text text;

	text.bytes = take_bytes(input, take_number(input, 2) % TEXT, &text.size);
	return text;
}

static size_t put(const void *from, size_t size, size_t at)
{
	memcpy(bytes + at, from, size);
	return at + size;
}

static size_t put_record(struct input *input, struct events_record *record, size_t at)
{
	struct counters_amounts amounts = {.count = take_number(input, 1) % 8};

	for (size_t i = 0; i < amounts.count; i++) {
		amounts.list[i] =
		    (struct counters_amount){take_number(input, 1) % COUNTER_COUNT, take_number(input, 8)};
	}
	*record = (struct events_record){
	    .kind = EVENTS_STORED + take_number(input, 1) % 3,
	    .when_ns = take_number(input, 8),
	    .pid = (uint32_t)take_number(input, 4),
	    .reason = (enum counter)(take_number(input, 1) % COUNTER_COUNT),
	    .why = (enum events_why)(take_number(input, 1) % 3),
	};
	record->detail = put_text(input);
	record->refusal = put_text(input);
	record->about = put_text(input);
	return at + events_spell(record, &amounts, bytes + at);
}

static bool is_same_text(struct events_text a, struct events_text b)
{
	return a.size == b.size && (a.size == 0 || memcmp(a.bytes, b.bytes, a.size) == 0);
}

static void compare(const struct events_record *record, const struct events_record *other)
{
	require(record->kind == other->kind && record->when_ns == other->when_ns && record->pid == other->pid);
	require(record->reason == other->reason && record->why == other->why);
	require(is_same_text(record->detail, other->detail) && is_same_text(record->refusal, other->refusal));
	require(is_same_text(record->about, other->about));
}

static void put_and_read(struct input *input)
{
	struct events_record record;
	size_t count = 0, size = 0, at = 0;

	while (input->left > 0 && count < RECORDS) {
		struct events_text between = put_text(input);

		/* what looks like a record may be one */
		between.size = memmem(between.bytes, between.size, "NVC", 3) ? 0 : between.size % 200;
		size = put(between.bytes, between.size, size);
		size = put_record(input, &told[count++], size);
	}
	for (size_t i = 0; i < count; i++) {
		require(events_next(bytes, size, &at, &record));
		compare(&record, &told[i]);
	}
	require(!events_next(bytes, size, &at, &record));
}

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
	size_t at = 0;

	while (events_next(all, size, &at, &record)) {
		size_t sum = 0;

		require_inside(record.whole, all, size);
		require_inside(record.detail, all, size);
		require_inside(record.refusal, all, size);
		require_inside(record.about, all, size);
		events_add_amounts(&record, counts, &since);
		require(about_read(record.about.bytes, record.about.size, see_fact, &sum) <= 0 && sum <= size);
	}
	require(at == size);
}

/* Makes a sound record of the bytes, as far as checksum and list say. */
static void mend(uint8_t *record, size_t size)
{
	const uint64_t list = counters_list();
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

	if ((what & 1) == 0) {
		put_and_read(&input);
		return 0;
	}
	copy = copy_of(input.at, input.left);
	if (what & 2) {
		mend(copy, input.left);
	}
	read_any(copy, input.left);
	free(copy);
	return 0;
}
