/* SPDX-License-Identifier: MIT */
/*
 * key: the key that a text is the beginning of, and the entries under it
 *
 * Purpose: people write the first digits of a key, as `ls` shows them. No entry is read to find the key, and only the
 * shard that the first two digits name is searched.
 *
 * Calling sequence: key_find(), key_read(), key_release(). Errors: reported on stderr; if several keys begin with the
 * text, the first few are named. Threads: one. Ownership: the entries are the list's.
 */
#ifndef CLI_KEY_H
#define CLI_KEY_H

#include "cache/digits.h"
#include "cache/settings.h"
#include "cache/store.h"
#include "cache/tools/inventory.h"

#define KEY_TEXT_BYTES DIGITS_BYTES(ENTRY_KEY_BYTES)
#define KEY_SHORT      8 /* digits, where people see a key */

/* EXIT_DONE; EXIT_USAGE: no hexadecimal digits; EXIT_TROUBLE: no key begins with them, or several. */
int key_find(const struct settings *settings, const char *text, struct inventory_record *ret_record);

struct key_entries {
	struct entry *list[STORE_RESULTS_MAX]; /* newest first */
	size_t count;
};

/* EXIT_TROUBLE: an entry could not be read; the others are in the list all the same. */
int key_read(const struct settings *settings, const uint8_t key[ENTRY_KEY_BYTES], struct key_entries *ret_entries);
void key_release(struct key_entries *entries);

void key_spell(const uint8_t key[ENTRY_KEY_BYTES], char ret_text[KEY_TEXT_BYTES]);

#endif
