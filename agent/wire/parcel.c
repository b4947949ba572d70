/* SPDX-License-Identifier: MIT */
/*
 * parcel_add() removes the stamps of an entry, so that results of two nodes can be compared by their dependencies.
 */
#include "agent/wire/parcel.h"

#include "cache/tools/bundle.h"
#include "cache/tools/foreign.h"
#include "keygen/dependencies.h"

#include <errno.h>
#include <string.h>

/* Rejects results of another key, because a value could otherwise insert them into this cache. */
static int add_of_key(struct parcel *parcel, const struct entry *entry, const uint8_t key[ENTRY_KEY_BYTES])
{
	return memcmp(entry_info(entry)->key, key, ENTRY_KEY_BYTES) == 0 ? parcel_add(parcel, entry) : -EBADMSG;
}

/* After an error the caller discards the parcel, because its missing results would seem absent from the engine. */
static int read_bundle(struct value_reader *value, const uint8_t key[ENTRY_KEY_BYTES], struct parcel *parcel)
{
	enum bundle_found found = BUNDLE_ENTRY;
	struct bundle_reader reader;
	int error = bundle_read_begin(&reader, 0, value_read, value);

	while (error == 0 && found == BUNDLE_ENTRY) {
		struct entry *entry = NULL;

		found = bundle_read_next(&reader, &entry, &error);
		if (found == BUNDLE_ENTRY) {
			error = add_of_key(parcel, entry, key);
		}
		entry_unref(entry);
	}
	if (error == 0 && (found != BUNDLE_END || parcel->count == 0)) {
		error = -EBADMSG;
	}
	return error;
}

/* All errors of a bundle except -ENOMEM become VALUE_DAMAGED, because the value cannot be used in either case. */
enum value_found parcel_open(const void *value, size_t size, const uint8_t key[ENTRY_KEY_BYTES],
                             const struct keyring *keyring, enum value_trust trust, uint64_t raw_max,
                             struct parcel *ret_parcel)
{
	struct parcel parcel = {.count = 0};
	struct value_reader reader;
	enum value_found found = value_open(value, size, key, keyring, trust, raw_max, &reader);
	int error;

	if (found != VALUE_SOUND) {
		return found;
	}
	error = read_bundle(&reader, key, &parcel);
	value_close(&reader);
	if (error != 0) {
		parcel_free(&parcel);
		return error == -ENOMEM ? VALUE_NO_MEMORY : VALUE_DAMAGED;
	}
	*ret_parcel = parcel;
	return VALUE_SOUND;
}

/* The stamps are removed, because the stamps of this node are not valid on another node. */
int parcel_add(struct parcel *parcel, const struct entry *entry)
{
	int error = parcel->count == STORE_RESULTS_MAX ? -ENOSPC : 0;

	if (error == 0) {
		error = foreign_neutral(entry, dependencies_forget, &parcel->entries[parcel->count]);
	}
	parcel->count += error == 0;
	return error;
}

/*
 * Returns whether the parcel has a result with the same dependencies. The store uses the same rule, because such
 * results are valid for the same requests.
 */
static bool has_result(const struct parcel *parcel, const struct entry *entry)
{
	size_t size;
	const void *dependencies = entry_dependencies(entry, &size);

	for (size_t i = 0; i < parcel->count; i++) {
		size_t other_size;
		const void *other = entry_dependencies(parcel->entries[i], &other_size);

		if (dependencies_same(dependencies, size, other, other_size)) {
			return true;
		}
	}
	return false;
}

/* The results of `parcel` stay first, so they count as the newest. */
bool parcel_merge(struct parcel *parcel, const struct parcel *other)
{
	bool more = false;

	for (size_t i = 0; i < other->count && parcel->count < STORE_RESULTS_MAX; i++) {
		if (!has_result(parcel, other->entries[i])) {
			parcel->entries[parcel->count++] = entry_ref(other->entries[i]);
			more = true;
		}
	}
	return more;
}

/* If the parcel from the engine has all results, nothing has to be uploaded. */
bool parcel_holds(const struct parcel *parcel, const struct parcel *part)
{
	for (size_t i = 0; i < part->count; i++) {
		if (!has_result(parcel, part->entries[i])) {
			return false;
		}
	}
	return true;
}

/*
 * Returns how many of the newest results fit; 0: none. This is computed before the compression, because compressing a
 * value that is too large takes much longer.
 */
static size_t count_fitting(const struct parcel *parcel, uint64_t raw_max, uint64_t *ret_size)
{
	uint64_t size = 2 * (uint64_t)BUNDLE_FRAME_BYTES;
	size_t count = 0;

	while (count < parcel->count) {
		uint64_t more = BUNDLE_FRAME_BYTES + entry_info(parcel->entries[count])->total_size;

		if (size > raw_max || more > raw_max - size) {
			break;
		}
		size += more;
		count++;
	}
	*ret_size = size;
	return count;
}

/* If not all results fit, the value contains the newest ones, which are the most likely to be used. */
int parcel_seal(const struct parcel *parcel, const uint8_t key[ENTRY_KEY_BYTES], const struct keyring *keyring,
                uint64_t raw_max, void **ret_value, size_t *ret_size)
{
	uint64_t raw_size;
	size_t count = count_fitting(parcel, raw_max, &raw_size);
	struct bundle_writer bundle;
	struct value_writer value;
	int error;

	if (count == 0) {
		return -EFBIG;
	}
	error = value_begin(&value, VALUE_QUICK, raw_size, raw_max);
	if (error != 0) {
		return error;
	}
	error = bundle_write_begin(&bundle, 1, value_write, &value);
	for (size_t i = 0; i < count && error == 0; i++) {
		error = bundle_write_entry(&bundle, parcel->entries[i]);
	}
	if (error == 0) {
		error = bundle_write_end(&bundle);
	}
	if (error != 0) {
		value_abandon(&value);
		return error;
	}
	return value_end(&value, key, keyring, ret_value, ret_size);
}

void parcel_free(struct parcel *parcel)
{
	while (parcel->count > 0) {
		entry_unref(parcel->entries[--parcel->count]);
	}
}
