/* SPDX-License-Identifier: MIT */
/*
 * keyring: the keys that sign values (docs/DESIGN.md G4)
 *
 * A text file with "id hex" on each line: an id of at most 15 letters, digits, '.', '_' and '-', and 32 to 64 bytes in
 * lowercase hexadecimal. The first key signs, and signatures of all keys are accepted (docs/FLEET.md has the steps to
 * replace a key). Empty lines and lines that begin with '#' are ignored. Only this user may have access to the file
 * (cache/tools/secret_file.h).
 *
 * Calling sequence: keyring_read(), keyring_find(), keyring_free(). Errors: negative errno values, with a text:
 * -EACCES, -EINVAL for a malformed line, -ENODATA for a file without a key. Threads: a ring is never changed.
 * Ownership: the keys belong to the ring.
 */
#ifndef CACHE_TOOLS_KEYRING_H
#define CACHE_TOOLS_KEYRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEYRING_KEYS_MAX  16
#define KEYRING_ID_BYTES  16 /* padded with zeros */
#define KEYRING_KEY_BYTES 64
#define KEYRING_KEY_LEAST 32
#define KEYRING_MAC_BYTES 32
#define KEYRING_TEXT_MAX  256

struct keyring_key {
	char id[KEYRING_ID_BYTES];
	uint8_t bytes[KEYRING_KEY_BYTES];
	size_t size;
};

struct keyring {
	struct keyring_key keys[KEYRING_KEYS_MAX];
	size_t count;
};

int keyring_read(const char *path, struct keyring **ret_keyring, char ret_text[KEYRING_TEXT_MAX]);
/* Parses text in memory. *ret_line is the number of the wrong line after -EINVAL. */
int keyring_parse(const char *text, struct keyring **ret_keyring, unsigned *ret_line);
void keyring_free(struct keyring *keyring); /* NULL is accepted */

/* Computes the keyed BLAKE2b-256 of two pieces of bytes, one after the other. */
void keyring_sign(const struct keyring_key *key, const void *first, size_t first_size, const void *second,
                  size_t second_size, uint8_t ret_mac[KEYRING_MAC_BYTES]);
/* Compares in constant time, so that timing does not reveal how many bytes of a forged signature are right. */
bool keyring_macs_equal(const uint8_t one[KEYRING_MAC_BYTES], const uint8_t other[KEYRING_MAC_BYTES]);

/* Returns the key with that id; NULL if there is none. */
const struct keyring_key *keyring_find(const struct keyring *keyring, const char id[KEYRING_ID_BYTES]);

#endif
