/* SPDX-License-Identifier: MIT */
/*
 * Clears stamps, or ignores them in a comparison. Sizes and times that are dependencies themselves
 * (DEPENDENCIES_EXACT) stay.
 */
#include "keygen/dependencies.h"
#include "keygen/dependencies_read.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define TURN_NS (INT64_C(60) * 1000000000)

/* Clears all fields that are not dependencies; with DEPENDENCIES_EXACT, size and time are dependencies. */
static void forget_item(uint8_t *at, const struct checked_item *item, bool exact)
{
	struct fixed_identity identity = {.type = item->identity.type};

	if (exact || item->kind == ITEM_CONTENT) {
		identity.size = item->identity.size;
	}
	if (exact) {
		identity.mtime_ns = item->identity.mtime_ns;
	}
	memcpy(at, &identity, sizeof(identity));
	if (item->kind == ITEM_CONTENT) {
		struct fixed_content content = item->content;

		content.ctime_ns = 0;
		memcpy(at + sizeof(identity), &content, sizeof(content));
	}
}

static int forget_group(struct reader *reader, uint8_t *bytes)
{
	struct place_group group;
	uint32_t items = 0;
	int error = reader_group(reader, &group, &items);

	for (; error == 0 && items > 0; items--) {
		struct checked_item item;
		const char *name;
		size_t size;

		error = reader_item(reader, &item, &name, &size);
		if (error == 0 && item.kind != ITEM_ABSENT) {
			forget_item(bytes + item.at, &item, (reader->flags & DEPENDENCIES_EXACT) != 0);
		}
	}
	return error;
}

void dependencies_forget(void *dependencies, size_t size)
{
	struct fixed_stamps stamps;
	struct reader reader;
	int error = reader_head(&reader, dependencies, size, &stamps);

	if (error == 0) {
		memset((uint8_t *)dependencies + DEPENDENCIES_STAMPS_AT, 0, sizeof(stamps));
	}
	for (uint32_t i = 0; error == 0 && i < reader.roots; i++) {
		const char *text;
		size_t text_size;

		error = reader_root(&reader, &text, &text_size);
	}
	for (uint32_t i = 0; error == 0 && i < reader.groups; i++) {
		error = forget_group(&reader, dependencies);
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
	/* Stamps have a fixed size, so copies without stamps can be compared byte by byte. */
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

/*
 * Compares the mounts at equal positions. The mounts that the last check saw come first, in the order of the
 * dependencies, and then those that were copied from earlier stamps, which either list may lack.
 */
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
