/* SPDX-License-Identifier: MIT */
/*
 * keyring: reads files with secrets: the keys that sign values, and passwords (docs/DESIGN.md G4)
 *
 * A key file is a text file with "id hex" on each line: an id of at most 15 letters, digits, '.', '_' and '-', and 32
 * to 64 bytes in lowercase hexadecimal. The first key signs, and signatures of all keys are accepted (docs/FLEET.md has
 * the steps to replace a key). Empty lines and lines that begin with '#' are ignored. Only this user may have access to
 * the files.
 *
 * Calling sequence: keyring_read(), keyring_find(). Errors: negative errno values. -EACCES: a user other than this one
 * and root owns the file, or the group or others have any permission; -EFBIG: longer than 64 KiB; -EINVAL: a malformed
 * line, a NUL, or not a regular file; -ENODATA: no key, or an empty first line.
 * Threads: a ring is never changed. Ownership: keys that are found are in the ring, which must stay where it is; the
 * caller frees passwords.
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

/* After an error `ret_text` says what is wrong. */
int keyring_read(const char *path, struct keyring *ret_keyring, char ret_text[KEYRING_TEXT_MAX]);
/* Parses text in memory. A positive value is the number of a malformed line. */
int keyring_parse(const char *text, struct keyring *ret_keyring);

/* Computes the keyed BLAKE2b-256 of two pieces of bytes, one after the other. */
void keyring_sign(const struct keyring_key *key, const void *first, size_t first_size, const void *second,
                  size_t second_size, uint8_t ret_mac[KEYRING_MAC_BYTES]);
/* Compares in constant time, so that timing does not reveal how many bytes of a forged signature are right. */
bool keyring_macs_equal(const uint8_t one[KEYRING_MAC_BYTES], const uint8_t other[KEYRING_MAC_BYTES]);

/* Returns the key with that id; NULL if there is none. */
const struct keyring_key *keyring_find(const struct keyring *keyring, const char id[KEYRING_ID_BYTES]);

/* Reads the first line of a file without its line break, for a password or token. */
int keyring_password(const char *path, char **ret_line);
/* Returns the text for an error of this function. */
const char *keyring_reason(int error);

#endif
