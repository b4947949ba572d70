/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/texts.h"

#include "cache/digits.h"

#include <stddef.h>
#include <string.h>

/* Sorted hexadecimal digits. An array of pointers would need a relocation for each in every process. */
static const char digests[][DIGITS_BYTES(KEY_BYTES)] = {
#include "interpose/nvrtc/known_headers.list"
};

bool known_header(const struct key *digest)
{
	size_t low = 0, high = sizeof(digests) / sizeof(digests[0]);
	char text[DIGITS_BYTES(KEY_BYTES)];

	(void)digits_spell(digest->bytes, KEY_BYTES, text);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = memcmp(text, digests[middle], sizeof(text) - 1);

		if (order == 0) {
			return true;
		}
		low = order > 0 ? middle + 1 : low;
		high = order < 0 ? middle : high;
	}
	return false;
}
