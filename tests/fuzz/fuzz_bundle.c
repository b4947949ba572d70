/* SPDX-License-Identifier: MIT */
/*
 * Bundles. Bits 1 to 4 of the first byte choose what is mended in the rest: the header; frames and their lengths; the
 * entries in them; the last frame. The second byte says how many bytes come at a time.
 *
 * Every entry that is given is sound and can be read to its last byte; reading ends. What has more behind it is not
 * said to be well.
 */
#include "cache/tools/bundle.h"

#include "tests/fuzz/entries.h"

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

		require(stream != NULL && bundle_write_begin(stream, 0) == 0 && fclose(stream) == 0);
		memcpy(bytes, model, 16);
	}
	while (size - at >= BUNDLE_FRAME_BYTES) {
		uint8_t frame = bytes[at + 8];
		uint64_t number;

		memcpy(&number, bytes + at, 8);
		if (what & 4 && frame & 128) {
			memset(bytes + at, 0, 8);
			return what & 16 ? at + BUNDLE_FRAME_BYTES : size;
		}
		if (what & 4 && !(frame & 64)) { /* else as large as it says */
			number = ENTRY_HEADER_BYTES + number % 512 / 16 * 16;
		}
		/* the harness has a limit for one allocation; what is not below the format's limit is refused */
		number = number >> 25 == 0 ? number : number | ENTRY_BYTES_MAX;
		memcpy(bytes + at, &number, 8);
		if (number > size - at - BUNDLE_FRAME_BYTES) {
			break;
		}
		if (what & 8 && number >= ENTRY_HEADER_BYTES && number % 16 == 0) {
			mend_entry(bytes + at + BUNDLE_FRAME_BYTES, number, frame & 32 ? number - 16 : number);
		}
		at += BUNDLE_FRAME_BYTES + number;
	}
	return size;
}

static void hostile(const uint8_t *data, size_t size, uint8_t what, uint8_t how)
{
	struct memory memory = {.bytes = copy_of(data, size), .at_a_time = how & 15};
	struct bundle_reader reader = {.stream = fopencookie(&memory, "r", (cookie_io_functions_t){.read = get}),
	                               .limit = 1 << 24};
	int rc;

	require(reader.stream && setvbuf(reader.stream, NULL, _IONBF, 0) == 0);
	memory.size = mend(memory.bytes, size, what);
	rc = bundle_read_begin(&reader) == 0 ? 1 : -1;
	while (rc > 0) {
		struct entry *entry;
		size_t entry_size;

		rc = bundle_read_next(&reader, &entry);
		if (entry) {
			/* it is as long as its frame says: the next frame is behind it */
			require(memory.at >= entry_info(entry)->total_size);
			require(memcmp(memory.bytes + memory.at - entry_info(entry)->total_size,
			               entry_bytes(entry, &entry_size), entry_info(entry)->total_size) == 0);
			read_all(entry);
			entry_unref(entry);
		}
	}
	require(rc != 0 || memory.at == memory.size);
	fclose(reader.stream);
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
