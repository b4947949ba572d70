/* SPDX-License-Identifier: MIT */
#include "keygen/scan.h"

#include <string.h>

typedef uint8_t lanes __attribute__((vector_size(16)));

#define LONGEST 16 /* of the names below, and as far as a look back goes */

static const struct {
	const char *name;
	uint32_t finding;
} names[] = {
    {"__DATE__", SCAN_TIME},      {"__TIME__", SCAN_TIME},        {"__FILE__", SCAN_PATH},
    {"__BASE_FILE__", SCAN_PATH}, {"__FILE_NAME__", SCAN_PATH},   {"_BUILTIN_FILE", SCAN_PATH},
    {"_builtin_FILE", SCAN_PATH}, {"source_location", SCAN_PATH},
};

/* The headers named so are about <source_location> being there, not about using it. */
static bool is_feature_test(const uint8_t *text, size_t at)
{
	return at >= 4 && memcmp(text + at - 4, "lib_", 4) == 0;
}

static uint32_t names_at(const uint8_t *text, size_t size, size_t at)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i].name);

		if (size - at >= length && memcmp(text + at, names[i].name, length) == 0) {
			return names[i].name[0] == 's' && is_feature_test(text, at) ? 0 : names[i].finding;
		}
	}
	return 0;
}

static bool is_of_name(uint8_t byte)
{
	return byte == '_' || (uint8_t)((byte | 0x20) - 'a') < 26 || (uint8_t)(byte - '0') < 10;
}

/*
 * The length of the end of a line that is none at `at`: a backslash (up to C++14 also spelled as a trigraph), and the
 * line's end behind it; 0 where there is none.
 */
static size_t splice_at(const uint8_t *text, size_t size, size_t at)
{
	static const char *const splices[] = {"\\\n", "\\\r\n", "\?\?/\n", "\?\?/\r\n"};

	for (size_t i = 0; i < sizeof(splices) / sizeof(splices[0]); i++) {
		size_t length = strlen(splices[i]);

		if (size - at >= length && memcmp(text + at, splices[i], length) == 0) {
			return length;
		}
	}
	return 0;
}

/* What the name says that goes on over the end of a line at `at`. Its first such place tells all. */
static uint32_t spliced_at(const uint8_t *text, size_t size, size_t at)
{
	uint8_t name[3 * LONGEST];
	size_t begin = at, count, first;
	uint32_t found = 0;

	while (begin > 0 && at - begin < LONGEST + 4 && is_of_name(text[begin - 1])) { /* 4: is_feature_test() */
		begin--;
	}
	count = at - begin;
	first = count > LONGEST ? count - LONGEST : 0; /* what begins before ends before */
	memcpy(name, text + begin, count);
	while (at < size && count < sizeof(name)) {
		size_t splice = splice_at(text, size, at);

		if (!splice && !is_of_name(text[at])) {
			break;
		}
		if (!splice) {
			name[count++] = text[at];
		}
		at += splice ? splice : 1;
	}
	for (size_t i = first; i < count; i++) {
		found |= name[i] == '_' || name[i] == 's' ? names_at(name, count, i) : 0;
	}
	return found;
}

static bool begins_with(const uint8_t *text, size_t size, const char *place, size_t length)
{
	return length > 0 && size > length && memcmp(text, place, length) == 0 && text[length] == '/';
}

/* Is the path at `at` (behind its quote) inside a place? */
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

static uint32_t look_at(const uint8_t *text, size_t size, size_t at, const struct places *places)
{
	if (text[at] == '_' || text[at] == 's') {
		return names_at(text, size, at);
	}
	if (text[at] == '\\' || text[at] == '?') {
		return splice_at(text, size, at) ? spliced_at(text, size, at) : 0;
	}
	if (places && (text[at] == '"' || text[at] == '<') && at + 1 < size && text[at + 1] == '/') {
		return place_at(text, size, at + 1, places);
	}
	return 0;
}

/*
 * Sixteen places at once. All names have a letter of their own at two fixed distances: '_' and, five further, 'E'
 * (DATE, TIME, FILE), 'L' of "_BASE_FILE_" moved by one '_', and so on: the masks only have to be rarely true,
 * look_at() decides.
 */
uint32_t scan_text(const void *text, size_t size, const struct places *places)
{
	const uint8_t *at = text;
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
		any = (lanes)(first == '_') & (lanes)(second == '_') & (lanes)(sixth == 'E') &
		      ((lanes)(third == 'D') | (lanes)(third == 'T') | (lanes)(third == 'F') | (lanes)(third == 'B'));
		any |= (lanes)(first == '_') & (lanes)(third == 'A') & (lanes)(fourth == 'S') & (lanes)(second == 'B');
		any |= (lanes)(first == '_') & (lanes)(third == 'U') & (lanes)(fourth == 'I') & (lanes)(second == 'B');
		any |= (lanes)(first == '_') & (lanes)(third == 'u') & (lanes)(fourth == 'i') & (lanes)(second == 'b');
		any |= (lanes)(first == 's') & (lanes)(fourth == 'r') & (lanes)(sixth == 'e') & (lanes)(third == 'u');
		any |= ((lanes)(first == '"') | (lanes)(first == '<')) & (lanes)(second == '/');
		any |= (lanes)(first == '\\') & ((lanes)(second == '\n') | (lanes)(second == '\r'));
		any |= (lanes)(first == '?') & (lanes)(second == '?') & (lanes)(third == '/');
		memcpy(mask, &any, sizeof(mask));
		if ((mask[0] | mask[1]) == 0) {
			continue;
		}
		for (size_t j = i; j < i + 16; j++) {
			found |= look_at(at, size, j, places);
		}
	}
	for (; i < size; i++) {
		found |= look_at(at, size, i, places);
	}
	return found;
}

bool scan_path_is_exempt(const char *path)
{
	static const char *const ends[] = {
	    "/cub/detail/warpspeed/constant_assert.cuh",
	    "/cub/util_cpp_dialect.cuh",
	    "/cub/util_debug.cuh",
	    "/cuda/__driver/entry_point.h",
	    "/cuda/std/__cccl/assert.h",
	    "/cuda/std/__cccl/builtin.h",
	    "/cuda/std/__cccl/compiler.h",
	    "/cuda/std/__exception/cuda_error.h",
	    "/cuda/std/__exception/exception_macros.h",
	    "/cuda/std/__internal/cpp_dialect.h",
	    "/cuda/std/detail/libcxx/include/__string",
	    "/cuda/std/source_location",
	    "/cuda/std/version",
	    "/thrust/detail/config/cpp_dialect.h",
	    "/thrust/system/cuda/detail/core/util.h",
	};
	size_t size = strlen(path);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t length = strlen(ends[i]);

		if (size >= length && memcmp(path + size - length, ends[i], length) == 0) {
			return true;
		}
	}
	return false;
}
