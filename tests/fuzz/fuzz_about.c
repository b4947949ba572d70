/* SPDX-License-Identifier: MIT */
/*
 * What a result says of itself. The first byte: bit 0: what is done.
 *
 * 0: facts are built of the input: each comes back, in order, and no other.
 * 1: the rest is read as whatever the bytes say: every fact lies in them.
 */
#include "keygen/about.h"

#include "tests/fuzz/fuzz.h"

#define FACTS 8

struct walk {
	const uint8_t *bytes;
	size_t size;
	char *texts[FACTS];
	size_t count, seen;
};

static void lies_inside(const struct walk *walk, const void *at, size_t size)
{
	const uint8_t *begin = at;

	require(begin >= walk->bytes && size <= walk->size && begin <= walk->bytes + walk->size - size);
}

static int look(const struct about_fact *fact, void *context)
{
	struct walk *walk = context;

	lies_inside(walk, fact->text, fact->size);
	if (fact->kind == ABOUT_PART) {
		lies_inside(walk, fact->digest, ABOUT_DIGEST_BYTES);
	}
	return 0;
}

static int compare(const struct about_fact *fact, void *context)
{
	struct walk *walk = context;

	require(walk->seen < walk->count);
	require(fact->size == strlen(walk->texts[walk->seen]));
	require(memcmp(fact->text, walk->texts[walk->seen], fact->size) == 0);
	walk->seen++;
	return look(fact, context);
}

static void build_and_read(struct input *input)
{
	struct stream about = STREAM_EMPTY;
	struct walk walk = {.count = take_number(input, 1) % (FACTS + 1)};

	about_begin(&about);
	for (size_t i = 0; i < walk.count; i++) {
		unsigned kind = ABOUT_COMPILER + (unsigned)take_number(input, 1) % (ABOUT_BUILD - ABOUT_COMPILER + 1);
		const struct span span = {input, 1};

		walk.texts[i] = take_text(input);
		if (kind == ABOUT_PART) {
			about_part(&about, walk.texts[i], &span);
		} else if (kind == ABOUT_ARTIFACT) {
			about_artifact(&about, walk.texts[i], kind, (uint32_t)i);
		} else {
			about_text(&about, (enum about_kind)kind, walk.texts[i]);
		}
	}
	require(!about.failed);
	walk.bytes = about.bytes;
	walk.size = about.size;
	require(about_read(about.bytes, about.size, compare, &walk) == 0);
	require(walk.seen == walk.count);
	for (size_t i = 0; i < walk.count; i++) {
		free(walk.texts[i]);
	}
	stream_free(&about);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};

	if (take_number(&input, 1) & 1) {
		uint8_t *copy = copy_of(input.at, input.left);
		struct walk walk = {.bytes = copy, .size = input.left};

		(void)about_read(copy, input.left, look, &walk);
		free(copy);
	} else {
		build_and_read(&input);
	}
	return 0;
}
