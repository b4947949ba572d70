/* SPDX-License-Identifier: MIT */
/* Dependencies without their stamps: what they ask for, and not who saw it where. */
#include "keygen/dependencies.h"
#include "keygen/dependencies_format.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define TURN_NS (INT64_C(60) * 1000000000)

/* A cursor over bytes that may be written to. */
struct walk {
	uint8_t *at;
	size_t left;
	bool failed;
};

static uint8_t *take(struct walk *walk, size_t size)
{
	uint8_t *at = walk->at;

	if (walk->failed || size > walk->left) {
		walk->failed = true;
		return NULL;
	}
	walk->at += size;
	walk->left -= size;
	return at;
}

static uint32_t take_u32(struct walk *walk)
{
	const uint8_t *at = take(walk, sizeof(uint32_t));
	uint32_t value = 0;

	if (at) {
		memcpy(&value, at, sizeof(value));
	}
	return value;
}

static void forget_item(struct walk *walk, bool exact)
{
	struct fixed_identity identity;
	struct fixed_content content;
	uint32_t kind = take_u32(walk);
	uint32_t name = take_u32(walk);
	uint8_t *at;

	(void)take_u32(walk);
	(void)take(walk, name);
	at = kind == ITEM_ABSENT ? NULL : take(walk, sizeof(identity));
	if (at) {
		memcpy(&identity, at, sizeof(identity));
		identity = (struct fixed_identity){
		    .size = exact || kind == ITEM_CONTENT ? identity.size : 0,
		    .mtime_ns = exact ? identity.mtime_ns : 0,
		    .type = identity.type,
		};
		memcpy(at, &identity, sizeof(identity));
	}
	at = kind == ITEM_CONTENT ? take(walk, sizeof(content)) : NULL;
	if (at) {
		memcpy(&content, at, sizeof(content));
		content.ctime_ns = 0;
		memcpy(at, &content, sizeof(content));
	}
}

static void forget_group(struct walk *walk, bool exact)
{
	uint32_t hints;
	uint32_t items;
	uint32_t size;
	uint8_t *at;

	(void)take_u32(walk); /* base */
	hints = take_u32(walk);
	items = take_u32(walk);
	size = take_u32(walk);
	(void)take(walk, size);
	at = hints & HINT_STAMPED ? take(walk, sizeof(struct fixed_directory)) : NULL;
	if (at) {
		memset(at, 0, sizeof(struct fixed_directory));
	}
	for (uint32_t i = 0; i < items && !walk->failed; i++) {
		forget_item(walk, exact);
	}
}

void dependencies_forget(void *dependencies, size_t size)
{
	struct walk walk = {.at = dependencies, .left = size};
	uint32_t magic = take_u32(&walk);
	uint32_t flags = take_u32(&walk);
	uint32_t roots = take_u32(&walk);
	uint32_t groups = take_u32(&walk);
	uint8_t *stamps;

	(void)take_u32(&walk); /* items, classes */
	(void)take_u32(&walk);
	stamps = take(&walk, sizeof(struct fixed_stamps));
	if (!stamps || magic != DEPENDENCIES_MAGIC) {
		return;
	}
	memset(stamps, 0, sizeof(struct fixed_stamps));
	if (flags & DEPENDENCIES_ARITHMETIC) {
		(void)take(&walk, KEY_BYTES);
	}
	if (flags & DEPENDENCIES_MACHINE) {
		(void)take(&walk, take_u32(&walk) * sizeof(struct machine_answer));
	}
	for (uint32_t i = 0; i < roots && !walk.failed; i++) {
		uint32_t text = take_u32(&walk);

		(void)take(&walk, text == ROOT_FREE ? 0 : text);
	}
	for (uint32_t i = 0; i < groups && !walk.failed; i++) {
		forget_group(&walk, (flags & DEPENDENCIES_EXACT) != 0);
	}
}

bool dependencies_same(const void *one, size_t one_size, const void *other, size_t other_size)
{
	uint8_t *copies;
	bool same;

	if (one_size != other_size) {
		return false;
	}
	if (one_size == 0 || memcmp(one, other, one_size) == 0) {
		return true;
	}
	copies = malloc(2 * one_size);
	if (!copies) {
		return false;
	}
	memcpy(copies, one, one_size);
	memcpy(copies + one_size, other, one_size);
	dependencies_forget(copies, one_size);
	dependencies_forget(copies + one_size, one_size);
	same = memcmp(copies, copies + one_size, one_size) == 0;
	free(copies);
	return same;
}

static struct fixed_stamps stamps_in(const void *dependencies)
{
	struct fixed_stamps stamps;

	memcpy(&stamps, (const uint8_t *)dependencies + DEPENDENCIES_STAMPS_AT, sizeof(stamps));
	return stamps;
}

/* Those that were seen stand first, in the order of the dependencies, before those that were kept. */
static bool same_mounts(const struct fixed_stamps *one, const struct fixed_stamps *other)
{
	for (uint32_t i = 0; i < one->mounts && i < other->mounts && i < MOUNTS_MAX; i++) {
		if (!mount_same(&one->mount[i], &other->mount[i])) {
			return false;
		}
	}
	return true;
}

bool dependencies_lately_elsewhere(const void *dependencies, const void *anew, size_t size)
{
	struct fixed_stamps before;
	struct fixed_stamps after;
	int64_t now = stamp_now();

	if (size < DEPENDENCIES_STAMPS_AT + sizeof(before)) {
		return false;
	}
	before = stamps_in(dependencies);
	after = stamps_in(anew);
	return before.taken_ns != 0 && now >= before.taken_ns && now - before.taken_ns < TURN_NS &&
	       (memcmp(before.boot, after.boot, sizeof(before.boot)) != 0 || !same_mounts(&before, &after));
}
