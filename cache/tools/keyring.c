/* SPDX-License-Identifier: MIT */
/*
 * The text is parsed line by line, strictly, so that a mistake in a key file is reported when the agent starts and not
 * when a value is rejected a week later.
 */
#include "cache/tools/keyring.h"

#include "cache/digits.h"
#include "cache/tools/secret_file.h"

#include <blake2.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r"

/*
 * Parses "id hex", with blanks around and between. A third word is an error, because it is probably a mistake. Ids may
 * contain only some characters, because --status and error texts print them. A key has at least 32 bytes, because a
 * short one could be guessed, and at most the 64 bytes that BLAKE2b takes.
 */
static bool parse_line(const char *line, struct keyring_key *key)
{
	char hex[2 * KEYRING_KEY_BYTES + 1] = "";
	int end = 0;
	bool fine;

	line += strspn(line, BLANKS);
	fine = sscanf(line, "%15[A-Za-z0-9._-]%*[ \t\r]%128[0-9a-f]%n", key->id, hex, &end) == 2 &&
	       strchr("\n", line[end + (int)strspn(line + end, BLANKS)]) != NULL;
	key->size = strlen(hex) / 2;
	return fine && strlen(hex) % 2 == 0 && key->size >= KEYRING_KEY_LEAST &&
	       digits_parse(hex, key->size, key->bytes);
}

/* Returns whether the line is empty or a comment. */
static bool is_empty(const char *line)
{
	char first = line[strspn(line, BLANKS)];

	return first == '\0' || first == '\n' || first == '#';
}

/* Rejects two keys with the same id, because the second one could never be found. */
int keyring_parse(const char *text, struct keyring **ret_keyring, unsigned *ret_line)
{
	struct keyring *keyring = calloc(1, sizeof(*keyring));
	unsigned number = 1;
	int error = 0;

	if (keyring == NULL) {
		return -ENOMEM;
	}
	for (const char *line = text; *line != '\0' && error == 0; number++) {
		size_t size = strcspn(line, "\n");

		if (!is_empty(line)) {
			struct keyring_key *key = keyring->keys + keyring->count;

			if (keyring->count == KEYRING_KEYS_MAX || !parse_line(line, key) ||
			    keyring_find(keyring, key->id) != NULL) {
				error = -EINVAL;
				*ret_line = number;
			}
			keyring->count += error == 0;
		}
		line += size + (line[size] == '\n');
	}
	error = error == 0 && keyring->count == 0 ? -ENODATA : error;
	if (error != 0) {
		keyring_free(keyring);
		return error;
	}
	*ret_keyring = keyring;
	return 0;
}

int keyring_read(const char *path, struct keyring **ret_keyring, char ret_text[KEYRING_TEXT_MAX])
{
	unsigned line = 0;
	char *text = NULL;
	int error = secret_file_read(path, &text);

	if (error != 0) {
		snprintf(ret_text, KEYRING_TEXT_MAX, "%.128s: %s", path, secret_file_reason(error));
		return error;
	}
	error = keyring_parse(text, ret_keyring, &line);
	free(text);
	if (error == -EINVAL) {
		snprintf(ret_text, KEYRING_TEXT_MAX,
		         "%.128s, line %u: it takes a unique id and 64 to 128 lowercase hexadecimal digits", path,
		         line);
	} else if (error == -ENODATA) {
		snprintf(ret_text, KEYRING_TEXT_MAX, "%.128s: contains no key", path);
	} else if (error != 0) {
		snprintf(ret_text, KEYRING_TEXT_MAX, "%.128s: %s", path, strerror(-error));
	}
	return error;
}

void keyring_free(struct keyring *keyring)
{
	free(keyring);
}

/* The comparison need not take constant time, because ids are public. */
const struct keyring_key *keyring_find(const struct keyring *keyring, const char id[KEYRING_ID_BYTES])
{
	for (size_t i = 0; keyring != NULL && i < keyring->count; i++) {
		if (memcmp(keyring->keys[i].id, id, KEYRING_ID_BYTES) == 0) {
			return &keyring->keys[i];
		}
	}
	return NULL;
}

/* The functions fail only for parameters that are out of range, which the parser excludes. */
void keyring_sign(const struct keyring_key *key, const void *first, size_t first_size, const void *second,
                  size_t second_size, uint8_t ret_mac[KEYRING_MAC_BYTES])
{
	blake2b_state state;

	(void)blake2b_init_key(&state, KEYRING_MAC_BYTES, key->bytes, key->size);
	(void)blake2b_update(&state, first, first_size);
	(void)blake2b_update(&state, second, second_size);
	(void)blake2b_final(&state, ret_mac, KEYRING_MAC_BYTES);
}

bool keyring_macs_equal(const uint8_t one[KEYRING_MAC_BYTES], const uint8_t other[KEYRING_MAC_BYTES])
{
	unsigned difference = 0;

	for (size_t i = 0; i < KEYRING_MAC_BYTES; i++) {
		difference |= one[i] ^ other[i];
	}
	return difference == 0;
}
