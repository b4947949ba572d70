/* SPDX-License-Identifier: MIT */
/* The signature covers the compressed bytes, so that it can be checked before anything is decompressed. */
#include "agent/wire/value.h"

#include "agent/engine/engine.h"
#include "cache/source.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LEVEL 3 /* level 1 saves hardly any time and no bytes; 6 saves a twentieth and takes three times as long */

struct head {
	uint8_t magic[8];
	uint32_t version;
	uint32_t entry_format;
	uint64_t raw_size;
	uint8_t key[ENTRY_KEY_BYTES];
	char key_id[KEYRING_ID_BYTES];
	uint8_t mac[KEYRING_MAC_BYTES];
};

_Static_assert(sizeof(struct head) == VALUE_HEAD_BYTES, "this is a format");

static const uint8_t magic[8] = {0x8e, 'N', 'V', 'E', 'N', 'V', '\r', '\n'};

void results_free(struct results *results)
{
	while (results->count > 0) {
		entry_unref(results->entries[--results->count]);
	}
}

/* ---- making one */

static uint8_t *join_entries(const struct results *results, uint64_t raw_size)
{
	uint8_t *raw = malloc(raw_size);

	for (size_t i = results->count, at = 0; raw != NULL && i > 0; i--) {
		size_t size;
		const void *bytes = entry_bytes(results->entries[i - 1], &size);

		memcpy(raw + at, bytes, size);
		at += size;
	}
	return raw;
}

/* Every zstd error means lack of memory here, because the buffer is large enough for any input. */
static int pack(const uint8_t *raw, uint64_t raw_size, uint8_t **ret_value, size_t *ret_size)
{
	size_t room = ZSTD_compressBound(raw_size);
	uint8_t *value = malloc(VALUE_HEAD_BYTES + room);
	size_t packed = value != NULL ? ZSTD_compress(value + VALUE_HEAD_BYTES, room, raw, raw_size, LEVEL) : 0;

	if (value == NULL || ZSTD_isError(packed)) {
		free(value);
		return -ENOMEM;
	}
	*ret_value = value;
	*ret_size = VALUE_HEAD_BYTES + packed;
	return 0;
}

int value_seal(const struct results *results, const uint8_t key[ENTRY_KEY_BYTES], const struct keyring *keyring,
               uint64_t raw_max, void **ret_value, size_t *ret_size)
{
	struct head head = {.version = htole32(VALUE_VERSION), .entry_format = htole32(ENTRY_FORMAT)};
	uint64_t raw_size = 0;
	uint8_t *value = NULL;
	uint8_t *raw;
	int error;

	for (size_t i = 0; i < results->count; i++) {
		raw_size += entry_info(results->entries[i])->total_size;
	}
	if (raw_size == 0 || raw_size > raw_max) {
		return -EFBIG;
	}
	raw = join_entries(results, raw_size);
	error = raw != NULL ? pack(raw, raw_size, &value, ret_size) : -ENOMEM;
	free(raw);
	if (error != 0) {
		return error;
	}
	memcpy(head.magic, magic, sizeof(magic));
	head.raw_size = htole64(raw_size);
	memcpy(head.key, key, sizeof(head.key));
	if (keyring != NULL) {
		memcpy(head.key_id, keyring->keys[0].id, sizeof(head.key_id));
		keyring_sign(&keyring->keys[0], &head, offsetof(struct head, mac), value + sizeof(head),
		             *ret_size - sizeof(head), head.mac);
	}
	memcpy(value, &head, sizeof(head));
	*ret_value = value;
	return 0;
}

/* ---- opening one */

static enum value_found judge(const struct head *head, const uint8_t *key, const struct value_rules *rules,
                              const struct keyring_key **ret_signer)
{
	*ret_signer = keyring_find(rules->keyring, head->key_id);
	if (memcmp(head->magic, magic, sizeof(magic)) != 0 || head->version != htole32(VALUE_VERSION) ||
	    head->entry_format != htole32(ENTRY_FORMAT)) {
		return VALUE_FOREIGN;
	}
	if (memcmp(head->key, key, sizeof(head->key)) != 0) {
		return VALUE_OTHER_KEY;
	}
	if (le64toh(head->raw_size) > rules->raw_max) {
		return VALUE_LARGE;
	}
	if (*ret_signer != NULL) {
		return *ret_signer == rules->keyring->keys ? VALUE_SOUND : VALUE_AGED;
	}
	if (rules->trust == VALUE_TRUST_ENGINE) {
		return rules->keyring == NULL ? VALUE_SOUND : VALUE_AGED;
	}
	return VALUE_FORGED;
}

/*
 * Decompresses into exactly `raw_size` bytes. A frame of another size is rejected, and so are bytes after the frame:
 * ZSTD_decompress() fails on them, and would take a second frame, which the size of the first one excludes.
 */
static uint8_t *unpack(const uint8_t *packed, size_t size, uint64_t raw_size)
{
	uint8_t *raw = NULL;

	if (raw_size > 0 && ZSTD_getFrameContentSize(packed, size) == raw_size) {
		raw = malloc(raw_size);
	}
	if (raw != NULL && ZSTD_decompress(raw, raw_size, packed, size) != raw_size) {
		free(raw);
		raw = NULL;
	}
	return raw;
}

static int add_result(void *context, const struct entry *entry)
{
	struct results *results = context;

	results->entries[results->count++] = entry_ref((struct entry *)entry); /* it was made for this visit */
	return 0;
}

/* Reads the results of the key like those of a file, and frees the bytes. Any other bytes are an error. */
static bool read_results(uint8_t *raw, uint64_t size, const uint8_t *key, struct results *ret_results)
{
	struct source source = {.file = -1, .size = size, .bytes = raw, .have = size};
	uint64_t end;
	bool is_sound;

	ret_results->count = 0;
	is_sound = source_each(&source, key, add_result, ret_results, &end) == 0 && end == size;
	source_close(&source);
	if (!is_sound) {
		results_free(ret_results);
	}
	return is_sound;
}

enum value_found value_open(const void *value, size_t size, const uint8_t key[ENTRY_KEY_BYTES],
                            const struct value_rules *rules, struct results *ret_results)
{
	const struct keyring_key *signer;
	uint8_t mac[KEYRING_MAC_BYTES];
	enum value_found found;
	const uint8_t *packed;
	struct head head;
	uint8_t *raw;

	if (size < sizeof(head)) {
		return VALUE_FOREIGN;
	}
	memcpy(&head, value, sizeof(head));
	packed = (const uint8_t *)value + sizeof(head);
	size -= sizeof(head);
	found = judge(&head, key, rules, &signer);
	if (found != VALUE_SOUND && found != VALUE_AGED) {
		return found;
	}
	if (signer != NULL) {
		keyring_sign(signer, &head, offsetof(struct head, mac), packed, size, mac);
		if (!keyring_macs_equal(mac, head.mac)) {
			return VALUE_FORGED;
		}
	}
	raw = unpack(packed, size, le64toh(head.raw_size));
	return raw != NULL && read_results(raw, le64toh(head.raw_size), key, ret_results) ? found : VALUE_DAMAGED;
}
