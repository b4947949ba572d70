/* SPDX-License-Identifier: MIT */
/*
 * Bundles are compressed and decompressed piece by piece, so that only the compressed form is in memory as a whole. The
 * signature is computed over the compressed bytes, so that it can be checked before anything is decompressed.
 */
#include "agent/wire/value.h"

#include "agent/engine/engine.h"

#include <blake2.h>
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAC_BYTES  32
#define ROOM_FIRST 16384
#define WINDOW_LOG 23 /* largest accepted zstd window, 8 MiB; VALUE_THOROUGH uses half of that */

enum { FLAG_SIGNED = 1 };

struct head {
	uint8_t magic[8];
	uint32_t version;
	uint32_t entry_format;
	uint32_t flags;
	uint32_t reserved;
	uint64_t raw_size;
	uint8_t key[ENTRY_KEY_BYTES];
	char key_id[KEYRING_ID_BYTES];
	uint8_t mac[MAC_BYTES];
};

_Static_assert(sizeof(struct head) == VALUE_HEAD_BYTES, "this is a format");

static const uint8_t magic[8] = {0x8e, 'N', 'V', 'E', 'N', 'V', '\r', '\n'};

/* The signature covers the id of the key, so that it cannot be changed to that of another key. */
static bool sign_head(const struct keyring_key *key, const struct head *head, const void *payload, size_t size,
                      uint8_t ret_mac[MAC_BYTES])
{
	blake2b_state state;
	bool done = blake2b_init_key(&state, MAC_BYTES, key->bytes, key->size) == 0 &&
	            blake2b_update(&state, (const uint8_t *)head, offsetof(struct head, mac)) == 0 &&
	            blake2b_update(&state, payload, size) == 0 && blake2b_final(&state, ret_mac, MAC_BYTES) == 0;

	explicit_bzero(&state, sizeof(state));
	return done;
}

/* Compares in constant time, so that timing does not reveal how many bytes of a forged signature are right. */
static bool macs_equal(const uint8_t *one, const uint8_t *other)
{
	unsigned difference = 0;

	for (size_t i = 0; i < MAC_BYTES; i++) {
		difference |= one[i] ^ other[i];
	}
	return difference == 0;
}

/* ---- making one */

/* Doubles the buffer, up to the largest value that an engine accepts. A larger value fails here and not later. */
static int grow_room(struct value_writer *writer)
{
	size_t room = writer->room != 0 ? 2 * writer->room : ROOM_FIRST;
	uint8_t *grown;

	room = room < ENGINE_VALUE_MAX ? room : ENGINE_VALUE_MAX;
	if (room == writer->room) {
		return -EFBIG;
	}
	grown = realloc(writer->value, room);
	if (grown == NULL) {
		return -ENOMEM;
	}
	writer->value = grown;
	writer->room = room;
	return 0;
}

/* Every zstd error means lack of memory here, because input and parameters are valid. */
static int pack_bytes(struct value_writer *writer, const void *bytes, size_t size, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = {.src = bytes, .size = size};
	size_t left = 1;

	while (how == ZSTD_e_end ? left != 0 : in.pos < in.size) {
		ZSTD_outBuffer out;
		int error = writer->size == writer->room ? grow_room(writer) : 0;

		if (error != 0) {
			return error;
		}
		out = (ZSTD_outBuffer){.dst = writer->value, .size = writer->room, .pos = writer->size};
		left = ZSTD_compressStream2(writer->packer, &out, &in, how);
		if (ZSTD_isError(left)) {
			return -ENOMEM;
		}
		writer->size = out.pos;
	}
	return 0;
}

/* zstd writes the pledged size into the frame and adapts its tables to it. */
int value_begin(struct value_writer *ret_writer, enum value_effort effort, uint64_t raw_size, uint64_t raw_max)
{
	struct value_writer writer = {.packer = ZSTD_createCCtx(), .size = VALUE_HEAD_BYTES, .raw_max = raw_max};

	if (writer.packer == NULL || grow_room(&writer) != 0 ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(writer.packer, ZSTD_c_compressionLevel, (int)effort)) ||
	    (raw_size != 0 && ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(writer.packer, raw_size)))) {
		value_abandon(&writer);
		return -ENOMEM;
	}
	*ret_writer = writer;
	return 0;
}

/* The sum of the sizes becomes the field `raw_size` of the head. */
int value_write(void *context, const void *bytes, size_t size)
{
	struct value_writer *writer = context;

	if (size > writer->raw_max - writer->raw_size) {
		return -EFBIG;
	}
	writer->raw_size += size;
	return pack_bytes(writer, bytes, size, ZSTD_e_continue);
}

/* The head is written last into the room left for it, because size and signature are known only then. */
int value_end(struct value_writer *writer, const uint8_t key[ENTRY_KEY_BYTES], const struct keyring *keyring,
              void **ret_value, size_t *ret_size)
{
	struct head head = {.version = htole32(VALUE_VERSION),
	                    .entry_format = htole32(ENTRY_FORMAT),
	                    .flags = htole32(keyring != NULL ? FLAG_SIGNED : 0),
	                    .raw_size = htole64(writer->raw_size)};
	int error = pack_bytes(writer, NULL, 0, ZSTD_e_end);

	memcpy(head.magic, magic, sizeof(magic));
	memcpy(head.key, key, sizeof(head.key));
	if (error == 0 && keyring != NULL) {
		memcpy(head.key_id, keyring->keys[0].id, sizeof(head.key_id));
		error = sign_head(&keyring->keys[0], &head, writer->value + sizeof(head), writer->size - sizeof(head),
		                  head.mac)
		            ? 0
		            : -ENOMEM;
	}
	if (error == 0) {
		memcpy(writer->value, &head, sizeof(head));
		*ret_value = writer->value;
		*ret_size = writer->size;
		writer->value = NULL;
	}
	value_abandon(writer);
	return error;
}

/* value_end() calls this too, after it has moved the value out of the writer. */
void value_abandon(struct value_writer *writer)
{
	ZSTD_freeCCtx(writer->packer);
	free(writer->value);
	*writer = (struct value_writer){.packer = NULL};
}

/* ---- opening one */

/* Rejects flags of later versions, because they may change the meaning of the other fields. */
static enum value_found judge_head(const struct head *head, const uint8_t key[ENTRY_KEY_BYTES], uint64_t raw_max)
{
	if (memcmp(head->magic, magic, sizeof(magic)) != 0 || head->version != htole32(VALUE_VERSION) ||
	    head->entry_format != htole32(ENTRY_FORMAT) || (le32toh(head->flags) & ~(uint32_t)FLAG_SIGNED) != 0 ||
	    head->reserved != 0) {
		return VALUE_FOREIGN;
	}
	if (memcmp(head->key, key, sizeof(head->key)) != 0) {
		return VALUE_OTHER_KEY;
	}
	return le64toh(head->raw_size) > raw_max ? VALUE_LARGE : VALUE_SOUND;
}

/*
 * Checks the signature. VALUE_TRUST_ENGINE (--trust-engine) accepts values without a signature or with an unknown key,
 * but never a value whose signature by a known key is wrong.
 */
static enum value_found judge_signature(const struct head *head, const void *payload, size_t size,
                                        const struct keyring *keyring, enum value_trust trust)
{
	const struct keyring_key *key = keyring_find(keyring, head->key_id);
	uint8_t mac[MAC_BYTES];

	if ((le32toh(head->flags) & FLAG_SIGNED) == 0) {
		return trust == VALUE_TRUST_ENGINE ? VALUE_SOUND : VALUE_UNSIGNED;
	}
	if (key == NULL) {
		return trust == VALUE_TRUST_ENGINE ? VALUE_SOUND : VALUE_UNKNOWN_KEY;
	}
	return sign_head(key, head, payload, size, mac) && macs_equal(mac, head->mac) ? VALUE_SOUND : VALUE_FORGED;
}

/* The head is checked first, so that a wrong value is rejected before a signature is computed over megabytes. */
enum value_found value_open(const void *value, size_t size, const uint8_t key[ENTRY_KEY_BYTES],
                            const struct keyring *keyring, enum value_trust trust, uint64_t raw_max,
                            struct value_reader *ret_reader)
{
	struct value_reader reader = {.ended = false};
	enum value_found found;
	struct head head;

	if (size < sizeof(head)) {
		return VALUE_FOREIGN;
	}
	memcpy(&head, value, sizeof(head));
	reader.in = (ZSTD_inBuffer){.src = (const uint8_t *)value + sizeof(head), .size = size - sizeof(head)};
	reader.left = le64toh(head.raw_size);
	found = judge_head(&head, key, raw_max);
	if (found == VALUE_SOUND) {
		found = judge_signature(&head, reader.in.src, reader.in.size, keyring, trust);
	}
	if (found != VALUE_SOUND) {
		return found;
	}
	reader.unpacker = ZSTD_createDCtx();
	if (reader.unpacker == NULL ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(reader.unpacker, ZSTD_d_windowLogMax, WINDOW_LOG))) {
		value_close(&reader);
		return VALUE_NO_MEMORY;
	}
	*ret_reader = reader;
	return VALUE_SOUND;
}

/*
 * Rejects a frame that is shorter or longer than the head says. The limit on decompressed bytes stops a small value
 * that would decompress to gigabytes.
 */
ssize_t value_read(void *context, void *bytes, size_t size)
{
	struct value_reader *reader = context;
	ZSTD_outBuffer out = {.dst = bytes, .size = size};

	while (!reader->ended && out.pos == 0) {
		size_t before = reader->in.pos;
		size_t more = ZSTD_decompressStream(reader->unpacker, &out, &reader->in);

		reader->ended = more == 0;
		if (ZSTD_isError(more) || out.pos > reader->left ||
		    (!reader->ended && out.pos == 0 && reader->in.pos == before)) {
			return -EBADMSG;
		}
		reader->left -= out.pos;
		/* the value is one frame, with the size in the head, and no bytes follow the frame */
		if (reader->ended && (reader->left != 0 || reader->in.pos != reader->in.size)) {
			return -EBADMSG;
		}
	}
	return (ssize_t)out.pos;
}

void value_close(struct value_reader *reader)
{
	ZSTD_freeDCtx(reader->unpacker);
	reader->unpacker = NULL;
}

/* Messages print these texts after the name of a bundle and a colon. */
const char *value_words(enum value_found found)
{
	static const char *const words[VALUE_FOUNDS] = {
	    [VALUE_SOUND] = "sound",
	    [VALUE_FOREIGN] = "another kind or format of value",
	    [VALUE_LARGE] = "too large",
	    [VALUE_OTHER_KEY] = "written under another name",
	    [VALUE_UNSIGNED] = "not signed; --trust-engine accepts unsigned values",
	    [VALUE_UNKNOWN_KEY] = "signed with a key that is not in --key-file",
	    [VALUE_FORGED] = "wrong signature: damaged, cut or forged",
	    [VALUE_DAMAGED] = "damaged",
	    [VALUE_NO_MEMORY] = "out of memory",
	};

	return words[found];
}

/* ---- names */

/* The allowed characters need no quoting in a shell, and cannot break a line of a message. */
bool value_name_allowed(const char *name)
{
	size_t size = strlen(name);

	for (const char *at = name; *at != '\0'; at++) {
		if (!isalnum((unsigned char)*at) && strchr("._-+@:/", *at) == NULL) {
			return false;
		}
	}
	return size > 0 && size <= VALUE_NAME_MAX;
}

/* The fixed prefix keeps these keys distinct from those of requests. */
void value_name_key(const char *name, uint8_t ret_key[ENTRY_KEY_BYTES])
{
	static const char kind[] = "nvrtccache bundle"; /* with its NUL */
	blake2b_state state;

	(void)blake2b_init(&state, ENTRY_KEY_BYTES);
	(void)blake2b_update(&state, (const uint8_t *)kind, sizeof(kind));
	(void)blake2b_update(&state, (const uint8_t *)name, strlen(name));
	(void)blake2b_final(&state, ret_key, ENTRY_KEY_BYTES);
}
