/* SPDX-License-Identifier: MIT */
#include "texts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

uint64_t text_hash(const char *bytes, size_t size)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++) {
		h = (h ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
	}
	return h;
}

/* The length of a module id, _<8 hex>_<pid>, at `at`; new in every process. */
static size_t module_id(const char *at, size_t left)
{
	size_t size = 10;

	if (left < 11 || at[0] != '_' || at[9] != '_' || !isdigit((unsigned char)at[10])) {
		return 0;
	}
	for (int i = 1; i < 9; i++) {
		if (!isxdigit((unsigned char)at[i])) {
			return 0;
		}
	}
	while (size < left && isdigit((unsigned char)at[size])) {
		size++;
	}
	return size;
}

/* The length of `prefix` and the digits behind it at `at`; 0 where they are not there. */
static size_t numbered(const char *at, size_t left, const char *prefix)
{
	size_t size = strlen(prefix);

	if (left <= size || memcmp(at, prefix, size) != 0 || !isdigit((unsigned char)at[size])) {
		return 0;
	}
	while (size < left && isdigit((unsigned char)at[size])) {
		size++;
	}
	return size;
}

/* The length of a run time in the log of ptxas, "Compile time = 1.871 ms", at `at`. */
static size_t run_time(const char *at, size_t left)
{
	size_t size = numbered(at, left, "Compile time = ");

	while (size && size < left && (isdigit((unsigned char)at[size]) || at[size] == '.')) {
		size++;
	}
	return size;
}

/*
 * Printed alike: module ids and the directory of precompiled headers, which are new in every process, the numbers
 * of calls in comments of PTX, which up to 12.6 go on counting through a process, and the run times of ptxas.
 */
size_t text_normalise(char *bytes, size_t size)
{
	size_t out = 0;

	for (size_t i = 0; i < size;) {
		const char *at = bytes + i;
		size_t id = module_id(at, size - i);
		size_t number = numbered(at, size - i, "// callseq ");
		size_t directory = numbered(at, size - i, "/__nvrtc_auto_pch_");

		size_t time = run_time(at, size - i);

		if (id || number || directory || time) {
			memcpy(bytes + out, id ? "_ID" : number ? "//N" : directory ? "/PC" : "N.N", 3);
			out += 3;
			i += id + number + directory + time;
		} else {
			bytes[out++] = bytes[i++];
		}
	}
	return out;
}

void text_print(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '\n') {
			printf("\\n");
		} else if (c < 32 || c > 126) {
			printf("\\x%02x", c);
		} else {
			putchar(c);
		}
	}
	putchar('\n');
}
