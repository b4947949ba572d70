/* SPDX-License-Identifier: MIT */
/*
 * Scanning of texts. The first byte: bit 0: a working directory, bit 1: a root. The rest is the text.
 *
 * Property: what is found is what a slow search finds in the text after a slow translation, byte by byte and from its
 * front.
 */
#include "interpose/nvrtc/scan.h"

#include "tests/fuzz/fuzz.h"

#define CWD  "/w"
#define ROOT "/v/inc"

static bool occurs(const uint8_t *text, size_t size, const char *what)
{
	return memmem(text, size, what, strlen(what)) != NULL;
}

static bool has_place(const uint8_t *text, size_t size, const char *place)
{
	static const char of_name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.";
	const uint8_t *end = text + size;
	const uint8_t *at = text;

	while ((at = memmem(at, (size_t)(end - at), place, strlen(place))) != NULL) {
		const uint8_t *next = at + strlen(place);

		if (next == end || (*next < 0x80 && !memchr(of_name, *next, sizeof(of_name) - 1))) {
			return true;
		}
		at++;
	}
	return false;
}

/* How many bytes at the front of the text are a line splice. */
static size_t splice_at(const uint8_t *text, size_t size)
{
	size_t length = 0;

	if (size > 0 && text[0] == '\\') {
		length = 1;
	} else if (size > 2 && memcmp(text, "\?\?/", 3) == 0) {
		length = 3;
	}
	if (length > 0) {
		while (length < size && strchr(" \t\v\f\r", text[length]) && text[length]) {
			length++;
		}
	}
	return length > 0 && length < size && text[length] == '\n' ? length + 1 : 0;
}

/* The text after translation, to be freed. */
static uint8_t *translate(const uint8_t *text, size_t size, size_t *ret_size)
{
	uint8_t *to = copy_of(text, size);
	size_t count = 0;

	for (size_t at = 0; at < size;) {
		size_t splice = splice_at(text + at, size - at);

		if (splice > 0) {
			at += splice;
		} else {
			to[count++] = text[at++];
		}
	}
	*ret_size = count;
	return to;
}

static uint32_t slow_scan(const uint8_t *whole, size_t whole_size, const struct places *places)
{
	static const char *const times[] = {"__DATE__", "__TIME__"};
	static const char *const paths[] = {"__FILE__",      "__BASE_FILE__", "__FILE_NAME__",
	                                    "_BUILTIN_FILE", "_builtin_FILE", "source_location"};
	size_t size;
	uint8_t *text = translate(whole, whole_size, &size);
	uint32_t found = 0;

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		found |= occurs(text, size, times[i]) ? SCAN_TIME : 0;
	}
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		found |= occurs(text, size, paths[i]) ? SCAN_PATH : 0;
	}
	if ((places->cwd && has_place(text, size, CWD)) || (places->roots->count > 0 && has_place(text, size, ROOT))) {
		found |= SCAN_PLACE;
	}
	free(text);
	return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct root root = {.text = (char *)ROOT, .size = sizeof(ROOT) - 1};
	struct roots roots = {.root = &root};
	struct places places = {.roots = &roots};
	uint8_t *text;
	uint32_t found;

	if (size == 0) {
		return 0;
	}
	places.cwd = data[0] & 1 ? CWD : NULL;
	roots.count = data[0] >> 1 & 1;
	text = copy_of(data + 1, --size);
	found = scan_text(text, size, &places);
	require(found == slow_scan(text, size, &places));
	require(scan_text(text, size, NULL) == (found & ~(uint32_t)SCAN_PLACE));
	free(text);
	return 0;
}
