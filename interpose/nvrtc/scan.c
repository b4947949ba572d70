/* SPDX-License-Identifier: MIT */
/*
 * A text is searched 16 bytes at a time for two distinguishing letters at a fixed distance, and only at matches is it
 * compared with names and places. Texts with line splices are rare, so splices are removed only if the text may contain
 * one.
 */
#include "interpose/nvrtc/scan.h"

#include <stdlib.h>
#include <string.h>

typedef uint8_t lanes __attribute__((vector_size(16)));

#define LONGEST 16 /* no name below is longer */

static const struct {
	const char *name;
	uint32_t finding;
} names[] = {
    {"__DATE__", SCAN_TIME},      {"__TIME__", SCAN_TIME},        {"__FILE__", SCAN_PATH},
    {"__BASE_FILE__", SCAN_PATH}, {"__FILE_NAME__", SCAN_PATH},   {"_BUILTIN_FILE", SCAN_PATH},
    {"_builtin_FILE", SCAN_PATH}, {"source_location", SCAN_PATH},
};

/*
 * Bytes with more than one spelling. A blank may be any white space or a comment where a macro is turned into a string.
 * A slash and a star begin a comment, which the fast search skips. Up to C++14, each of the others may be replaced by a
 * trigraph, or starts one.
 */
static const bool is_ambiguous[UINT8_MAX + 1] = {
    [0 ... ' '] = true, ['"'] = true, ['#'] = true,  ['<'] = true, ['>'] = true, ['?'] = true,
    ['*'] = true,       ['['] = true, ['\\'] = true, [']'] = true, ['^'] = true, ['{' ... 0x7f] = true,
};

bool scan_spells_plainly(const char *directory, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (is_ambiguous[(uint8_t)directory[i]]) {
			return false;
		}
	}
	return true;
}

static uint32_t names_at(const uint8_t *text, size_t size, size_t at)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i].name);

		if (size - at >= length && memcmp(text + at, names[i].name, length) == 0) {
			return names[i].finding;
		}
	}
	return 0;
}

/* Returns true if the byte continues the name before it. */
static bool continues_name(uint8_t byte)
{
	return (uint8_t)((byte | 0x20) - 'a') < 26 || (uint8_t)(byte - '0') < 10 || byte >= 0x80 || byte == '_' ||
	       byte == '-' || byte == '+' || byte == '.';
}

/*
 * Returns true if the text begins with the place. A macro may add the rest of a path, so no slash is required after it.
 */
static bool begins_with(const uint8_t *text, size_t size, const char *place, size_t length)
{
	return length > 1 && size >= length && memcmp(text, place, length) == 0 &&
	       (size == length || !continues_name(text[length]));
}

/* Returns SCAN_PLACE if a place, or a path inside one, begins at `at`. */
static uint32_t place_at(const uint8_t *text, size_t size, size_t at, const struct places *places)
{
	if (places->cwd && begins_with(text + at, size - at, places->cwd, strlen(places->cwd))) {
		return SCAN_PLACE;
	}
	for (size_t i = 0; i < places->roots->count; i++) {
		if (begins_with(text + at, size - at, places->roots->root[i].text, places->roots->root[i].size)) {
			return SCAN_PLACE;
		}
	}
	return 0;
}

static uint32_t findings_at(const uint8_t *text, size_t size, size_t at, const struct places *places)
{
	if (text[at] == '_' || text[at] == 's') {
		return names_at(text, size, at);
	}
	return places && text[at] == '/' ? place_at(text, size, at, places) : 0;
}

/*
 * Searches 16 positions at once, by letters at fixed distances of each name: "__" and, five bytes behind its begin, 'E'
 * (DATE, TIME, FILE), and so on. The masks only have to match rarely, because findings_at() decides.
 */
static uint32_t search_text(const uint8_t *at, size_t size, const struct places *places)
{
	uint32_t found = 0;
	size_t i = 0;

	for (; size - i >= 16 + LONGEST; i += 16) {
		lanes first, second, third, fourth, sixth, any;
		uint64_t mask[2];

		memcpy(&first, at + i, sizeof(first));
		memcpy(&second, at + i + 1, sizeof(second));
		memcpy(&third, at + i + 2, sizeof(third));
		memcpy(&fourth, at + i + 3, sizeof(fourth));
		memcpy(&sixth, at + i + 5, sizeof(sixth));
		any = (lanes)(first == '_') &
		      (((lanes)(second == '_') & (lanes)(sixth == 'E')) |
		       ((lanes)(second == 'B') & ((lanes)(third == 'A') | (lanes)(third == 'U'))) |
		       ((lanes)(second == 'b') & (lanes)(third == 'u')));
		any |= (lanes)(first == 's') & (lanes)(fourth == 'r') & (lanes)(sixth == 'e');
		if (places) { /* the second byte of a place is no slash, and no comment is one */
			any |= (lanes)(first == '/') & (lanes)(second != '/') & (lanes)(second != '*');
		}
		memcpy(mask, &any, sizeof(mask));
		if ((mask[0] | mask[1]) == 0) {
			continue;
		}
		for (size_t j = i; j < i + 16; j++) {
			found |= findings_at(at, size, j, places);
		}
	}
	for (; i < size; i++) {
		found |= findings_at(at, size, i, places);
	}
	return found;
}

static bool is_white(uint8_t byte)
{
	return byte == ' ' || (byte >= '\t' && byte <= '\r' && byte != '\n');
}

/* Returns true if the text may have a splice: a backslash followed by white space, or the trigraph of one. */
static bool may_splice(const uint8_t *text, size_t size)
{
	const uint8_t *at = text, *end = text + size;

	while ((at = memchr(at, '\\', (size_t)(end - at)))) {
		if (++at == end || *at <= ' ') {
			return true;
		}
	}
	return memmem(text, size, "\?\?/", 3) != NULL;
}

/* Returns the start of the white space at the end of [from, end). */
static uint8_t *before_white(const uint8_t *from, uint8_t *end)
{
	while (end > from && is_white(end[-1])) {
		end--;
	}
	return end;
}

/*
 * Ends the line that began at `line`. Returns the new end of the output: without the splice that ends the line, or, if
 * there is none, after a newline.
 */
static uint8_t *end_line(const uint8_t *line, uint8_t *to)
{
	uint8_t *end = before_white(line, to);

	if (end - line >= 1 && end[-1] == '\\') {
		return end - 1;
	}
	if (end - line >= 3 && memcmp(end - 3, "\?\?/", 3) == 0) {
		return end - 3;
	}
	*to = '\n';
	return to + 1;
}

/* Writes the text without its splices to `to`, and returns the end of the output. */
static uint8_t *join_lines(uint8_t *to, const uint8_t *text, size_t size)
{
	const uint8_t *line = to, *end = text + size;

	while (text < end) {
		const uint8_t *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline ? newline : end) - text);

		memcpy(to, text, length);
		to += length;
		text += length;
		if (newline) {
			to = end_line(line, to);
			line = to;
			text++;
		}
	}
	return to;
}

/*
 * Macros that expand to __FILE__ although no searched text contains __FILE__. NVRTC's own assert() is in no file; the
 * others are in headers that may use __FILE__ (texts.h). If a program makes a string of such a macro and takes its
 * size, or defines the function that the macro calls, its result depends on the path without showing it.
 */
static const char *const path_macros[] = {"assert",          "CubDebug",         "_CUDA_CUB_RET_IF_FAIL",
                                          "_CCCL_ASSERT",    "_CCCL_VERIFY",     "CUB_COMP_DEPR",
                                          "_CCCL_COMP_DEPR", "THRUST_COMP_DEPR", "_LIBCUDACXX_ASSERT"};

static bool is_small_letter(uint8_t byte)
{
	return (uint8_t)(byte - 'a') < 26;
}

/*
 * Returns true if the text names the macro or one of its family, whose names continue with a capital letter or an
 * underscore, unlike "assertion". "static_assert" does not count.
 */
static bool names_macro(const uint8_t *text, size_t size, const char *macro)
{
	const size_t length = strlen(macro);
	const uint8_t *at = text, *end = text + size;

	while ((at = memmem(at, (size_t)(end - at), macro, length))) {
		uint8_t before = at > text ? at[-1] : ' ';

		at += length;
		if (before != '_' && !is_small_letter(before | 0x20) && (at == end || !is_small_letter(*at))) {
			return true;
		}
	}
	return false;
}

/* `text`: without line splices. */
static bool names_path_macro(const uint8_t *text, size_t size)
{
	for (size_t i = 0; i < sizeof(path_macros) / sizeof(path_macros[0]); i++) {
		if (names_macro(text, size, path_macros[i])) {
			return true;
		}
	}
	return false;
}

static uint32_t search_joined(const void *text, size_t size, const struct places *places, bool is_of_program)
{
	uint8_t *joined = NULL;
	uint32_t found;

	if (may_splice(text, size)) {
		joined = malloc(size);
		if (!joined) {
			return SCAN_TIME | SCAN_PATH | (places ? SCAN_PLACE : 0);
		}
		size = (size_t)(join_lines(joined, text, size) - joined);
		text = joined;
	}
	found = search_text(text, size, places);
	if (is_of_program && names_path_macro(text, size)) {
		found |= SCAN_PATH;
	}
	free(joined);
	return found;
}

uint32_t scan_text(const void *text, size_t size, const struct places *places)
{
	return search_joined(text, size, places, false);
}

uint32_t scan_program_text(const void *text, size_t size, const struct places *places)
{
	return search_joined(text, size, places, true);
}
