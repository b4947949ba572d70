/* SPDX-License-Identifier: MIT */
/*
 * bundle: reading and writing a stream of entries
 *
 *   read_begin --> | frame: known? --> length within limits? --> bytes --> entry sound, key the same? | --> ENTRY
 *                  |    | no               | no: skipped: LARGE              | no: DAMAGED            |
 *                  |    v                  v                                 v                        |
 *                  |  BROKEN      <-- next frame <------------------------------------------------------'
 *                  |
 *                  `--> last frame, signature: end of stream? --> digest right? --> END
 *                                        | no: BROKEN        | no: CHANGED
 *   the stream ends anywhere else: CUT
 */
#include "cache/tools/bundle.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PIECE (UINT64_C(1) << 20)

static const uint8_t magic[8] = {0x8e, 'N', 'V', 'B', 'N', 'D', '\r', '\n'};

struct header {
	uint8_t magic[8];
	uint32_t format;
	uint32_t entry_format;
	uint64_t keys;
};

/* "ENTR", "LAST" */
enum frame_kind { FRAME_ENTRY = 0x52544e45, FRAME_LAST = 0x5453414c };

struct frame {
	uint64_t kind;
	uint64_t size;                /* of the bytes that follow */
	uint8_t key[ENTRY_KEY_BYTES]; /* FRAME_LAST: digest of every byte before this frame */
};

#define DIGEST_BYTES sizeof(((struct frame *)0)->key)

_Static_assert(sizeof(struct header) == BUNDLE_HEADER_BYTES && sizeof(struct frame) == BUNDLE_FRAME_BYTES &&
                   sizeof(struct bundle_signature) == BUNDLE_SIGNATURE_BYTES,
               "these are a file format");

/* Writes bytes and adds them to the digest that the last frame will contain. */
static int write_summed(struct bundle_writer *writer, const void *bytes, size_t size)
{
	(void)blake2b_update(&writer->sum, bytes, size);
	return writer->put(writer->context, bytes, size);
}

/* The structs are written as they are in memory, because the cache runs on little-endian machines only. */
int bundle_write_begin(struct bundle_writer *writer, uint64_t keys, bundle_put *put_bytes, void *context)
{
	struct header header = {.format = BUNDLE_FORMAT, .entry_format = ENTRY_FORMAT, .keys = keys};

	memcpy(header.magic, magic, sizeof(magic));
	writer->put = put_bytes;
	writer->context = context;
	(void)blake2b_init(&writer->sum, DIGEST_BYTES);
	return write_summed(writer, &header, sizeof(header));
}

int bundle_write_entry(struct bundle_writer *writer, const struct entry *entry)
{
	struct frame frame = {.kind = FRAME_ENTRY};
	const void *bytes = entry_bytes(entry, &frame.size);
	int rc;

	memcpy(frame.key, entry_info(entry)->key, ENTRY_KEY_BYTES);
	rc = write_summed(writer, &frame, sizeof(frame));
	return rc == 0 ? write_summed(writer, bytes, frame.size) : rc;
}

/* The digest over all bytes detects wrong frames, and the loss of whole ones, which entries cannot. */
int bundle_write_end(struct bundle_writer *writer, const struct keyring_key *key)
{
	struct bundle_signature signature = {.key_id = ""};
	struct frame frame = {.kind = FRAME_LAST};
	int rc;

	(void)blake2b_final(&writer->sum, frame.key, DIGEST_BYTES);
	if (key) {
		memcpy(signature.key_id, key->id, sizeof(signature.key_id));
		keyring_sign(key, magic, sizeof(magic), frame.key, DIGEST_BYTES, signature.mac);
	}
	rc = writer->put(writer->context, &frame, sizeof(frame));
	return rc == 0 ? writer->put(writer->context, &signature, sizeof(signature)) : rc;
}

/* On failure reader->error is 0 if the stream has ended. */
static bool read_bytes(struct bundle_reader *reader, void *bytes, size_t size)
{
	if (fread(bytes, 1, size, reader->stream) == size) {
		return true;
	}
	reader->error = ferror(reader->stream) ? -errno : 0;
	return false;
}

static bool read_summed(struct bundle_reader *reader, void *bytes, size_t size)
{
	bool done = read_bytes(reader, bytes, size);

	if (done) {
		(void)blake2b_update(&reader->sum, bytes, size);
	}
	return done;
}

int bundle_read_begin(struct bundle_reader *reader, uint64_t entry_size_max, FILE *stream)
{
	struct header header;

	memset(reader, 0, sizeof(*reader));
	reader->stream = stream;
	reader->entry_size_max = entry_size_max < ENTRY_BYTES_MAX ? entry_size_max : ENTRY_BYTES_MAX;
	(void)blake2b_init(&reader->sum, DIGEST_BYTES);
	if (!read_summed(reader, &header, sizeof(header))) {
		return reader->error < 0 ? reader->error : -EBADMSG;
	}
	if (memcmp(header.magic, magic, sizeof(magic)) != 0) {
		return -EBADMSG;
	}
	reader->format = header.format;
	reader->entry_format = header.entry_format;
	reader->keys = header.keys;
	return header.format == BUNDLE_FORMAT && header.entry_format == ENTRY_FORMAT ? 0 : -EPROTONOSUPPORT;
}

static enum bundle_found tell_end(const struct bundle_reader *reader)
{
	return reader->error < 0 ? BUNDLE_FAILED : BUNDLE_CUT;
}

/*
 * Reads the bytes of one entry, which the caller frees. The buffer grows with the bytes that arrive, so that a wrong
 * length does not allocate memory for bytes that never come. Returns NULL and sets reader->error.
 */
static uint8_t *read_whole(struct bundle_reader *reader, uint64_t size)
{
	uint8_t *bytes = NULL;
	uint64_t done = 0;

	while (done < size) {
		uint64_t room = done == 0 ? PIECE : done * 2;
		uint8_t *grown;

		room = room < size ? room : size;
		grown = realloc(bytes, room);
		bytes = grown ? grown : bytes;
		reader->error = grown ? 0 : -ENOMEM;
		if (!grown || !read_summed(reader, bytes + done, room - done)) {
			free(bytes);
			return NULL;
		}
		done = room;
	}
	return bytes;
}

/* Skips `size` bytes by reading them, because a pipe cannot seek and the checksum over all bytes includes them. */
static enum bundle_found pass_over(struct bundle_reader *reader, uint64_t size)
{
	uint8_t bytes[16384];

	while (size > 0) {
		size_t piece = size < sizeof(bytes) ? (size_t)size : sizeof(bytes);

		if (!read_summed(reader, bytes, piece)) {
			return tell_end(reader);
		}
		size -= piece;
	}
	return BUNDLE_LARGE;
}

/* Checks that key and size are those of the frame, which has no checksum of its own. */
static enum bundle_found read_content(struct bundle_reader *reader, const struct frame *frame, struct entry **ret_entry)
{
	uint8_t *bytes = read_whole(reader, frame->size);
	struct entry *entry;

	if (!bytes) {
		return tell_end(reader);
	}
	reader->error = entry_adopt(bytes, frame->size, &entry);
	if (reader->error < 0) {
		free(bytes);
		return reader->error == -ENOMEM ? BUNDLE_FAILED : BUNDLE_DAMAGED;
	}
	if (entry_info(entry)->total_size != frame->size ||
	    memcmp(entry_info(entry)->key, frame->key, ENTRY_KEY_BYTES) != 0) {
		entry_unref(entry);
		return BUNDLE_DAMAGED;
	}
	*ret_entry = entry;
	return BUNDLE_ENTRY;
}

/* Bytes after the signature are an error, because otherwise they would be ignored without notice. */
static enum bundle_found read_last(struct bundle_reader *reader, const struct frame *frame)
{
	struct frame expected = {.kind = FRAME_LAST};
	uint8_t more;

	(void)blake2b_final(&reader->sum, expected.key, DIGEST_BYTES);
	memcpy(reader->digest, expected.key, DIGEST_BYTES);
	if (!read_bytes(reader, &reader->signature, sizeof(reader->signature))) {
		return tell_end(reader);
	}
	if (read_bytes(reader, &more, sizeof(more))) {
		return BUNDLE_BROKEN;
	}
	if (reader->error < 0) {
		return BUNDLE_FAILED;
	}
	return memcmp(frame, &expected, sizeof(expected)) == 0 ? BUNDLE_END : BUNDLE_CHANGED;
}

/* After a frame that this program does not write, nothing is read: its size may be wrong. */
enum bundle_found bundle_read_next(struct bundle_reader *reader, struct entry **ret_entry)
{
	struct frame frame;

	if (!read_bytes(reader, &frame, sizeof(frame))) {
		return tell_end(reader);
	}
	if (frame.kind == FRAME_LAST) {
		return read_last(reader, &frame);
	}
	(void)blake2b_update(&reader->sum, (const uint8_t *)&frame, sizeof(frame));
	if (frame.kind != FRAME_ENTRY || frame.size == 0 || frame.size >= ENTRY_BYTES_MAX) {
		return BUNDLE_BROKEN;
	}
	return frame.size > reader->entry_size_max ? pass_over(reader, frame.size)
	                                           : read_content(reader, &frame, ret_entry);
}

int bundle_judge(const struct bundle_reader *reader, const struct keyring *keyring)
{
	const struct bundle_signature *signature = &reader->signature;
	const struct keyring_key *key = keyring_find(keyring, signature->key_id);
	uint8_t mac[KEYRING_MAC_BYTES];

	if (signature->key_id[0] == '\0') {
		return -ENOMSG;
	}
	if (!key) {
		return -ENOKEY;
	}
	keyring_sign(key, magic, sizeof(magic), reader->digest, DIGEST_BYTES, mac);
	return keyring_macs_equal(mac, signature->mac) ? 0 : -EKEYREJECTED;
}
