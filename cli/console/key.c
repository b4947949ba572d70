/* SPDX-License-Identifier: MIT */
/*
 * The digits are packed into bytes. The first two digits name the shard, and cache/tools/inventory.c compares the
 * remaining ones with the file names in it. An odd number of digits ends with half a byte, which is compared too.
 */
#include "cli/console/key.h"

#include "cli/console/console.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define NAMED 6 /* keys that the message lists if the text is ambiguous */

void key_spell(const uint8_t key[ENTRY_KEY_BYTES], char ret_text[KEY_TEXT_BYTES])
{
	(void)digits_spell(key, ENTRY_KEY_BYTES, ret_text);
}

bool key_begins(const uint8_t key[ENTRY_KEY_BYTES], const char *digits)
{
	char text[KEY_TEXT_BYTES];

	key_spell(key, text);
	return strncasecmp(text, digits, strlen(digits)) == 0;
}

static bool read_digits(const char *text, struct inventory_beginning *ret_beginning)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	struct inventory_beginning beginning = {.digits = 0};

	for (; *text != '\0'; text++) {
		const char *digit = strchr(digits, *text);
		unsigned value;

		if (!digit || beginning.digits == 2 * ENTRY_KEY_BYTES) {
			return false;
		}
		value = (unsigned)(digit - digits);
		/* in `digits`, A to F follow a to f */
		value = value < 16 ? value : value - 6;
		beginning.bytes[beginning.digits / 2] |= (uint8_t)(beginning.digits % 2 ? value : value << 4);
		beginning.digits++;
	}
	*ret_beginning = beginning;
	return beginning.digits > 0;
}

/* Lists the most recently used keys first, with as many digits as are needed to tell them apart. */
static void name_keys(const struct inventory *inventory, unsigned digits)
{
	char list[NAMED * (KEY_TEXT_BYTES + 1) + 1] = "";
	const size_t shown = inventory->count < NAMED ? inventory->count : NAMED;
	char keys[NAMED][KEY_TEXT_BYTES];
	size_t most = digits;

	for (size_t i = 0; i < shown; i++) {
		key_spell(inventory->records[inventory->count - 1 - i].key, keys[i]);
		for (size_t j = 0; j < i; j++) {
			/* the loop below ends, because no two keys are equal */
			size_t same = 0;

			while (keys[i][same] == keys[j][same]) {
				same++;
			}
			most = same > most ? same : most;
		}
	}
	for (size_t i = 0; i < shown; i++) {
		size_t end = strlen(list);

		snprintf(list + end, sizeof(list) - end, " %.*s", (int)(most < KEY_SHORT ? KEY_SHORT : most + 1),
		         keys[i]);
	}
	console_error("%.*s: ambiguous key: %zu keys begin with it:%s%s", (int)digits, keys[0], inventory->count, list,
	              inventory->count > shown ? " ..." : "");
}

int key_find(const struct settings *settings, const char *text, struct inventory_record *ret_record)
{
	const struct directory directory = {.path = settings->directory, .shared = settings->shared};
	struct inventory_beginning beginning;
	struct inventory inventory;
	int status = EXIT_TROUBLE;
	int error;

	if (!read_digits(text, &beginning)) {
		console_error(
		    "%s: not a key: it takes the first of its %d hexadecimal digits, as 'nvrtccache ls' shows them",
		    text, 2 * ENTRY_KEY_BYTES);
		return EXIT_USAGE;
	}
	error = inventory_find(&directory, &beginning, &inventory);
	if (error != 0) {
		return console_refuse(settings, error);
	}
	if (inventory.count == 1) {
		*ret_record = inventory.records[0];
		status = EXIT_DONE;
	} else if (inventory.count > 1) {
		name_keys(&inventory, beginning.digits);
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
	key_spell(key, text);
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
