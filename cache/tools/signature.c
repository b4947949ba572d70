/* SPDX-License-Identifier: MIT */
#include "cache/tools/signature.h"

#include "cache/calls.h"
#include "cache/tools/secret_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define PIECE_BYTES 65536

struct trailer {
	uint8_t magic[8];
	uint8_t reserved[8];
	char key_id[KEYRING_ID_BYTES];
	uint8_t mac[KEYRING_MAC_BYTES];
};

_Static_assert(sizeof(struct trailer) == SIGNATURE_BYTES, "this is a format");

static const uint8_t magic[8] = {0x8e, 'N', 'V', 'S', 'I', 'G', '\r', '\n'};

void signature_begin(struct signature *ret_signature, const struct keyring_key *key)
{
	ret_signature->key = key;
	(void)blake2b_init_key(&ret_signature->state, KEYRING_MAC_BYTES, key->bytes, key->size);
}

void signature_add(struct signature *signature, const void *bytes, size_t size)
{
	(void)blake2b_update(&signature->state, bytes, size);
}

void signature_end(struct signature *signature, uint8_t ret_bytes[SIGNATURE_BYTES])
{
	struct trailer trailer = {.reserved = {0}};

	memcpy(trailer.magic, magic, sizeof(magic));
	memcpy(trailer.key_id, signature->key->id, sizeof(trailer.key_id));
	(void)blake2b_final(&signature->state, trailer.mac, sizeof(trailer.mac));
	secret_wipe(&signature->state, sizeof(signature->state));
	memcpy(ret_bytes, &trailer, sizeof(trailer));
}

/* Computes the end that the first `size` bytes of a file would have. */
static int sign_file(int file, uint64_t size, const struct keyring_key *key, uint8_t ret_bytes[SIGNATURE_BYTES])
{
	static uint8_t piece[PIECE_BYTES];
	struct signature signature;

	signature_begin(&signature, key);
	for (uint64_t at = 0; at < size;) {
		size_t most = size - at < PIECE_BYTES ? (size_t)(size - at) : PIECE_BYTES;
		ssize_t got = call_pread(file, piece, most, (off_t)at);

		if (got <= 0) {
			return got < 0 ? -errno : -EIO;
		}
		signature_add(&signature, piece, (size_t)got);
		at += (uint64_t)got;
	}
	signature_end(&signature, ret_bytes);
	return 0;
}

int signature_verify(int file, const struct keyring *keyring, uint64_t *ret_size)
{
	struct trailer expected;
	struct trailer trailer;
	const struct keyring_key *key;
	struct stat found;
	off_t end;
	int error;

	if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) {
		return -ESPIPE;
	}
	*ret_size = (uint64_t)found.st_size;
	end = found.st_size - (off_t)sizeof(trailer);
	if (end < 0 || call_pread(file, &trailer, sizeof(trailer), end) != (ssize_t)sizeof(trailer) ||
	    memcmp(trailer.magic, magic, sizeof(magic)) != 0) {
		return -ENOMSG;
	}
	*ret_size = (uint64_t)end;
	key = keyring_find(keyring, trailer.key_id);
	if (key == NULL) {
		return keyring != NULL ? -ENOKEY : 0;
	}
	error = sign_file(file, (uint64_t)end, key, (uint8_t *)&expected);
	if (error != 0) {
		return error;
	}
	return keyring_macs_equal(trailer.mac, expected.mac) ? 0 : -EKEYREJECTED;
}
