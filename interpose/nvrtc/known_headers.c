/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/known_headers.h"

#include <stddef.h>
#include <string.h>

/* In order, as hexadecimal digits. */
static const char *const digests[] = {
#include "interpose/nvrtc/known_headers.list"
};

bool known_header(const struct key *digest)
{
	static const char digits[] = "0123456789abcdef";
	size_t low = 0, high = sizeof(digests) / sizeof(digests[0]);
	char text[2 * KEY_BYTES];

	for (size_t i = 0; i < KEY_BYTES; i++) {
		text[2 * i] = digits[digest->bytes[i] >> 4];
		text[2 * i + 1] = digits[digest->bytes[i] & 15];
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = memcmp(text, digests[middle], sizeof(text));

		if (order == 0) {
			return true;
		}
		low = order > 0 ? middle + 1 : low;
		high = order < 0 ? middle : high;
	}
	return false;
}
