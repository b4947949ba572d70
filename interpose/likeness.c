/* SPDX-License-Identifier: MIT */
#include "interpose/likeness.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* The length of a module id's tail at `at`: '_', eight hex digits, '_', the pid's digits; 0 where there is none. */
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

/*
 * The length of a call number at `at`: up to 12.4 PTX numbers its calls through the whole process, in comments
 * ("// callseq 17, 0"), and -G puts that PTX into the CUBIN; 0 where there is none.
 */
static size_t call_number(const uint8_t *at, size_t left)
{
	static const char comment[] = "// callseq ";
	size_t size = sizeof(comment) - 1;

	if (left <= size || memcmp(at, comment, size) != 0 || !isdigit(at[size])) {
		return 0;
	}
	while (size < left && isdigit(at[size])) {
		size++;
	}
	return size;
}

/* The length of a run time at `at`, which ptxas tells with -v ("Compile time = 1.871 ms"); 0 where there is none. */
static size_t run_time(const uint8_t *at, size_t left)
{
	static const char words[] = "Compile time = ";
	size_t size = sizeof(words) - 1;

	if (left <= size || memcmp(at, words, size) != 0 || !isdigit(at[size])) {
		return 0;
	}
	while (size < left && (isdigit(at[size]) || at[size] == '.')) {
		size++;
	}
	return size;
}

/* Equal but for module ids, call numbers and run times. The lengths of mangled names hold the digits of the pid, so
 * those may differ with them. */
bool likeness_of(const void *left, size_t a_size, const void *right, size_t b_size)
{
	const uint8_t *a = left, *b = right;
	size_t i = 0, j = 0;

	while (i < a_size && j < b_size) {
		size_t a_id = module_id(a + i, a_size - i);
		size_t b_id = module_id(b + j, b_size - j);
		size_t a_call = call_number(a + i, a_size - i);
		size_t b_call = call_number(b + j, b_size - j);
		size_t a_time = run_time(a + i, a_size - i);
		size_t b_time = run_time(b + j, b_size - j);

		if ((a_id && b_id) || (a_call && b_call) || (a_time && b_time)) {
			i += a_id + a_call + a_time;
			j += b_id + b_call + b_time;
		} else if (a[i] == b[j]) {
			i++;
			j++;
		} else {
			return false;
		}
	}
	return i == a_size && j == b_size;
}
