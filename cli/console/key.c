/* SPDX-License-Identifier: MIT */
#include "cli/console/key.h"

#include "cli/console/console.h"

#include <errno.h>
#include <string.h>

const char *key_spell(const uint8_t key[ENTRY_KEY_BYTES], char ret_text[KEY_TEXT_BYTES])
{
	return digits_spell(key, ENTRY_KEY_BYTES, ret_text);
}

/* Reads names and no entry, so that a damaged entry has a key too. */
int key_find(const struct settings *settings, const char *text, struct inventory_record *ret_record)
{
	const struct directory directory = {.path = settings->directory, .shared = settings->shared};
	struct inventory inventory;
	int status = EXIT_TROUBLE;
	int error;

	/* refused before the directory is read: a typo must not look like a key that has gone */
	if (text[strspn(text, "0123456789abcdefABCDEF")] != '\0' || strlen(text) > KEY_TEXT_BYTES - 1) {
		console_error(
		    "%s: not a key: it takes the first of its %d hexadecimal digits, as 'nvrtccache ls' shows them",
		    text, 2 * ENTRY_KEY_BYTES);
		return EXIT_USAGE;
	}
	error = inventory_take(&directory, text, NULL, &inventory);
	if (error != 0) {
		return console_refuse(settings, error);
	}
	if (inventory.count == 1) {
		*ret_record = inventory.records[0];
		status = EXIT_DONE;
	} else if (inventory.count > 1) {
		console_error("%s: ambiguous key: %zu keys begin with it; 'nvrtccache ls' lists them", text,
		              inventory.count);
		/* "no entry" is not printed here, because an unreadable shard may contain the key */
	} else if (inventory.failures > 0) {
		console_error("%s: %u of its directories cannot be read", settings->directory, inventory.failures);
	} else {
		console_error("%s: no entry in %s has a key that begins with it; 'nvrtccache ls' lists the keys", text,
		              settings->directory);
	}
	inventory_free(&inventory);
	return status;
}

static int take_entry(void *context, const struct entry *entry)
{
	struct key_entries *entries = context;

	/*
	 * The reference makes the entry outlive this call. The cast is safe, because inventory_read() created the entry
	 * and no other thread uses it yet.
	 */
	entries->list[entries->count++] = entry_ref((struct entry *)(uintptr_t)entry);
	return 0;
}

int key_read(const struct settings *settings, const uint8_t key[ENTRY_KEY_BYTES], struct key_entries *ret_entries)
{
	const struct directory directory = {.path = settings->directory, .shared = settings->shared};
	struct key_entries oldest_first = {.count = 0};
	int error = inventory_read(&directory, key, take_entry, &oldest_first);
	char text[KEY_TEXT_BYTES];

	ret_entries->count = oldest_first.count;
	for (size_t i = 0; i < oldest_first.count; i++) {
		/* the file has the oldest entry first; people want the newest */
		ret_entries->list[i] = oldest_first.list[oldest_first.count - 1 - i];
	}
	if (error == 0) {
		return EXIT_DONE;
	}
	(void)key_spell(key, text);
	console_error("%s/v1/%.2s/%s: %s", settings->directory, text, text + 2,
	              error == -EBADMSG  ? "damaged; 'nvrtccache verify' says more"
	              : error == -ENOENT ? "it has just been removed"
	                                 : console_reason(error));
	return EXIT_TROUBLE;
}

void key_release(struct key_entries *entries)
{
	while (entries->count > 0) {
		entry_unref(entries->list[--entries->count]);
	}
}
