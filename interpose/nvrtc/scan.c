/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/scan.h"

#include <stdlib.h>
#include <string.h>

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
 * A slash and a star begin a comment. Up to C++14, each of the others may be replaced by a trigraph, or starts one.
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

/* Returns true if the byte continues the name before it. */
static bool continues_name(uint8_t byte)
{
	return (uint8_t)((byte | 0x20) - 'a') < 26 || (uint8_t)(byte - '0') < 10 || byte >= 0x80 || byte == '_' ||
	       byte == '-' || byte == '+' || byte == '.';
}

/*
 * Returns true if the text has the place, or a path inside it. A macro may add the rest of a path, so no slash is
 * required after it.
 */
static bool has_place(const uint8_t *text, size_t size, const char *place, size_t length)
{
	const uint8_t *at = text, *end = text + size;

	while (length > 1 && (at = memmem(at, (size_t)(end - at), place, length))) {
		if (at + length == end || !continues_name(at[length])) {
			return true;
		}
		at++;
	}
	return false;
}

static uint32_t find_places(const uint8_t *text, size_t size, const struct places *places)
{
	bool found = places->cwd && has_place(text, size, places->cwd, strlen(places->cwd));

	for (size_t i = 0; i < places->roots->count && !found; i++) {
		found = has_place(text, size, places->roots->root[i].text, places->roots->root[i].size);
	}
	return found ? SCAN_PLACE : 0;
}

/*
 * Ends the line that began at `line`. Returns the new end of the output: without the splice that ends the line, or, if
 * there is none, after a newline.
 */
static uint8_t *end_line(const uint8_t *line, uint8_t *to)
{
	uint8_t *end = to;

	while (end > line && (end[-1] == ' ' || (end[-1] >= '\t' && end[-1] <= '\r'))) {
		end--;
	}
	if (end - line >= 1 && end[-1] == '\\') {
		return end - 1;
	}
	if (end - line >= 3 && memcmp(end - 3, "\?\?/", 3) == 0) {
		return end - 3;
	}
	*to = '\n';
	return to + 1;
}

/* Writes the text without its splices to `joined`, and returns its size there. */
static size_t join_lines(uint8_t *joined, const uint8_t *text, size_t size)
{
	uint8_t *to = joined, *line = joined;

	for (const uint8_t *end = text + size; text < end; text++) {
		if (*text == '\n') {
			line = to = end_line(line, to);
		} else {
			*to++ = *text;
		}
	}
	return (size_t)(to - joined);
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
static uint32_t search_text(const void *text, size_t size, const struct places *places, bool is_of_program)
{
	uint32_t found = places ? find_places(text, size, places) : 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		found |= memmem(text, size, names[i].name, strlen(names[i].name)) ? names[i].finding : 0;
	}
	for (size_t i = 0; is_of_program && i < sizeof(path_macros) / sizeof(path_macros[0]); i++) {
		found |= names_macro(text, size, path_macros[i]) ? SCAN_PATH : 0;
	}
	return found;
}

static uint32_t search_joined(const void *text, size_t size, const struct places *places, bool is_of_program)
{
	uint8_t *joined = NULL;
	uint32_t found;

	if (memchr(text, '\\', size) || memmem(text, size, "\?\?/", 3)) {
		joined = malloc(size);
		if (!joined) {
			return SCAN_TIME | SCAN_PATH | (places ? SCAN_PLACE : 0);
		}
		size = join_lines(joined, text, size);
		text = joined;
	}
	found = search_text(text, size, places, is_of_program);
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
