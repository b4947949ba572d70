/* SPDX-License-Identifier: MIT */
/*
 * key: finds the key that begins with the given digits, and reads the entries under it
 *
 * Purpose: people write the first digits of a key, as `ls` shows them. Finding the key reads file names and no entry.
 * If the text has two digits or more, only the shard that they name is searched.
 *
 * Calling sequence: key_find(), key_read(), key_release(). Errors: reported on stderr. Threads: one. Ownership: the
 * list holds a reference to each entry until key_release().
 */
#ifndef CLI_KEY_H
#define CLI_KEY_H

#include "cache/digits.h"
#include "cache/settings.h"
#include "cache/store.h"
#include "cache/tools/inventory.h"

#include <stdbool.h>

#define KEY_TEXT_BYTES DIGITS_BYTES(ENTRY_KEY_BYTES)
#define KEY_SHORT      8 /* digits of a key in tables and messages */

/*
 * Finds the only key that begins with `text`. Returns EXIT_DONE; EXIT_USAGE if the text is not hexadecimal digits or is
 * longer than a key; EXIT_TROUBLE if no key or several keys begin with it, or if the directory cannot be read.
 */
int key_find(const struct settings *settings, const char *text, struct inventory_record *ret_record);

struct key_entries {
	struct entry *list[STORE_RESULTS_MAX]; /* newest first */
	size_t count;
};

/*
 * Reads all entries under a key. Returns EXIT_DONE, or EXIT_TROUBLE after a message if an entry could not be read; the
 * list then has the other entries. The caller calls key_release() in both cases.
 */
int key_read(const struct settings *settings, const uint8_t key[ENTRY_KEY_BYTES], struct key_entries *ret_entries);
void key_release(struct key_entries *entries);

/* Writes the key as hexadecimal digits. Returns the text. */
const char *key_spell(const uint8_t key[ENTRY_KEY_BYTES], char ret_text[KEY_TEXT_BYTES]);

#endif
