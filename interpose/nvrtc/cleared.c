/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/cleared.h"

#include "cache/digits.h"
#include "keygen/digest.h"

#include <string.h>

static const char cleared[][DIGITS_BYTES(KEY_BYTES)] = {
#include "interpose/nvrtc/cleared_options.list"
};

static bool is_listed(enum cleared_kind kind, const char *before, const char *text)
{
	const char letter = (char)kind;
	const struct span spans[] = {{&letter, 1}, {before, strlen(before) + 1}, {text, strlen(text)}};
	struct key digest;

	digest_key(spans, sizeof(spans) / sizeof(spans[0]), &digest);
	return digits_listed(digest.bytes, cleared, sizeof(cleared) / sizeof(cleared[0]));
}

bool cleared_option(enum cleared_kind kind, const char *before, const char *text)
{
	return is_listed(kind, "", text) || (before && is_listed(kind, before, text));
}
