/* SPDX-License-Identifier: MIT */
#include "cache/tools/bundle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t magic[8] = {0x8e, 'N', 'V', 'B', 'N', 'D', '\r', '\n'};

struct frame {
	uint64_t size; /* of the entry that follows; 0: the end */
	char key_id[KEYRING_ID_BYTES];
	uint8_t mac[KEYRING_MAC_BYTES];
};

_Static_assert(sizeof(struct bundle_header) == BUNDLE_HEADER_BYTES && sizeof(struct frame) == BUNDLE_FRAME_BYTES,
               "these are a file format");

static void sign(const struct keyring_key *key, const struct frame *frame, const void *bytes,
                 uint8_t ret_mac[KEYRING_MAC_BYTES])
{
	keyring_sign(key, magic, sizeof(magic), bytes, frame->size, ret_mac);
}

static int write_bytes(FILE *stream, const void *bytes, size_t size)
{
	return fwrite(bytes, 1, size, stream) < size ? -errno : 0;
}

/* The structs are written as they are in memory, because the cache runs on little-endian machines only. */
int bundle_write_begin(FILE *stream, uint64_t keys)
{
	struct bundle_header header = {.format = BUNDLE_FORMAT, .entry_format = ENTRY_FORMAT, .keys = keys};

	memcpy(header.magic, magic, sizeof(magic));
	return write_bytes(stream, &header, sizeof(header));
}

int bundle_write_entry(FILE *stream, const struct entry *entry, const struct keyring_key *key)
{
	struct frame frame = {.size = 0};
	const void *bytes = entry_bytes(entry, &frame.size);
	int rc;

	if (key) {
		memcpy(frame.key_id, key->id, sizeof(frame.key_id));
		sign(key, &frame, bytes, frame.mac);
	}
	rc = write_bytes(stream, &frame, sizeof(frame));
	return rc == 0 ? write_bytes(stream, bytes, frame.size) : rc;
}

int bundle_write_end(FILE *stream)
{
	return write_bytes(stream, &(struct frame){.size = 0}, sizeof(struct frame));
}

/* -EBADMSG: the stream has ended. */
static int read_bytes(FILE *stream, void *bytes, size_t size)
{
	if (fread(bytes, 1, size, stream) == size) {
		return 0;
	}
	return ferror(stream) ? -errno : -EBADMSG;
}

int bundle_read_begin(struct bundle_reader *reader)
{
	const struct bundle_header *header = &reader->header;
	int rc = read_bytes(reader->stream, &reader->header, sizeof(*header));

	if (rc == -EBADMSG || (rc == 0 && memcmp(header->magic, magic, sizeof(magic)) != 0)) {
		return -ENOEXEC;
	}
	return rc == 0 && (header->format != BUNDLE_FORMAT || header->entry_format != ENTRY_FORMAT) ? -EPROTONOSUPPORT
	                                                                                            : rc;
}

static int judge(const struct keyring *keyring, const struct frame *frame, const void *bytes)
{
	const struct keyring_key *key = keyring_find(keyring, frame->key_id);
	uint8_t mac[KEYRING_MAC_BYTES];

	if (frame->key_id[0] == '\0') {
		return -ENOMSG;
	}
	if (!key) {
		return -ENOKEY;
	}
	sign(key, frame, bytes, mac);
	return keyring_macs_equal(mac, frame->mac) ? 0 : -EKEYREJECTED;
}

/* Bytes after the last frame are an error, because otherwise they would be ignored without notice. */
static int read_end(const struct bundle_reader *reader)
{
	const bool more = fgetc(reader->stream) != EOF;

	return ferror(reader->stream) ? -errno : more || reader->damaged ? -EBADMSG : 0;
}

static int skip_bytes(FILE *stream, uint64_t size)
{
	while (size > 0 && getc(stream) != EOF) {
		size--;
	}
	return size == 0 ? 1 : ferror(stream) ? -errno : -EBADMSG;
}

/* A damaged entry is skipped, because its frame tells where it ends. Its signature is verified before it is parsed. */
int bundle_read_next(struct bundle_reader *reader, struct entry **ret_entry)
{
	struct frame frame;
	uint8_t *bytes;
	int rc = read_bytes(reader->stream, &frame, sizeof(frame));

	*ret_entry = NULL;
	if (rc < 0 || frame.size == 0) {
		return rc < 0 ? rc : read_end(reader);
	}
	if (frame.size >= ENTRY_BYTES_MAX) {
		return -EBADMSG;
	}
	if (frame.size > reader->limit) {
		reader->large++;
		return skip_bytes(reader->stream, frame.size);
	}
	bytes = malloc(frame.size);
	if (!bytes) {
		return -ENOMEM;
	}
	rc = read_bytes(reader->stream, bytes, frame.size);
	if (rc == 0 && reader->keyring) {
		rc = judge(reader->keyring, &frame, bytes);
	}
	if (rc < 0 || entry_adopt(bytes, frame.size, ret_entry) < 0) {
		free(bytes);
		reader->damaged = true;
	}
	return rc < 0 ? rc : 1;
}
