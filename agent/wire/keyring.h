/* SPDX-License-Identifier: MIT */
/*
 * keyring: the keys that sign values (docs/DESIGN.md G4)
 *
 * A text file with "id hex" on each line: an id of at most 15 letters, digits, '.', '_' and '-', and 32 to 64 bytes in
 * lowercase hexadecimal. The first key signs, and signatures of all keys are accepted. To rotate keys: add the new key
 * at the end on every node, then move it to the top, and remove the old key when its values are no longer needed. Empty
 * lines and lines that begin with '#' are ignored. Only this user may have access to the file
 * (agent/engine/secret_file.h).
 *
 * Calling sequence: keyring_read(), keyring_find(), keyring_free(). Errors: negative errno values, with a text:
 * -EACCES, -EINVAL for a malformed line, -ENODATA for a file without a key. Threads: a ring is never changed.
 * Ownership: the keys belong to the ring, and are zeroed when it is freed.
 */
#ifndef AGENT_WIRE_KEYRING_H
#define AGENT_WIRE_KEYRING_H

#include <stddef.h>
#include <stdint.h>

#define KEYRING_KEYS_MAX  16
#define KEYRING_ID_BYTES  16 /* padded with zeros */
#define KEYRING_KEY_BYTES 64
#define KEYRING_KEY_LEAST 32
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

/* Returns the key with that id; NULL if there is none. */
const struct keyring_key *keyring_find(const struct keyring *keyring, const char id[KEYRING_ID_BYTES]);

#endif
