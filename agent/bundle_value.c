/* SPDX-License-Identifier: MIT */
#include "agent/bundle_value.h"

#include "agent/engine.h"
#include "cache/bundle.h"

#include <blake2.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define ZSTD_LEVEL  9  /* made once, fetched by every node */
#define WINDOW_LOG  23 /* of what is believed: 8 MB; level 9 takes half of that */
#define PIECE_BYTES 65536

bool bundle_value_name(const char *name)
{
	size_t size = strlen(name);

	for (const char *at = name; *at != '\0'; at++) {
		if (!isalnum((unsigned char)*at) && strchr("._-+@:/", *at) == NULL) {
			return false;
		}
	}
	return size > 0 && size <= BUNDLE_NAME_MAX;
}

void bundle_value_key(const char *name, uint8_t ret_key[ENTRY_KEY_BYTES])
{
	static const char kind[] = "nvrtccache bundle"; /* with its NUL */
	blake2b_state state;

	(void)blake2b_init(&state, ENTRY_KEY_BYTES);
	(void)blake2b_update(&state, (const uint8_t *)kind, sizeof(kind));
	(void)blake2b_update(&state, (const uint8_t *)name, strlen(name));
	(void)blake2b_final(&state, ret_key, ENTRY_KEY_BYTES);
}

/* ---- making one */

struct making {
	int file;
	ZSTD_CCtx *packer;
	uint8_t *value;
	size_t size, room;
	uint64_t raw_size;
};

static int grow(struct making *making)
{
	size_t room = making->room != 0 ? 2 * making->room : 4 * (size_t)PIECE_BYTES;
	uint8_t *grown;

	room = room < ENGINE_VALUE_MAX ? room : ENGINE_VALUE_MAX;
	if (room == making->room) {
		return -EFBIG;
	}
	grown = realloc(making->value, room);
	if (grown == NULL) {
		return -ENOMEM;
	}
	making->value = grown;
	making->room = room;
	return 0;
}

static int pack(struct making *making, const void *bytes, size_t size, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = {.src = bytes, .size = size};
	size_t left = 1;

	making->raw_size += size;
	while (how == ZSTD_e_end ? left != 0 : in.pos < in.size) {
		ZSTD_outBuffer out;
		int error = making->size == making->room ? grow(making) : 0;

		if (error != 0) {
			return error;
		}
		out = (ZSTD_outBuffer){.dst = making->value, .size = making->room, .pos = making->size};
		left = ZSTD_compressStream2(making->packer, &out, &in, how);
		if (ZSTD_isError(left)) {
			return -ENOMEM;
		}
		making->size = out.pos;
	}
	return 0;
}

static ssize_t read_and_pack(void *context, void *bytes, size_t size)
{
	struct making *making = context;
	ssize_t got;
	int error;

	do {
		got = read(making->file, bytes, size);
	} while (got < 0 && errno == EINTR);
	if (got < 0) {
		return -errno;
	}
	error = pack(making, bytes, (size_t)got, ZSTD_e_continue);
	if (error == 0 && making->raw_size > ENVELOPE_BUNDLE_MAX) {
		error = -EFBIG;
	}
	return error != 0 ? error : got;
}

/* Nodes read it all the same if an entry is damaged, but nobody has to put such a one. */
static int read_all(struct making *making, uint64_t *ret_results)
{
	struct bundle_reader reader;
	enum bundle_found found = BUNDLE_ENTRY;
	int error = bundle_read_begin(&reader, 0, read_and_pack, making);

	*ret_results = 0;
	while (error == 0 && found == BUNDLE_ENTRY) {
		struct entry *entry = NULL;

		found = bundle_read_next(&reader, &entry, &error);
		*ret_results += found == BUNDLE_ENTRY;
		entry_unref(entry);
	}
	if (error == 0 && found != BUNDLE_END) {
		error = -EBADMSG;
	}
	return error;
}

int bundle_value_make(int file, const uint8_t key[ENTRY_KEY_BYTES], const struct keyring *keyring,
                      struct bundle_made *ret_made)
{
	struct making making = {.file = file, .packer = ZSTD_createCCtx()};
	uint64_t results = 0;
	int error = making.packer == NULL ? -ENOMEM : grow(&making);

	making.size = ENVELOPE_HEAD_BYTES;
	if (error == 0 && ZSTD_isError(ZSTD_CCtx_setParameter(making.packer, ZSTD_c_compressionLevel, ZSTD_LEVEL))) {
		error = -ENOMEM;
	}
	if (error == 0) {
		error = read_all(&making, &results);
	}
	if (error == 0) {
		error = pack(&making, NULL, 0, ZSTD_e_end);
	}
	if (error == 0) {
		error = envelope_close(key, ENVELOPE_BUNDLE, keyring, making.value, making.size - ENVELOPE_HEAD_BYTES,
		                       making.raw_size);
	}
	ZSTD_freeCCtx(making.packer);
	if (error != 0) {
		free(making.value);
		return error;
	}
	*ret_made = (struct bundle_made){
	    .value = making.value, .size = making.size, .results = results, .raw_size = making.raw_size};
	return 0;
}

/* ---- reading one */

struct bundle_value {
	ZSTD_DCtx *unpacker;
	ZSTD_inBuffer in;
	uint64_t left; /* of what it says it unpacks to */
	bool ended;
};

enum envelope_found bundle_value_open(const void *value, size_t size, const uint8_t key[ENTRY_KEY_BYTES],
                                      const struct keyring *keyring, enum envelope_trust trust,
                                      struct bundle_value **ret_bundle)
{
	struct bundle_value *bundle;
	uint64_t raw_size = 0;
	enum envelope_found found =
	    envelope_check(value, size, key, ENVELOPE_BUNDLE, keyring, trust, ENVELOPE_BUNDLE_MAX, &raw_size);

	if (found != ENVELOPE_SOUND) {
		return found;
	}
	bundle = calloc(1, sizeof(*bundle));
	if (bundle != NULL) {
		bundle->unpacker = ZSTD_createDCtx();
	}
	if (bundle == NULL || bundle->unpacker == NULL ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(bundle->unpacker, ZSTD_d_windowLogMax, WINDOW_LOG))) {
		bundle_value_close(bundle);
		return ENVELOPE_NO_MEMORY;
	}
	bundle->in.src = (const uint8_t *)value + ENVELOPE_HEAD_BYTES;
	bundle->in.size = size - ENVELOPE_HEAD_BYTES;
	bundle->left = raw_size;
	*ret_bundle = bundle;
	return ENVELOPE_SOUND;
}

ssize_t bundle_value_get(void *context, void *bytes, size_t size)
{
	struct bundle_value *bundle = context;
	ZSTD_outBuffer out = {.dst = bytes, .size = size};

	while (!bundle->ended && out.pos == 0) {
		size_t before = bundle->in.pos;
		size_t more = ZSTD_decompressStream(bundle->unpacker, &out, &bundle->in);

		bundle->ended = more == 0;
		if (ZSTD_isError(more) || out.pos > bundle->left ||
		    (!bundle->ended && out.pos == 0 && bundle->in.pos == before)) {
			return -EBADMSG;
		}
		bundle->left -= out.pos;
		/* one frame, of as many bytes as it says, and nothing behind it */
		if (bundle->ended && (bundle->left != 0 || bundle->in.pos != bundle->in.size)) {
			return -EBADMSG;
		}
	}
	return (ssize_t)out.pos;
}

void bundle_value_close(struct bundle_value *bundle)
{
	if (bundle != NULL) {
		ZSTD_freeDCtx(bundle->unpacker);
		free(bundle);
	}
}
