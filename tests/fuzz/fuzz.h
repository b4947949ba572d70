/* SPDX-License-Identifier: MIT */
/*
 * fuzz: what the harnesses share: a property that must hold, bytes taken from the input, a private directory
 *
 * Every harness says at its top what its input means and which properties it checks; `make fuzz` builds and runs all.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "tests/files.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <xxhash.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* FUZZ_SET_UP() { ... } is done once, before the first input. */
#define FUZZ_SET_UP()                                     \
	static void fuzz_set_up(void);                    \
	int LLVMFuzzerInitialize(int *argc, char ***argv) \
	{                                                 \
		fuzz_set_up();                            \
		return 0;                                 \
	}                                                 \
	static void fuzz_set_up(void)

/* Not in a build without assertions alone: a property that does not hold is a finding. */
#define require(truth)                                                                             \
	do {                                                                                       \
		if (!(truth)) {                                                                    \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #truth); \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* The input, taken from its front; zeros behind its end. */
struct input {
	const uint8_t *at;
	size_t left;
};

static inline struct input input_of(const uint8_t *data, size_t size)
{
	return (struct input){data, size};
}

static inline uint64_t take_number(struct input *input, size_t bytes)
{
	uint64_t number = 0;

	for (size_t i = 0; i < bytes && input->left > 0; i++, input->at++, input->left--) {
		number |= (uint64_t)*input->at << (8 * i);
	}
	return number;
}

/* At most `size` bytes; how many there were is told. */
static inline const uint8_t *take_bytes(struct input *input, size_t size, size_t *ret_size)
{
	const uint8_t *bytes = input->at;

	*ret_size = size < input->left ? size : input->left;
	input->at += *ret_size;
	input->left -= *ret_size;
	return bytes;
}

/* A block of just that size, so that reading past it is seen. */
static inline uint8_t *copy_of(const void *bytes, size_t size)
{
	uint8_t *copy = malloc(size);

	require(copy != NULL || size == 0);
	if (size > 0) {
		memcpy(copy, bytes, size);
	}
	return copy;
}

/* The same with a NUL behind it. */
static inline char *text_of(const void *bytes, size_t size)
{
	char *text = calloc(1, size + 1);

	require(text != NULL);
	if (size > 0) {
		memcpy(text, bytes, size);
	}
	return text;
}

/* As the library seals things: XXH3, 128 bits, low half first. */
static inline void seal(uint8_t *at, const uint8_t *from, size_t size)
{
	XXH128_hash_t hash = XXH3_128bits(from, size);

	memcpy(at, &hash.low64, 8);
	memcpy(at + 8, &hash.high64, 8);
}

static char fuzz_base[200];

static inline void fuzz_clean_up(void)
{
	remove_tree(fuzz_base);
}

/* Private, below $TMPDIR, and gone at the end. */
static inline const char *fuzz_directory(void)
{
	require(private_directory_make(fuzz_base, sizeof(fuzz_base), "fuzz"));
	(void)atexit(fuzz_clean_up);
	return fuzz_base;
}

static inline void fuzz_write(const char *path, const void *bytes, size_t size)
{
	require(file_write(path, bytes, size));
}

/* Takes a length and as many bytes, as a string. The caller frees it. */
static inline char *take_text(struct input *input)
{
	size_t size;
	const uint8_t *bytes = take_bytes(input, take_number(input, 1), &size);

	return text_of(bytes, size);
}

#endif
