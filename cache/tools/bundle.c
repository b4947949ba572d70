/* SPDX-License-Identifier: MIT */
#include "cache/tools/bundle.h"

#include <errno.h>
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
	return fwrite(bytes, 1, size, writer->stream) < size ? -errno : 0;
}

/* The structs are written as they are in memory, because the cache runs on little-endian machines only. */
int bundle_write_begin(struct bundle_writer *writer, uint64_t keys, FILE *stream)
{
	struct header header = {.format = BUNDLE_FORMAT, .entry_format = ENTRY_FORMAT, .keys = keys};

	memcpy(header.magic, magic, sizeof(magic));
	writer->stream = stream;
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
	rc = write_summed(writer, &frame, sizeof(frame));
	return rc == 0 ? write_summed(writer, &signature, sizeof(signature)) : rc;
}

/* -EBADMSG: the stream has ended. */
static int read_bytes(struct bundle_reader *reader, void *bytes, size_t size)
{
	if (fread(bytes, 1, size, reader->stream) == size) {
		return 0;
	}
	return ferror(reader->stream) ? -errno : -EBADMSG;
}

static int read_summed(struct bundle_reader *reader, void *bytes, size_t size)
{
	int rc = read_bytes(reader, bytes, size);

	(void)blake2b_update(&reader->sum, bytes, rc == 0 ? size : 0);
	return rc;
}

int bundle_read_begin(struct bundle_reader *reader, uint64_t entry_size_max, FILE *stream)
{
	struct header header = {.format = 0};
	int rc;

	*reader = (struct bundle_reader){.stream = stream, .entry_size_max = entry_size_max};
	(void)blake2b_init(&reader->sum, DIGEST_BYTES);
	rc = read_summed(reader, &header, sizeof(header));
	if (rc == -EBADMSG || (rc == 0 && memcmp(header.magic, magic, sizeof(magic)) != 0)) {
		return -ENOEXEC;
	}
	reader->format = header.format;
	reader->entry_format = header.entry_format;
	reader->keys = header.keys;
	return rc == 0 && (header.format != BUNDLE_FORMAT || header.entry_format != ENTRY_FORMAT) ? -EPROTONOSUPPORT
	                                                                                          : rc;
}

/*
 * Reads the bytes of one entry, which the caller frees. The buffer grows with the bytes that arrive, so that a wrong
 * length does not allocate memory for bytes that never come.
 */
static int read_whole(struct bundle_reader *reader, uint64_t size, uint8_t **ret_bytes)
{
	uint8_t *bytes = NULL;
	uint64_t done = 0;
	int rc = 0;

	while (done < size && rc == 0) {
		uint64_t room = done == 0 ? PIECE : done * 2;
		uint8_t *grown;

		room = room < size ? room : size;
		grown = realloc(bytes, room);
		bytes = grown ? grown : bytes;
		rc = grown ? read_summed(reader, bytes + done, room - done) : -ENOMEM;
		done = room;
	}
	if (rc < 0) {
		free(bytes);
		return rc;
	}
	*ret_bytes = bytes;
	return 0;
}

/* Skips `size` bytes by reading them, because a pipe cannot seek and the checksum over all bytes includes them. */
static int pass_over(struct bundle_reader *reader, uint64_t size)
{
	uint8_t bytes[16384];
	int rc = 0;

	while (size > 0 && rc == 0) {
		size_t piece = size < sizeof(bytes) ? (size_t)size : sizeof(bytes);

		rc = read_summed(reader, bytes, piece);
		size -= piece;
	}
	reader->large += rc == 0;
	return rc;
}

/* Checks that key and size are those of the frame, which has no checksum of its own. A damaged entry is skipped. */
static int read_entry(struct bundle_reader *reader, const struct frame *frame, struct entry **ret_entry)
{
	struct entry *entry = NULL;
	uint8_t *bytes;
	int rc = read_whole(reader, frame->size, &bytes);

	if (rc < 0) {
		return rc;
	}
	rc = entry_adopt(bytes, frame->size, &entry);
	if (rc < 0) {
		free(bytes);
	} else if (entry_info(entry)->total_size == frame->size &&
	           memcmp(entry_info(entry)->key, frame->key, ENTRY_KEY_BYTES) == 0) {
		*ret_entry = entry;
		return 0;
	}
	entry_unref(entry);
	reader->damaged = true;
	return rc == -ENOMEM ? rc : 0;
}

/* Bytes after the signature are an error, because otherwise they would be ignored without notice. */
static int read_last(struct bundle_reader *reader, const struct frame *frame)
{
	struct frame expected = {.kind = FRAME_LAST};
	uint8_t more;
	int rc = read_bytes(reader, &reader->signature, sizeof(reader->signature));

	(void)blake2b_final(&reader->sum, expected.key, DIGEST_BYTES);
	memcpy(reader->digest, expected.key, DIGEST_BYTES);
	if (rc == 0 && (reader->damaged || memcmp(frame, &expected, sizeof(expected)) != 0 ||
	                read_bytes(reader, &more, sizeof(more)) == 0)) {
		return -EBADMSG;
	}
	return rc == 0 && ferror(reader->stream) ? -errno : rc;
}

/* After a frame that this program does not write, nothing is read: its size may be wrong. */
int bundle_read_next(struct bundle_reader *reader, struct entry **ret_entry)
{
	struct frame frame;
	int rc = read_bytes(reader, &frame, sizeof(frame));

	*ret_entry = NULL;
	if (rc < 0) {
		return rc;
	}
	if (frame.kind == FRAME_LAST) {
		return read_last(reader, &frame);
	}
	if (frame.kind != FRAME_ENTRY || frame.size == 0 || frame.size >= ENTRY_BYTES_MAX) {
		return -EBADMSG;
	}
	(void)blake2b_update(&reader->sum, (const uint8_t *)&frame, sizeof(frame));
	rc =
	    frame.size > reader->entry_size_max ? pass_over(reader, frame.size) : read_entry(reader, &frame, ret_entry);
	return rc < 0 ? rc : 1;
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
