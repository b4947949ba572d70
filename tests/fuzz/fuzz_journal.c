/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a journal. The first byte: bit 0: what is done.
 *
 * 0: records of the input's texts, sealed as the journal seals them, one behind the other with bytes of the input
 *    between: all come back, in order, and no other.
 * 1: the rest is read as whatever the bytes say: every text lies in them.
 */
#include "cache/journal.h"

#include "tests/fuzz/fuzz.h"

#define RECORDS     6
#define AT_SIZE     12
#define AT_CHECKSUM 16
#define AT_SUMMED   24
#define AT_REASON   54 /* three sizes of two bytes */
#define AT_REFUSAL  62
#define TEXTS       4
#define HEAD        96

static uint8_t head[HEAD];

struct run {
	uint8_t bytes[RECORDS * (HEAD + TEXTS * 256 + 256)];
	size_t size;
	struct {
		size_t at, reason, detail, about, refusal;
	} made[RECORDS];
	size_t count, seen;
};

/* As the journal writes it: of an empty record, which the others differ from in their lengths. */
FUZZ_SET_UP()
{
	struct directory directory = {.path = (char *)fuzz_directory()};
	const struct journal_record record = {.outcome = JOURNAL_STORED};
	char path[300];
	int file, home;

	require(directory_open(&directory, DIRECTORY_MAKE, &home) == 0);
	close(home);
	require(journal_write(&directory, &record) == 0);
	(void)snprintf(path, sizeof(path), "%s/v1/journal", directory.path);
	file = open(path, O_RDONLY | O_CLOEXEC);
	require(file >= 0 && read(file, head, HEAD + 1) == HEAD);
	close(file);
}

static size_t put_bytes(struct run *run, struct input *input, size_t most)
{
	size_t size;
	const uint8_t *bytes = take_bytes(input, most, &size);

	memcpy(run->bytes + run->size, bytes, size);
	run->size += size;
	return size;
}

static void put_record(struct run *run, struct input *input)
{
	uint8_t *at = run->bytes + run->size;
	size_t sizes[TEXTS];
	uint32_t size;
	uint64_t sum;

	run->made[run->count].at = run->size;
	memcpy(at, head, HEAD);
	run->size += HEAD;
	for (size_t i = 0; i < TEXTS; i++) {
		sizes[i] = put_bytes(run, input, take_number(input, 1));
		memcpy(at + (i < TEXTS - 1 ? AT_REASON + 2 * i : AT_REFUSAL), &sizes[i], 2);
	}
	size = (uint32_t)(run->bytes + run->size - at);
	memcpy(at + AT_SIZE, &size, sizeof(size));
	sum = XXH3_64bits_withSeed(at + AT_SUMMED, size - AT_SUMMED, XXH3_64bits(at, AT_CHECKSUM));
	memcpy(at + AT_CHECKSUM, &sum, sizeof(sum));
	run->made[run->count].reason = sizes[0];
	run->made[run->count].detail = sizes[1];
	run->made[run->count].about = sizes[2];
	run->made[run->count++].refusal = sizes[3];
}

static int compare(const struct journal_record *record, void *context)
{
	struct run *run = context;
	const char *at = (const char *)run->bytes + run->made[run->seen].at + HEAD;

	require(run->seen < run->count);
	require(record->reason.bytes == at && record->reason.size == run->made[run->seen].reason);
	require(record->detail.bytes == at + record->reason.size);
	require(record->detail.size == run->made[run->seen].detail);
	require(record->about.bytes == record->detail.bytes + record->detail.size);
	require(record->about.size == run->made[run->seen].about);
	require(record->refusal.bytes == record->about.bytes + record->about.size);
	require(record->refusal.size == run->made[run->seen].refusal);
	run->seen++;
	return 0;
}

static int look(const struct journal_record *record, void *context)
{
	const struct input *whole = context;
	const uint8_t *begin = (const uint8_t *)record->reason.bytes;
	size_t size = record->reason.size + record->detail.size + record->about.size + record->refusal.size;

	require(begin >= whole->at + HEAD && size <= whole->left && begin <= whole->at + whole->left - size);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = input_of(data, size);
	static struct run run;

	if (take_number(&input, 1) & 1) {
		uint8_t *copy = copy_of(input.at, input.left);
		struct input whole = {copy, input.left};

		require(journal_parse(copy, input.left, look, &whole) == 0);
		free(copy);
		return 0;
	}
	run.size = run.count = run.seen = 0;
	while (input.left > 0 && run.count < RECORDS) {
		(void)put_bytes(&run, &input, take_number(&input, 1));
		put_record(&run, &input);
	}
	require(journal_parse(run.bytes, run.size, compare, &run) == 0);
	require(run.seen == run.count);
	return 0;
}
