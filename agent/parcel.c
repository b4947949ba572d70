/* SPDX-License-Identifier: MIT */
#include "agent/parcel.h"

#include "cache/foreign.h"
#include "keygen/conditions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* The entry at that place, in memory of its own. */
static int take_entry(const uint8_t *bytes, size_t left, const uint8_t key[ENTRY_KEY_BYTES], struct entry **ret_entry)
{
	struct entry_info info;
	void *copy;
	int error = entry_parse_header(bytes, left, left, &info);

	if (error != 0) {
		return error;
	}
	if (memcmp(info.key, key, sizeof(info.key)) != 0) {
		return -EBADMSG;
	}
	copy = malloc(info.total_size);
	if (copy == NULL) {
		return -ENOMEM;
	}
	memcpy(copy, bytes, info.total_size);
	error = entry_adopt(copy, info.total_size, ret_entry);
	if (error != 0) {
		free(copy);
	}
	return error;
}

int parcel_read(const void *raw, size_t size, const uint8_t key[ENTRY_KEY_BYTES], struct parcel *ret_parcel)
{
	struct parcel parcel = {.count = 0};
	size_t at = 0;
	int error = size == 0 ? -EBADMSG : 0;

	while (error == 0 && at < size) {
		struct entry *entry = NULL;

		error = parcel.count == STORE_RESULTS_MAX || size - at < ENTRY_HEADER_BYTES
		            ? -EBADMSG
		            : take_entry((const uint8_t *)raw + at, size - at, key, &entry);
		if (error == 0) {
			at += entry_info(entry)->total_size;
			error = parcel_add(&parcel, entry);
			entry_unref(entry);
		}
	}
	if (error != 0) {
		parcel_free(&parcel);
		return error == -ENOMEM ? error : -EBADMSG;
	}
	*ret_parcel = parcel;
	return 0;
}

int parcel_add(struct parcel *parcel, const struct entry *entry)
{
	int error = parcel->count == STORE_RESULTS_MAX ? -ENOSPC : 0;

	if (error == 0) {
		error = foreign_neutral(entry, conditions_forget, &parcel->entries[parcel->count]);
	}
	parcel->count += error == 0;
	return error;
}

static bool has(const struct parcel *parcel, const struct entry *entry)
{
	size_t size;
	const void *conditions = entry_conditions(entry, &size);

	for (size_t i = 0; i < parcel->count; i++) {
		size_t other_size;
		const void *other = entry_conditions(parcel->entries[i], &other_size);

		if (conditions_same(conditions, size, other, other_size)) {
			return true;
		}
	}
	return false;
}

bool parcel_merge(struct parcel *parcel, const struct parcel *other)
{
	bool more = false;

	for (size_t i = 0; i < other->count && parcel->count < STORE_RESULTS_MAX; i++) {
		if (!has(parcel, other->entries[i])) {
			parcel->entries[parcel->count++] = entry_ref(other->entries[i]);
			more = true;
		}
	}
	return more;
}

bool parcel_holds(const struct parcel *parcel, const struct parcel *part)
{
	for (size_t i = 0; i < part->count; i++) {
		if (!has(parcel, part->entries[i])) {
			return false;
		}
	}
	return true;
}

int parcel_write(const struct parcel *parcel, uint64_t size_max, void **ret_raw, size_t *ret_size)
{
	size_t count = 0;
	size_t size = 0;
	uint8_t *raw;

	while (count < parcel->count && entry_info(parcel->entries[count])->total_size <= size_max - size) {
		size += entry_info(parcel->entries[count++])->total_size;
	}
	if (count == 0) {
		return -EFBIG;
	}
	raw = malloc(size);
	if (raw == NULL) {
		return -ENOMEM;
	}
	size = 0;
	for (size_t i = 0; i < count; i++) {
		size_t part;
		const void *bytes = entry_bytes(parcel->entries[i], &part);

		memcpy(raw + size, bytes, part);
		size += part;
	}
	*ret_raw = raw;
	*ret_size = size;
	return 0;
}

uint64_t parcel_sum(const struct parcel *parcel)
{
	uint64_t sum = parcel->count;

	for (size_t i = 0; i < parcel->count; i++) {
		size_t size;
		const void *bytes = entry_bytes(parcel->entries[i], &size);

		sum += XXH3_64bits(bytes, size);
	}
	return sum;
}

void parcel_free(struct parcel *parcel)
{
	while (parcel->count > 0) {
		entry_unref(parcel->entries[--parcel->count]);
	}
}
