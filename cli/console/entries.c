/* SPDX-License-Identifier: MIT */
#include "cli/console/entries.h"

#include "cli/console/console.h"
#include "cli/console/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* ---- one key */

const char *key_spell(const uint8_t key[ENTRY_KEY_BYTES], char ret_text[KEY_TEXT_BYTES])
{
	return digits_spell(key, ENTRY_KEY_BYTES, ret_text);
}

bool key_check(const char *text)
{
	bool is_key = text[strspn(text, "0123456789abcdefABCDEF")] == '\0' && strlen(text) < KEY_TEXT_BYTES;

	if (!is_key) {
		console_error(
		    "%s: not a key: it takes the first of its %d hexadecimal digits, as 'nvrtccache ls' shows them",
		    text, 2 * ENTRY_KEY_BYTES);
	}
	return is_key;
}

/* Reads names and no entry, so that a damaged entry has a key too. */
static int find_key(const struct settings *settings, const char *text, struct inventory_record *ret_record)
{
	const struct directory directory = {.path = settings->directory, .shared = settings->shared};
	struct inventory inventory;
	int status = EXIT_TROUBLE;
	int error;

	/* refused before the directory is read: a typo must not look like a key that has gone */
	if (!key_check(text)) {
		return EXIT_USAGE;
	}
	error = inventory_take(&directory, DIRECTORY_ENTRY, text, NULL, &inventory);
	if (error != 0) {
		return console_refuse(settings, error);
	}
	if (inventory.count == 1) {
		*ret_record = inventory.records[0];
		status = EXIT_DONE;
	} else if (inventory.count == 0 && inventory.failures > 0) { /* one of them may have the key */
		console_error("%s: %u of its directories cannot be read", settings->directory, inventory.failures);
	} else {
		console_error("%s: %zu keys in %s begin with it; 'nvrtccache ls' lists them", text, inventory.count,
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

int key_open(const struct settings *settings, const char *text, struct key_entries *ret_entries)
{
	const struct directory directory = {.path = settings->directory, .shared = settings->shared};
	char key[KEY_TEXT_BYTES];
	int status, error;

	ret_entries->count = 0;
	status = find_key(settings, text, &ret_entries->record);
	if (status != EXIT_DONE) {
		return status;
	}
	error = inventory_read(&directory, ret_entries->record.key, take_entry, ret_entries);
	if (error == 0) {
		return EXIT_DONE;
	}
	(void)key_spell(ret_entries->record.key, key);
	console_error("%s/v1/%.2s/%s: %s", settings->directory, key, key + 2,
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

/* ---- all entries */

/*
 * The files are listed first: name, size, time of use. Then they are read one by one in the order of use. The bar
 * therefore knows their number, and only the entries of one file are in memory at a time.
 * A bad file does not end the reading. An error that the visitor returns, an interrupt, or lack of memory does.
 */

static int visit_entry(void *context, const struct entry *entry)
{
	struct reading *reading = context;

	reading->result = reading->visit(reading->context, entry, reading->used);
	return reading->result;
}

int reading_begin(const struct settings *settings, const char *doing, struct reading *ret_reading)
{
	int error;

	*ret_reading = (struct reading){.directory = {settings->directory, settings->shared}, .doing = doing};
	error = inventory_take(&ret_reading->directory, DIRECTORY_ENTRY, "", progress_show, &ret_reading->inventory);
	/* directories of shards that could not be listed */
	ret_reading->unreadable = ret_reading->inventory.failures;
	return error;
}

int reading_each(struct reading *reading, reading_visit *visit, void *context)
{
	const struct inventory *inventory = &reading->inventory;
	int error = 0;

	reading->visit = visit;
	reading->context = context;
	for (size_t i = 0; i < inventory->count && error == 0; i++) {
		reading->used = inventory->records[i].used;
		error = inventory_read(&reading->directory, inventory->records[i].key, visit_entry, reading);
		/* `result` shows whether the error is the visitor's; of the file's only this one ends the reading */
		if (reading->result >= 0 && error != -ENOMEM) {
			reading->left_out += error == -EBADMSG || error == -EPERM;
			/* -ENOENT: the file was evicted after it had been listed */
			reading->unreadable += error != 0 && error != -EBADMSG && error != -EPERM && error != -ENOENT;
			error = 0;
		}
		error = progress_show(reading->doing, i + 1, inventory->count) ? -EINTR : error;
	}
	return error;
}

void reading_end(struct reading *reading)
{
	console_status("");
	inventory_free(&reading->inventory);
}

int reading_report(const struct reading *reading)
{
	if (reading->left_out != 0) {
		console_error("left out: %" PRIu64 " damaged or untrusted %s; 'nvrtccache verify' names them",
		              reading->left_out, reading->left_out == 1 ? "file" : "files");
	}
	if (reading->unreadable != 0) {
		console_error("not readable: %" PRIu64 " %s", reading->unreadable,
		              reading->unreadable == 1 ? "file or directory" : "files or directories");
	}
	return reading->unreadable == 0 ? EXIT_DONE : EXIT_TROUBLE;
}
