/* SPDX-License-Identifier: MIT */
/*
 * Scanning of sources. The first byte: bit 0: a working directory, bit 1: a root, bits 2 to 7: how far in to cut the
 * text. The rest is the text.
 *
 * Properties: what is found is what a slow search finds in the text as it is and in its lines that go on joined, and
 * what two overlapping pieces give is what the whole gives.
 */
#include "keygen/scan.h"

#include "tests/fuzz/fuzz.h"

#define CWD  "/w"
#define ROOT "/v/inc"

static bool occurs(const uint8_t *text, size_t size, const char *what)
{
	return memmem(text, size, what, strlen(what)) != NULL;
}

static bool has_source_location(const uint8_t *text, size_t size)
{
	static const char name[] = "source_location";
	const uint8_t *at = text;

	while ((at = memmem(at, size - (size_t)(at - text), name, sizeof(name) - 1)) != NULL) {
		if (at - text < 4 || memcmp(at - 4, "lib_", 4) != 0) {
			return true;
		}
		at++;
	}
	return false;
}

/* Without the ends of lines that are none, in place; the new size. */
static size_t join(uint8_t *text, size_t size)
{
	static const char *const ends[] = {"\\\n", "\\\r\n", "\?\?/\n", "\?\?/\r\n"};
	size_t to = 0;

	for (size_t from = 0; from < size;) {
		size_t skip = 0;

		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
			size_t length = strlen(ends[i]);

			skip = size - from >= length && memcmp(text + from, ends[i], length) == 0 ? length : skip;
		}
		if (skip) {
			from += skip;
		} else {
			text[to++] = text[from++];
		}
	}
	return to;
}

static size_t feature_tests(const uint8_t *text, size_t size)
{
	static const char name[] = "lib_source_location";
	const uint8_t *at = text;
	size_t count = 0;

	while ((at = memmem(at, size - (size_t)(at - text), name, sizeof(name) - 1)) != NULL) {
		at++;
		count++;
	}
	return count;
}

static bool has_spliced_test(const uint8_t *text, size_t size)
{
	uint8_t *joined = copy_of(text, size);
	bool has = feature_tests(joined, join(joined, size)) > feature_tests(text, size);

	free(joined);
	return has;
}

static uint32_t slow_names(const uint8_t *text, size_t size)
{
	static const char *const times[] = {"__DATE__", "__TIME__"};
	static const char *const paths[] = {"__FILE__", "__BASE_FILE__", "__FILE_NAME__", "_BUILTIN_FILE",
	                                    "_builtin_FILE"};
	uint32_t found = 0;

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		found |= occurs(text, size, times[i]) ? SCAN_TIME : 0;
	}
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		found |= occurs(text, size, paths[i]) ? SCAN_PATH : 0;
	}
	return found | (has_source_location(text, size) ? SCAN_PATH : 0);
}

static uint32_t slow_scan(const uint8_t *text, size_t size, const struct places *places)
{
	uint8_t *joined = copy_of(text, size);
	uint32_t found = slow_names(text, size) | slow_names(joined, join(joined, size));

	free(joined);
	if (places && places->cwd) {
		found |= occurs(text, size, "\"" CWD "/") || occurs(text, size, "<" CWD "/") ? SCAN_PLACE : 0;
	}
	if (places && places->roots->count > 0) {
		found |= occurs(text, size, "\"" ROOT "/") || occurs(text, size, "<" ROOT "/") ? SCAN_PLACE : 0;
	}
	return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct root root = {.text = (char *)ROOT, .size = sizeof(ROOT) - 1};
	struct roots roots = {.root = &root};
	struct places places = {.roots = &roots};
	uint8_t *text;
	uint32_t found, expected;
	size_t cut;

	if (size == 0) {
		return 0;
	}
	places.cwd = data[0] & 1 ? CWD : NULL;
	roots.count = data[0] >> 1 & 1;
	cut = data[0] >> 2;
	text = copy_of(data + 1, --size);
	found = scan_text(text, size, &places);
	expected = slow_scan(text, size, &places);
	/* Where lib_ itself goes on over a line's end, what it exempts may be found. */
	require(found == expected || (found == (expected | SCAN_PATH) && has_spliced_test(text, size)));
	require((scan_text(text, size, NULL) | SCAN_PLACE) == (found | SCAN_PLACE));
	require(!(scan_text(text, size, NULL) & SCAN_PLACE));
	cut = cut < size ? cut : size;
	require((scan_text(text, size, &places) & ~(uint32_t)SCAN_PATH) ==
	        ((scan_text(text, size, &places) | scan_text(text + cut, size - cut, &places)) & ~(uint32_t)SCAN_PATH));
	free(text);
	return 0;
}
