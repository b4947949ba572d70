/* SPDX-License-Identifier: MIT */
/*
 * bundle: reading and writing a stream of entries
 *
 *   read_begin --> | frame: sound? --> length within limits? --> bytes --> entry sound, key the same? | --> ENTRY
 *                  |    | no               | no: skipped: LARGE              | no: DAMAGED            |
 *                  |    v                  v                                 v                        |
 *                  |  BROKEN      <-- next frame <------------------------------------------------------'
 *                  |
 *                  `--> last frame: end of stream? --> number and checksum right? --> END
 *                                        | no: BROKEN        | no: CHANGED
 *   the stream ends anywhere else: CUT
 */
#include "cache/tools/bundle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PIECE     (UINT64_C(1) << 20)
#define ALIGNMENT 16

static const uint8_t magic[8] = {0x8e, 'N', 'V', 'B', 'N', 'D', '\r', '\n'};

struct header {
	uint8_t magic[8];
	uint32_t format;
	uint32_t entry_format;
	uint64_t keys;
	uint8_t reserved[24];
	XXH128_hash_t sum; /* of all members before it */
};

/* "ENTR", "REQU", "LAST" */
enum frame_kind { FRAME_ENTRY = 0x52544e45, FRAME_REQUEST = 0x55514552, FRAME_LAST = 0x5453414c };

struct frame {
	uint32_t kind;
	uint32_t reserved;
	uint64_t number;              /* size of the entry in bytes; FRAME_LAST: number of entries */
	uint8_t key[ENTRY_KEY_BYTES]; /* FRAME_LAST: checksum of every byte before this frame, then zeros */
	XXH128_hash_t sum;            /* of all members before it */
};

_Static_assert(sizeof(struct header) == BUNDLE_FRAME_BYTES && sizeof(struct frame) == BUNDLE_FRAME_BYTES,
               "these are a file format");

static XXH128_hash_t frame_sum(const struct frame *frame)
{
	return XXH3_128bits(frame, offsetof(struct frame, sum));
}

/* Writes bytes and adds them to the checksum that the last frame will contain. */
static int write_summed(struct bundle_writer *writer, const void *bytes, size_t size)
{
	(void)XXH3_128bits_update(&writer->sum, bytes, size);
	return writer->put(writer->context, bytes, size);
}

/* The structs are written as they are in memory, because the cache runs on little-endian machines only. */
int bundle_write_begin(struct bundle_writer *writer, uint64_t keys, bundle_put *put_bytes, void *context)
{
	struct header header = {.format = BUNDLE_FORMAT, .entry_format = ENTRY_FORMAT, .keys = keys};

	memcpy(header.magic, magic, sizeof(magic));
	header.sum = XXH3_128bits(&header, offsetof(struct header, sum));
	memset(writer, 0, sizeof(*writer));
	writer->put = put_bytes;
	writer->context = context;
	(void)XXH3_128bits_reset(&writer->sum);
	return write_summed(writer, &header, sizeof(header));
}

static int write_framed(struct bundle_writer *writer, enum frame_kind kind, const uint8_t key[ENTRY_KEY_BYTES],
                        const void *bytes, size_t size)
{
	struct frame frame = {.kind = kind, .number = size};
	int rc;

	memcpy(frame.key, key, ENTRY_KEY_BYTES);
	frame.sum = frame_sum(&frame);
	rc = write_summed(writer, &frame, sizeof(frame));
	if (rc == 0) {
		rc = write_summed(writer, bytes, size);
	}
	writer->entries += rc == 0;
	return rc;
}

int bundle_write_entry(struct bundle_writer *writer, const struct entry *entry)
{
	size_t size;
	const void *bytes = entry_bytes(entry, &size);

	return write_framed(writer, FRAME_ENTRY, entry_info(entry)->key, bytes, size);
}

int bundle_write_request(struct bundle_writer *writer, const uint8_t key[ENTRY_KEY_BYTES], const void *bytes,
                         size_t size)
{
	return write_framed(writer, FRAME_REQUEST, key, bytes, size);
}

/* The checksum over all bytes detects the loss of whole frames, which the checksums of the frames cannot. */
int bundle_write_end(struct bundle_writer *writer)
{
	struct frame frame = {.kind = FRAME_LAST, .number = writer->entries};
	XXH128_hash_t all = XXH3_128bits_digest(&writer->sum);

	memcpy(frame.key, &all, sizeof(all));
	frame.sum = frame_sum(&frame);
	return write_summed(writer, &frame, sizeof(frame));
}

/*
 * Reads until it has `size` bytes or the stream ends, because one read of a pipe may return less. Returns the number of
 * bytes, or a negative errno.
 */
static ssize_t read_summed(struct bundle_reader *reader, void *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = reader->get(reader->context, (uint8_t *)bytes + done, size - done);

		if (got < 0) {
			return got;
		}
		if (got == 0) {
			break;
		}
		done += (size_t)got;
	}
	return (ssize_t)done;
}

/* Checks the format first, because a later format may have other fields after it. */
int bundle_read_begin(struct bundle_reader *reader, uint64_t entry_size_max, bundle_get *get_bytes, void *context)
{
	struct header header;
	ssize_t got;

	memset(reader, 0, sizeof(*reader));
	reader->get = get_bytes;
	reader->context = context;
	reader->entry_size_max = entry_size_max < ENTRY_BYTES_MAX ? entry_size_max : ENTRY_BYTES_MAX;
	(void)XXH3_128bits_reset(&reader->sum);
	got = read_summed(reader, &header, sizeof(header));
	if (got < 0) {
		return (int)got;
	}
	if ((size_t)got < sizeof(header) || memcmp(header.magic, magic, sizeof(magic)) != 0) {
		return -EBADMSG;
	}
	reader->format = header.format;
	reader->entry_format = header.entry_format;
	/* before the checksum, which may be elsewhere in another format */
	if (header.format != BUNDLE_FORMAT) {
		return -EPROTONOSUPPORT;
	}
	if (!XXH128_isEqual(header.sum, XXH3_128bits(&header, offsetof(struct header, sum)))) {
		return -EBADMSG;
	}
	if (header.entry_format != ENTRY_FORMAT) {
		return -EPROTONOSUPPORT;
	}
	reader->keys = header.keys;
	(void)XXH3_128bits_update(&reader->sum, &header, sizeof(header));
	return 0;
}

static enum bundle_found fail_reading(int error, int *ret_error)
{
	*ret_error = error;
	return BUNDLE_FAILED;
}

/*
 * Reads the bytes of one entry. The buffer grows with the bytes that arrive, so that a wrong length does not allocate
 * memory for bytes that never come. The caller frees *ret_bytes.
 */
static enum bundle_found get_whole(struct bundle_reader *reader, uint64_t size, uint8_t **ret_bytes, int *ret_error)
{
	uint8_t *bytes = NULL;
	uint64_t room = 0;
	uint64_t done = 0;

	while (done < size) {
		uint8_t *grown;
		ssize_t got;

		room = room == 0 ? PIECE : room * 2;
		room = room < size ? room : size;
		grown = realloc(bytes, room);
		if (!grown) {
			free(bytes);
			return fail_reading(-ENOMEM, ret_error);
		}
		bytes = grown;
		got = read_summed(reader, bytes + done, room - done);
		if (got < 0 || (uint64_t)got < room - done) {
			free(bytes);
			return got < 0 ? fail_reading((int)got, ret_error) : BUNDLE_CUT;
		}
		done = room;
	}
	(void)XXH3_128bits_update(&reader->sum, bytes, size);
	*ret_bytes = bytes;
	return BUNDLE_ENTRY;
}

/* Skips `size` bytes by reading them, because a pipe cannot seek and the checksum over all bytes includes them. */
static enum bundle_found pass_over(struct bundle_reader *reader, uint64_t size, int *ret_error)
{
	uint8_t bytes[16384];

	while (size > 0) {
		size_t piece = size < sizeof(bytes) ? (size_t)size : sizeof(bytes);
		ssize_t got = read_summed(reader, bytes, piece);

		if (got < 0) {
			return fail_reading((int)got, ret_error);
		}
		if ((size_t)got < piece) {
			return BUNDLE_CUT;
		}
		(void)XXH3_128bits_update(&reader->sum, bytes, piece);
		size -= piece;
	}
	return BUNDLE_LARGE;
}

/* Checks that key and size are those of the frame: the frame and the entry have separate checksums. */
static enum bundle_found read_entry(struct bundle_reader *reader, const struct frame *frame, struct entry **ret_entry,
                                    int *ret_error)
{
	struct entry *entry;
	uint8_t *bytes = NULL;
	enum bundle_found found;
	int rc;

	if (frame->number > reader->entry_size_max) {
		return pass_over(reader, frame->number, ret_error);
	}
	found = get_whole(reader, frame->number, &bytes, ret_error);
	if (found != BUNDLE_ENTRY) {
		return found;
	}
	if (frame->kind == FRAME_REQUEST) {
		memcpy(reader->key, frame->key, ENTRY_KEY_BYTES);
		reader->request = bytes;
		reader->request_size = frame->number;
		return BUNDLE_REQUEST;
	}
	rc = entry_adopt(bytes, frame->number, &entry);
	if (rc < 0) {
		free(bytes);
		return rc == -ENOMEM ? fail_reading(rc, ret_error) : BUNDLE_DAMAGED;
	}
	if (entry_info(entry)->total_size != frame->number ||
	    memcmp(entry_info(entry)->key, frame->key, ENTRY_KEY_BYTES) != 0) {
		entry_unref(entry);
		return BUNDLE_DAMAGED;
	}
	*ret_entry = entry;
	return BUNDLE_ENTRY;
}

/* Bytes after the last frame are an error, because otherwise they would be ignored without notice. */
static enum bundle_found read_last(struct bundle_reader *reader, const struct frame *frame, int *ret_error)
{
	struct frame expected = {.kind = FRAME_LAST, .number = reader->entries};
	XXH128_hash_t all = XXH3_128bits_digest(&reader->sum);
	uint8_t more;
	ssize_t got = read_summed(reader, &more, sizeof(more));

	if (got < 0) {
		return fail_reading((int)got, ret_error);
	}
	memcpy(expected.key, &all, sizeof(all));
	expected.sum = frame_sum(&expected);
	if (got > 0) {
		return BUNDLE_BROKEN;
	}
	return memcmp(frame, &expected, sizeof(expected)) == 0 ? BUNDLE_END : BUNDLE_CHANGED;
}

/* A sound frame with an impossible size was not written by this program, so nothing after it is read. */
enum bundle_found bundle_read_next(struct bundle_reader *reader, struct entry **ret_entry, int *ret_error)
{
	struct frame frame;
	ssize_t got = read_summed(reader, &frame, sizeof(frame));

	free(reader->request);
	reader->request = NULL;
	if (got < 0) {
		return fail_reading((int)got, ret_error);
	}
	if ((size_t)got < sizeof(frame)) {
		return BUNDLE_CUT;
	}
	if (!XXH128_isEqual(frame.sum, frame_sum(&frame))) {
		return BUNDLE_BROKEN;
	}
	if (frame.kind == FRAME_LAST) {
		return read_last(reader, &frame, ret_error);
	}
	if ((frame.kind != FRAME_REQUEST &&
	     (frame.kind != FRAME_ENTRY || frame.number < ENTRY_HEADER_BYTES || frame.number % ALIGNMENT != 0)) ||
	    frame.reserved != 0 || frame.number == 0 || frame.number >= ENTRY_BYTES_MAX) {
		return BUNDLE_BROKEN;
	}
	(void)XXH3_128bits_update(&reader->sum, &frame, sizeof(frame));
	reader->entries++;
	return read_entry(reader, &frame, ret_entry, ret_error);
}
