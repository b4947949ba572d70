/* SPDX-License-Identifier: MIT */
/*
 * Both artifacts are scanned in parallel. Where both contain a text that is generated anew, each text is skipped by its
 * own length, because a pid or a time may have more digits in one of them.
 */
#include "interpose/compile/equal_modulo_ids.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/*
 * Returns the length of a module id's tail at `at`: '_', eight hex digits, '_', the pid's digits; 0 if there is none.
 */
static size_t module_id(const uint8_t *at, size_t left)
{
	size_t size = 10;

	if (left < 11 || at[0] != '_' || at[9] != '_' || !isdigit(at[10])) {
		return 0;
	}
	for (int i = 1; i < 9; i++) {
		if (!isxdigit(at[i])) {
			return 0;
		}
	}
	while (size < left && isdigit(at[size])) {
		size++;
	}
	return size;
}

/* Returns the length of `words` and the number after them, of `digits`; 0 if another text begins at `at`. */
static size_t number_told(const char *words, const char *digits, const uint8_t *at, size_t left)
{
	size_t size = strlen(words);

	if (left <= size || memcmp(at, words, size) != 0 || !isdigit(at[size])) {
		return 0;
	}
	while (size < left && at[size] && strchr(digits, at[size])) {
		size++;
	}
	return size;
}

/*
 * Returns the length of a text at `at` that NVRTC generates anew in every process; 0 if there is none. Each kind begins
 * with another byte. Up to 12.6, PTX comments number the calls of the whole process ("// callseq 17, 0"), and with -G
 * that PTX is contained in the CUBIN; with -v, ptxas reports its run time ("Compile time = 1.871 ms").
 */
static size_t made_anew(const uint8_t *at, size_t left)
{
	switch (*at) {
	case '_':
		return module_id(at, left);
	case '/':
		return number_told("// callseq ", "0123456789", at, left);
	case 'C':
		return number_told("Compile time = ", "0123456789.", at, left);
	default:
		return 0;
	}
}

bool equal_modulo_ids(const void *left, size_t left_size, const void *right, size_t right_size)
{
	const uint8_t *a = left, *b = right;
	size_t i = 0, j = 0;

	while (i < left_size && j < right_size && a[i] == b[j]) {
		size_t a_anew = made_anew(a + i, left_size - i), b_anew = made_anew(b + j, right_size - j);
		bool both = a_anew > 0 && b_anew > 0;

		i += both ? a_anew : 1;
		j += both ? b_anew : 1;
	}
	return i == left_size && j == right_size;
}

/*
 * Returns the length of the longest tail of a module id in the text; 0 if there is none. The length depends on the pid.
 */
static size_t longest_id(const uint8_t *text, size_t size)
{
	size_t longest = 0;

	for (size_t i = 0; i < size; i++) {
		size_t length = module_id(text + i, size - i);

		longest = length > longest ? length : longest;
	}
	return longest;
}

/* Returns true for encoded artifacts (LTO-IR, OptiX IR) and for debug information. */
static bool hides_ids(const void *bytes, size_t size)
{
	static const uint8_t magic[] = {0xed, 0x43, 0x4e, 0x7f};
	static const char debug[] = ".debug_info"; /* in PTX, and in the section names of a CUBIN */

	return (size > sizeof(magic) && memcmp(bytes, magic, sizeof(magic)) == 0) ||
	       memmem(bytes, size, debug, sizeof(debug) - 1);
}

/* Such a difference is reported as not comparable, which is neither a mismatch nor a proof of equality. */
bool differ_by_hidden_ids(const void *left, size_t left_size, const void *right, size_t right_size)
{
	size_t left_id = longest_id(left, left_size), right_id = longest_id(right, right_size);

	return (hides_ids(left, left_size) && hides_ids(right, right_size)) ||
	       (left_id > 0 && right_id > 0 && left_id != right_id);
}
