/* SPDX-License-Identifier: MIT */
/*
 * Bundles. Bits 1 to 4 of the first byte choose what is mended in the rest: the header; frames and their lengths; the
 * entries in them; the last frame. The second byte says how many bytes come at a time and how large entries may be.
 *
 * Every entry that is given is sound and can be read to its last byte; reading ends; memory for bytes that do not come
 * is not asked for (the harness runs with a limit for one allocation). What has more behind it is not said to be well.
 */
#include "cache/tools/bundle.h"

#include "tests/fuzz/entries.h"

#define AT_FRAME_NUMBER 8
#define AT_FRAME_KEY    16

struct memory {
	uint8_t *bytes;
	size_t size;
	size_t at;
	size_t at_a_time; /* 0: all */
};

static ssize_t get(void *context, char *bytes, size_t size)
{
	struct memory *memory = context;
	size_t left = memory->size - memory->at;

	size = size < left ? size : left;
	size = memory->at_a_time && memory->at_a_time < size ? memory->at_a_time : size;
	memcpy(bytes, memory->bytes + memory->at, size);
	memory->at += size;
	return (ssize_t)size;
}

/* It takes up `size` bytes, and says that it is `total`. */
static void mend_entry(uint8_t *bytes, size_t size, uint64_t total)
{
	uint64_t dependencies, body;

	total = total < ENTRY_HEADER_BYTES ? size : total;
	mend_magic(bytes);
	memcpy(bytes + AT_TOTAL_SIZE, &total, 8);
	memcpy(&dependencies, bytes + AT_DEPENDENCIES_SIZE, 8);
	dependencies %= total - ENTRY_HEADER_BYTES + 1;
	memcpy(bytes + AT_DEPENDENCIES_SIZE, &dependencies, 8);
	body = (ENTRY_HEADER_BYTES + dependencies + 15) & ~UINT64_C(15);
	seal(bytes + AT_DEPENDENCIES_SUM, bytes + ENTRY_HEADER_BYTES, body - ENTRY_HEADER_BYTES);
	seal(bytes + AT_BODY_SUM, bytes + body, total - body);
	seal(bytes + AT_HEADER_SUM, bytes, AT_HEADER_SUM);
}

static void mend_last(uint8_t *bytes, size_t at, uint64_t number)
{
	memcpy(bytes + at, "LAST\0\0\0\0", 8);
	memcpy(bytes + at + AT_FRAME_NUMBER, &number, 8);
	require(blake2b(bytes + at + AT_FRAME_KEY, bytes, NULL, ENTRY_KEY_BYTES, at, 0) == 0);
}

/* Returns the size, shorter where the last frame ends it. */
static size_t mend(uint8_t *bytes, size_t size, uint8_t what)
{
	size_t at = BUNDLE_HEADER_BYTES;

	if (size < BUNDLE_HEADER_BYTES) {
		return size;
	}
	if (what & 2) {
		char model[BUNDLE_HEADER_BYTES + 1];
		FILE *stream = fmemopen(model, sizeof(model), "w");
		struct bundle_writer writer;

		require(stream != NULL && bundle_write_begin(&writer, 0, stream) == 0 && fclose(stream) == 0);
		memcpy(bytes, model, 16);
	}
	while (what & 4 && size - at >= BUNDLE_FRAME_BYTES) {
		uint8_t frame = bytes[at];
		uint64_t number;

		if (frame & 128) {
			mend_last(bytes, at, what & 16 ? 0 : 1);
			at += BUNDLE_FRAME_BYTES + BUNDLE_SIGNATURE_BYTES;
			return at < size ? at : size;
		}
		memcpy(bytes + at, "ENTR\0\0\0\0", 8);
		memcpy(&number, bytes + at + AT_FRAME_NUMBER, 8);
		if (!(frame & 64)) { /* else as large as it says */
			number = ENTRY_HEADER_BYTES + number % 512 / 16 * 16;
		}
		memcpy(bytes + at + AT_FRAME_NUMBER, &number, 8);
		if (number <= size - at - BUNDLE_FRAME_BYTES && number >= ENTRY_HEADER_BYTES && number % 16 == 0) {
			if (what & 8) {
				mend_entry(bytes + at + BUNDLE_FRAME_BYTES, number, frame & 32 ? number - 16 : number);
				memcpy(bytes + at + AT_FRAME_KEY, bytes + at + BUNDLE_FRAME_BYTES + 16,
				       ENTRY_KEY_BYTES);
			}
		}
		if (number > size - at - BUNDLE_FRAME_BYTES) {
			break;
		}
		at += BUNDLE_FRAME_BYTES + number;
	}
	return size;
}

static void hostile(const uint8_t *data, size_t size, uint8_t what, uint8_t how)
{
	struct memory memory = {.bytes = copy_of(data, size), .at_a_time = how & 15};
	FILE *stream = fopencookie(&memory, "r", (cookie_io_functions_t){.read = get});
	struct bundle_reader reader;
	int rc;

	require(stream && setvbuf(stream, NULL, _IONBF, 0) == 0);
	memory.size = mend(memory.bytes, size, what);
	rc = bundle_read_begin(&reader, (uint64_t)(how >> 4) * 32 - 1, stream) == 0 ? 1 : -1;
	while (rc > 0) {
		struct entry *entry;
		size_t entry_size;

		rc = bundle_read_next(&reader, &entry);
		if (entry) {
			require(entry_info(entry)->total_size <= reader.entry_size_max);
			/* it is as long as its frame says: the next frame is behind it */
			require(memory.at >= entry_info(entry)->total_size);
			require(memcmp(memory.bytes + memory.at - entry_info(entry)->total_size,
			               entry_bytes(entry, &entry_size), entry_info(entry)->total_size) == 0);
			read_all(entry);
			entry_unref(entry);
		}
	}
	require(rc != 0 || memory.at == memory.size);
	fclose(stream);
	free(memory.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2) {
		return 0;
	}
	hostile(data + 2, size - 2, data[0], data[1]);
	return 0;
}
