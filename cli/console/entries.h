/* SPDX-License-Identifier: MIT */
/*
 * entries: finds the key that begins with the given digits and reads its entries; reads all entries of a directory
 *
 * Purpose: people write the first digits of a key, as `ls` shows them. Finding the key reads file names and no entry.
 * A reading has the least recently used entry first, and shows a progress bar.
 *
 * Calling sequence: key_open(), key_release(); reading_begin(), reading_each(), reading_end(). Errors: of a
 * key, reported on stderr; of a reading, those of cache/tools/inventory.h; -EINTR after a signal (interrupt_hold()); a
 * negative value that `visit` returns ends the reading and is returned. Files that are damaged, not trusted or not
 * readable are skipped and counted. Threads: one. Ownership: the list of a key holds a reference to each entry until
 * key_release(); an entry of a reading is valid only during the call of `visit`, unless `visit` takes a reference.
 */
#ifndef CLI_CONSOLE_ENTRIES_H
#define CLI_CONSOLE_ENTRIES_H

#include "cache/digits.h"
#include "cache/settings.h"
#include "cache/store.h"
#include "cache/tools/inventory.h"

#include <stdbool.h>

#define KEY_TEXT_BYTES DIGITS_BYTES(ENTRY_KEY_BYTES)
#define KEY_SHORT      8 /* digits of a key in tables and messages */

/* Returns false, after a message, if the text is no beginning of a key: other than its digits, or too many. */
bool key_check(const char *text);

struct key_entries {
	struct inventory_record record;        /* of their file */
	struct entry *list[STORE_RESULTS_MAX]; /* newest last */
	size_t count;
};

/*
 * Finds the only key that begins with `text`, and reads all entries under it. Returns EXIT_DONE. After a message
 * returns EXIT_USAGE if the text is not hexadecimal digits or is longer than a key; EXIT_TROUBLE if no key or several
 * keys begin with it, or if the directory or an entry cannot be read; the list then has the other entries. The caller
 * calls key_release() in all cases.
 */
int key_open(const struct settings *settings, const char *text, struct key_entries *ret_entries);
void key_release(struct key_entries *entries);

/* Writes the key as hexadecimal digits. Returns the text. */
const char *key_spell(const uint8_t key[ENTRY_KEY_BYTES], char ret_text[KEY_TEXT_BYTES]);

/* ---- all entries */

typedef int reading_visit(void *context, const struct entry *entry, int64_t used);

struct reading {
	struct directory directory;
	struct inventory inventory;
	const char *doing;
	uint64_t left_out;   /* files that are damaged, or that others can write */
	uint64_t unreadable; /* files, and directories of files */
	reading_visit *visit;
	void *context;
	int64_t used; /* the file that is read */
	int result;   /* what `visit` returned last */
};

/* Lists the files. `doing` is the text of the bar while entries are read. */
int reading_begin(const struct settings *settings, const char *doing, struct reading *ret_reading);
/* Calls `visit` for each entry with the time when its file was used, in nanoseconds since 1970. */
int reading_each(struct reading *reading, reading_visit *visit, void *context);
/* Releases the reading. Has to be called after a failed reading_begin() too. */
void reading_end(struct reading *reading);

/*
 * Reports on stderr how many files were left out. Returns EXIT_TROUBLE if a file or directory was not readable; damaged
 * and untrusted files do not count as an error.
 */
int reading_report(const struct reading *reading);

#endif
