/* SPDX-License-Identifier: MIT */
#include "cli/console/key.h"

#include "cli/console/commands.h"
#include "cli/console/console.h"

#include <string.h>

#define NAMED 6 /* of several keys */

void key_spell(const uint8_t key[ENTRY_KEY_BYTES], char ret_text[KEY_TEXT_BYTES])
{
	(void)digits_spell(key, ENTRY_KEY_BYTES, ret_text);
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
		value = value < 16 ? value : value - 6;
		beginning.bytes[beginning.digits / 2] |= (uint8_t)(beginning.digits % 2 ? value : value << 4);
		beginning.digits++;
	}
	*ret_beginning = beginning;
	return beginning.digits > 0;
}

/* What was used last comes first; with as many digits as tell them apart. */
static void name_keys(const struct inventory *inventory, unsigned digits)
{
	char list[NAMED * (KEY_TEXT_BYTES + 1) + 1] = "";
	const size_t shown = inventory->count < NAMED ? inventory->count : NAMED;
	char keys[NAMED][KEY_TEXT_BYTES];
	size_t most = digits;

	for (size_t i = 0; i < shown; i++) {
		key_spell(inventory->records[inventory->count - 1 - i].key, keys[i]);
		for (size_t j = 0; j < i; j++) {
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
	console_error("%zu results begin with %.*s; more digits tell which:%s%s", inventory->count, (int)digits,
	              keys[0], list, inventory->count > shown ? " ..." : "");
}

int key_find(const struct settings *settings, const char *text, struct inventory_record *ret_record)
{
	const struct directory directory = {.path = settings->directory, .shared = settings->shared};
	struct inventory_beginning beginning;
	char refusal[CONSOLE_REFUSAL_BYTES];
	struct inventory inventory;
	int status = EXIT_TROUBLE;
	int error;

	if (!read_digits(text, &beginning)) {
		console_error("'%s' is no key: 1 to %d of the digits 0 to 9 and a to f, as 'nvrtccache ls' shows them",
		              text, 2 * ENTRY_KEY_BYTES);
		return EXIT_USAGE;
	}
	error = inventory_find(&directory, &beginning, &inventory);
	if (error != 0) {
		console_error("%s: %s", settings->directory, console_refusal(settings, error, refusal));
		return EXIT_TROUBLE;
	}
	if (inventory.count == 1) {
		*ret_record = inventory.records[0];
		status = EXIT_DONE;
	} else if (inventory.count > 1) {
		name_keys(&inventory, beginning.digits);
	} else if (inventory.failures > 0) {
		console_error("%s: %u of its directories could not be read", settings->directory, inventory.failures);
	} else {
		console_error("%s: no result begins with %s; 'nvrtccache ls' lists them", settings->directory, text);
	}
	inventory_free(&inventory);
	return status;
}
