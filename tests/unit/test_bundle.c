/* SPDX-License-Identifier: MIT */
/* bundle: written entries are read back; other bytes never give a wrong entry */
#include "cache/tools/bundle.h"
#include "tests/unit/support.h"

#define ENTRIES 3
#define FRAME   BUNDLE_HEADER_BYTES /* of the first entry */

static struct memory {
	uint8_t bytes[16384];
	size_t size;
	size_t at;
	size_t at_a_time; /* 0: no limit */
	int error;        /* returned by every call once `at` or `size` reaches error_at */
	size_t error_at;
} memory;

static struct entry *entries[ENTRIES];
static struct keyring keyring;
static const struct keyring *verifies;   /* `keyring`, or NULL */
static const struct keyring_key *signer; /* that signs; NULL: none does */
static uint64_t limit = ENTRY_BYTES_MAX - 1;

static ssize_t put(void *context, const char *bytes, size_t size)
{
	struct memory *target = context;

	if (target->error && target->size >= target->error_at) {
		errno = -target->error;
		return 0;
	}
	cr_assert_leq(size, sizeof(target->bytes) - target->size);
	memcpy(target->bytes + target->size, bytes, size);
	target->size += size;
	return (ssize_t)size;
}

static ssize_t get(void *context, char *bytes, size_t size)
{
	struct memory *source = context;

	if (source->error && source->at >= source->error_at) {
		errno = -source->error;
		return -1;
	}
	size = size < source->size - source->at ? size : source->size - source->at;
	size = source->at_a_time && source->at_a_time < size ? source->at_a_time : size;
	memcpy(bytes, source->bytes + source->at, size);
	source->at += size;
	return (ssize_t)size;
}

static FILE *open_memory(const char *mode)
{
	FILE *stream = fopencookie(&memory, mode, (cookie_io_functions_t){.read = get, .write = put});

	cr_assert(stream && setvbuf(stream, NULL, _IONBF, 0) == 0);
	return stream;
}

/* Begins to read `memory`. The caller closes the reader's stream. */
static int begin(struct bundle_reader *reader)
{
	memory.at = 0;
	*reader = (struct bundle_reader){.stream = open_memory("r"), .keyring = verifies, .limit = limit};
	return bundle_read_begin(reader);
}

static void write_entries(void)
{
	FILE *stream = open_memory("w");

	memory.size = 0;
	cr_assert_eq(bundle_write_begin(stream, 7), 0);
	for (size_t i = 0; i < ENTRIES; i++) {
		cr_assert_eq(bundle_write_entry(stream, entries[i], signer), 0);
	}
	cr_assert_eq(bundle_write_end(stream), 0);
	fclose(stream);
}

static void build(void)
{
	for (size_t i = 0; i < ENTRIES; i++) {
		uint8_t key[ENTRY_KEY_BYTES] = {(uint8_t)i, 7};
		char text[100];
		struct section section = {.tag = 1, .value = (int)i, .bytes = text, .size = 20 * (i + 1)};

		memset(text, 'a' + (int)i, sizeof(text));
		cr_assert_eq(entry_build(key, i, text, i, &section, 1, &entries[i]), 0);
	}
	memset(&memory, 0, sizeof(memory));
	write_entries();
}

static void drop(void)
{
	for (size_t i = 0; i < ENTRIES; i++) {
		entry_unref(entries[i]);
	}
}

TestSuite(bundle, .init = build, .fini = drop);

static bool same(const struct entry *a, const struct entry *b)
{
	size_t a_size, b_size;
	const void *a_bytes = entry_bytes(a, &a_size);
	const void *b_bytes = entry_bytes(b, &b_size);

	return a_size == b_size && memcmp(a_bytes, b_bytes, a_size) == 0;
}

static struct seen {
	size_t entries;
	bool damaged;
} seen;

/* Reads the bundle, and checks that its entries are among the written ones and in their order. */
static int read_all(void)
{
	struct bundle_reader reader;
	size_t next = 0;
	int rc = begin(&reader);

	seen = (struct seen){.entries = 0};
	for (rc = rc == 0 ? 1 : rc; rc > 0;) {
		struct entry *entry;

		rc = bundle_read_next(&reader, &entry);
		if (entry) {
			while (next < ENTRIES && !same(entry, entries[next])) {
				next++;
			}
			cr_assert_lt(next++, ENTRIES, "an entry that was not written");
			entry_unref(entry);
			seen.entries++;
		}
	}
	seen.damaged = reader.damaged;
	fclose(reader.stream);
	return rc;
}

static void expect_one_damaged(void)
{
	cr_expect_eq(read_all(), -EBADMSG);
	cr_expect(seen.damaged);
	cr_expect_eq(seen.entries, ENTRIES - 1);
}

Test(bundle, written_entries_are_read_back)
{
	struct bundle_reader reader;

	cr_expect_eq(read_all(), 0);
	cr_expect_eq(seen.entries, ENTRIES);
	cr_assert_eq(begin(&reader), 0);
	cr_expect_eq(reader.header.keys, 7);
	fclose(reader.stream);
	memory.size++;
	cr_expect_eq(read_all(), -EBADMSG, "a byte behind it");
}

Test(bundle, entries_above_the_limit_are_left_out)
{
	limit = entry_info(entries[0])->total_size;
	for (size_t i = 1; i < ENTRIES; i++) {
		limit = entry_info(entries[i])->total_size > limit ? entry_info(entries[i])->total_size : limit;
	}
	limit--;
	cr_expect_eq(read_all(), 0);
	cr_expect_eq(seen.entries, ENTRIES - 1);
}

Test(bundle, a_truncated_bundle_returns_its_whole_entries_and_reports_the_cut)
{
	size_t whole = memory.size;

	for (size_t size = 0; size < whole; size++) {
		size_t end = BUNDLE_HEADER_BYTES;
		size_t expected = 0;
		int rc;

		memory.size = size;
		rc = read_all();
		if (size < BUNDLE_HEADER_BYTES) {
			cr_expect_eq(rc, -ENOEXEC);
			continue;
		}
		while (expected < ENTRIES) {
			end += BUNDLE_FRAME_BYTES + entry_info(entries[expected])->total_size;
			if (end > size) {
				break;
			}
			expected++;
		}
		cr_expect_eq(rc, -EBADMSG, "%zu bytes", size);
		cr_expect_eq(seen.entries, expected, "%zu bytes", size);
	}
}

Test(bundle, a_signature_is_of_the_key_and_of_every_byte_of_the_entry)
{
	static const char *const text = "one 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n";
	struct keyring_key other;

	cr_assert_eq(keyring_parse(text, &keyring), 0);
	verifies = &keyring;
	cr_expect_eq(read_all(), -ENOMSG);
	signer = keyring.keys;
	write_entries();
	cr_expect_eq(read_all(), 0);
	for (size_t i = BUNDLE_FRAME_BYTES - KEYRING_MAC_BYTES; i < BUNDLE_FRAME_BYTES + 20; i++) {
		memory.bytes[FRAME + i] ^= 1;
		cr_expect(read_all() == -EKEYREJECTED && seen.entries == 0, "byte %zu", i);
		memory.bytes[FRAME + i] ^= 1;
	}
	other = *signer;
	other.bytes[0] ^= 1;
	signer = &other;
	write_entries();
	cr_expect_eq(read_all(), -EKEYREJECTED);
	other.id[0] ^= 1;
	write_entries();
	cr_expect_eq(read_all(), -ENOKEY);
}

/* Without a keyring only the id and the signature of a frame, and the announced number, mean nothing. */
static bool is_read(size_t at)
{
	size_t frame = FRAME;

	for (size_t i = 0; i < ENTRIES && at >= frame + BUNDLE_FRAME_BYTES + entry_info(entries[i])->total_size; i++) {
		frame += BUNDLE_FRAME_BYTES + entry_info(entries[i])->total_size;
	}
	return at < 16 || (at >= frame && (at < frame + 8 || at >= frame + BUNDLE_FRAME_BYTES));
}

Test(bundle, one_wrong_byte_is_reported_and_returns_no_wrong_entry)
{
	static const uint8_t wrongs[] = {0x01, 0x80, 0xff};
	size_t all = 0;

	for (size_t i = 0; i < memory.size; i++) {
		for (size_t j = 0; j < sizeof(wrongs); j++) {
			memory.bytes[i] ^= wrongs[j];
			cr_expect_eq(read_all() < 0, is_read(i), "byte %zu", i);
			memory.bytes[i] ^= wrongs[j];
			all += seen.entries;
		}
	}
	cr_expect_gt(all, memory.size, "most wrong bytes leave other entries as they are");
}

Test(bundle, a_damaged_entry_is_skipped)
{
	memory.bytes[FRAME + BUNDLE_FRAME_BYTES + ENTRY_HEADER_BYTES + 5] ^= 1;
	expect_one_damaged();
}

Test(bundle, an_entry_shorter_than_its_frame_is_damaged)
{
	uint8_t *frame = memory.bytes + FRAME;
	uint64_t number = entry_info(entries[0])->total_size + 16;
	size_t behind = FRAME + BUNDLE_FRAME_BYTES + number;

	memmove(memory.bytes + behind, memory.bytes + behind - 16, memory.size - behind + 16);
	memory.size += 16;
	memcpy(frame, &number, sizeof(number));
	expect_one_damaged();
}

Test(bundle, no_entry_is_as_long_as_the_limit)
{
	uint8_t *frame = memory.bytes + FRAME;

	for (uint64_t number = ENTRY_BYTES_MAX; number != 0; number <<= 1) {
		memcpy(frame, &number, sizeof(number));
		cr_expect_eq(read_all(), -EBADMSG);
		cr_expect_eq(memory.at, FRAME + BUNDLE_FRAME_BYTES, "no memory is asked for, and nothing read");
	}
}

Test(bundle, read_and_write_errors_are_returned)
{
	FILE *stream = open_memory("w");
	size_t size = memory.size;

	memory.error = -EIO;
	for (memory.error_at = 0; memory.error_at < size; memory.error_at += 40) {
		memory.at_a_time = 40;
		cr_expect_eq(read_all(), -EIO);
	}
	memory.size = 0;
	memory.error_at = 0;
	cr_expect_eq(bundle_write_begin(stream, 0), -EIO);
	memory.error_at = BUNDLE_HEADER_BYTES;
	cr_expect_eq(bundle_write_begin(stream, 0), 0);
	cr_expect_eq(bundle_write_entry(stream, entries[0], NULL), -EIO);
	cr_expect_eq(bundle_write_end(stream), -EIO);
	fclose(stream);
}
