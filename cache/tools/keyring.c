/* SPDX-License-Identifier: MIT */
/*
 * A key file is parsed line by line, strictly, so that a mistake is reported when the agent starts and not when a value
 * is rejected a week later. Copies of secrets in memory are not zeroed: the agent needs them until it ends, and leaves
 * no core file.
 */
#include "cache/tools/keyring.h"

#include "cache/calls.h"
#include "cache/digits.h"

#include <blake2.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX 65536
#define BLANKS   " \t\r"

/* ---- files ---- */

/* Checks the open file, not the path, which could change. Root may own the file, as with credentials of systemd. */
static int judge_file(const struct stat *found)
{
	if (!S_ISREG(found->st_mode)) {
		return -EINVAL;
	}
	if ((found->st_uid != geteuid() && found->st_uid != 0) || (found->st_mode & (S_IRWXG | S_IRWXO)) != 0) {
		return -EACCES;
	}
	return found->st_size > FILE_MAX ? -EFBIG : 0;
}

/* Reads a text file, and up to one byte more than the limit, to detect a file that has grown beyond it. */
static int read_file(const char *path, char **ret_text)
{
	/* O_NONBLOCK, because the open of a FIFO would block */
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char *text = NULL;
	struct stat found;
	ssize_t size;
	int error;

	if (file < 0) {
		return -errno;
	}
	error = fstat(file, &found) != 0 ? -errno : judge_file(&found);
	if (error == 0) {
		text = calloc(1, FILE_MAX + 2);
		size = text == NULL ? -1 : call_pread(file, text, FILE_MAX + 1, 0);
		if (size < 0) {
			error = text == NULL ? -ENOMEM : -errno;
		} else if (size > FILE_MAX) {
			error = -EFBIG;
		} else if (memchr(text, '\0', (size_t)size) != NULL) {
			error = -EINVAL;
		}
	}
	close(file);
	if (error != 0) {
		free(text);
		return error;
	}
	*ret_text = text;
	return 0;
}

/* Only the first line is used, because editors end a file with a line break that is not part of the password. */
int keyring_password(const char *path, char **ret_line)
{
	char *text;
	size_t length;
	int error = read_file(path, &text);

	if (error != 0) {
		return error;
	}
	length = strcspn(text, "\r\n");
	if (length == 0) {
		free(text);
		return -ENODATA;
	}
	text[length] = '\0';
	*ret_line = text;
	return 0;
}

const char *keyring_reason(int error)
{
	switch (error) {
	case -EACCES:
		return "not used: it must belong to you, and must not be accessible to others (chmod 600)";
	case -EFBIG:
		return "longer than 64 KiB";
	case -EINVAL:
		return "not a text file";
	case -ENODATA:
		return "its first line is empty";
	default:
		return strerror(-error);
	}
}

/* ---- keys ---- */

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
int keyring_parse(const char *text, struct keyring *ret_keyring)
{
	struct keyring keyring = {.count = 0};
	int number = 1, error = 0;

	for (const char *line = text; *line != '\0' && error == 0; number++) {
		size_t size = strcspn(line, "\n");

		if (!is_empty(line)) {
			struct keyring_key *key = keyring.keys + keyring.count;

			if (keyring.count == KEYRING_KEYS_MAX || !parse_line(line, key) ||
			    keyring_find(&keyring, key->id) != NULL) {
				error = number;
			}
			keyring.count += error == 0;
		}
		line += size + (line[size] == '\n');
	}
	error = error == 0 && keyring.count == 0 ? -ENODATA : error;
	if (error == 0) {
		*ret_keyring = keyring;
	}
	return error;
}

int keyring_read(const char *path, struct keyring *ret_keyring, char ret_text[KEYRING_TEXT_MAX])
{
	char *text = NULL;
	int error = read_file(path, &text);

	error = error ? error : keyring_parse(text, ret_keyring);
	free(text);
	if (error > 0) {
		snprintf(ret_text, KEYRING_TEXT_MAX,
		         "%.128s, line %d: it takes a unique id and 64 to 128 lowercase hexadecimal digits", path,
		         error);
	} else if (error < 0) {
		snprintf(ret_text, KEYRING_TEXT_MAX, "%.128s: %s", path,
		         error == -ENODATA ? "contains no key" : keyring_reason(error));
	}
	return error > 0 ? -EINVAL : error;
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
