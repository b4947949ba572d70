/* SPDX-License-Identifier: MIT */
/*
 * collide: sources that were built to have one XXH3-128, compiled in one process
 *
 * usage: collide LIBRARY
 *
 * XXH3 adds each word of 8 bytes to one of eight sums, and the product of the halves of word ^ secret to the sum beside
 * it. The secret is published. Where a word's low half is that of the secret, the product is 0 whatever its high half
 * says; so of two such words of one lane and one block one may grow by what the other shrinks. What stands before the
 * source in the hashed bytes is not known here, but only its length modulo 1024 matters: all are tried.
 *
 * Prints how many of these pairs were given one PTX for two sources.
 */
#include "tests/hosts/host.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { BLOCK = 1024, STRIPE = 64, LANE = 2, FIRST = 3, SECOND = 6, SOURCE = 4 * BLOCK };

static const char head[] = "extern \"C\" __global__ void k(int *p) { *p = /*";

/* The word that meets this word of the secret: its low half, then four bytes. */
static void put_word(char *source, size_t at, int stripe, const char *high)
{
	memcpy(source + at, XXH3_kSecret + 8 * (stripe + LANE), 4);
	memcpy(source + at + 4, high, 4);
}

/* One of the two sources that collide behind so many bytes. */
static void build(size_t before, char number, char *ret_source)
{
	size_t block = BLOCK - before % BLOCK + BLOCK; /* where one begins, with room for the head before */
	size_t first = block + FIRST * STRIPE + LANE * 8, second = block + SECOND * STRIPE + LANE * 8;
	char code[] = "*/? ", comment[] = "  ? ";

	memset(ret_source, '.', SOURCE - 1);
	memcpy(ret_source, head, sizeof(head) - 1);
	code[2] = number;
	comment[2] = number == '1' ? '2' : '1';
	put_word(ret_source, first, FIRST, code);
	memcpy(ret_source + first + 8, "; } /*", 6);
	put_word(ret_source, second, SECOND, comment);
	memcpy(ret_source + SOURCE - 4, "*/\n", 4);
}

static void check_collision(size_t before, const char *one, const char *other)
{
	static char bytes[BLOCK + SOURCE];
	XXH128_hash_t hashes[2];

	memcpy(bytes + before, one, SOURCE);
	hashes[0] = XXH3_128bits(bytes, before + SOURCE);
	memcpy(bytes + before, other, SOURCE);
	hashes[1] = XXH3_128bits(bytes, before + SOURCE);
	memset(bytes, 0, sizeof(bytes));
	if (!XXH128_isEqual(hashes[0], hashes[1]) || strcmp(one, other) == 0 || strlen(one) != SOURCE - 1) {
		printf("behind %zu bytes they do not collide\n", before);
		exit(4);
	}
}

static uint64_t compile(const struct compiler *compiler, const char *source)
{
	nvrtcProgram program = NULL;
	uint64_t digest;

	if (compiler->nvrtcCreateProgram(&program, source, "collide.cu", 0, NULL, NULL) != 0 ||
	    host_build(compiler, program, 0) != 0) {
		printf("cannot compile\n");
		exit(3);
	}
	digest = host_ask(compiler, program);
	compiler->nvrtcDestroyProgram(&program);
	return digest;
}

int main(int argc, char **argv)
{
	static char one[SOURCE], other[SOURCE];
	struct compiler compiler;
	int taken = 0;

	if (argc != 2) {
		return 2;
	}
	host_open(argv[1], &compiler);
	for (size_t before = 0; before < BLOCK; before++) {
		build(before, '1', one);
		build(before, '2', other);
		check_collision(before, one, other);
		taken += compile(&compiler, one) == compile(&compiler, other);
	}
	printf("%d of %d sources were taken for another\n", taken, BLOCK);
	return 0;
}
