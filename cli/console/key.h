/* SPDX-License-Identifier: MIT */
/*
 * key: the key of the cache directory that a text is the beginning of
 *
 * Purpose: people write the first digits of a key, as `ls` shows them. No result is read for that, and only the shard
 * that the first two digits name is looked through.
 *
 * Calling sequence: key_find(), then inventory_read() of that key. Errors: said on stderr; of several keys that begin so,
 * the first few. Threads: one.
 */
#ifndef CLI_KEY_H
#define CLI_KEY_H

#include "cache/digits.h"
#include "cache/settings.h"
#include "cache/tools/inventory.h"

#define KEY_TEXT_BYTES DIGITS_BYTES(ENTRY_KEY_BYTES)
#define KEY_SHORT      8 /* digits, where people see a key */

/* EXIT_DONE; EXIT_USAGE: no beginning of a key; EXIT_TROUBLE: none of the directory's, or several. */
int key_find(const struct settings *settings, const char *text, struct inventory_record *ret_record);

void key_spell(const uint8_t key[ENTRY_KEY_BYTES], char ret_text[KEY_TEXT_BYTES]);

#endif
