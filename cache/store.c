/* SPDX-License-Identifier: MIT */
/*
 * store: the results of a key in one file
 *
 *   get:  open, judge --> for each result, newest first: header -> key -> conditions sound -> check holds?
 *           |                 | damage                                   no: next      yes: adopt, used now, served
 *           |                 v                                          past the last: -ESTALE
 *           |              discard (unless replaced meanwhile): -EBADMSG
 *           `-> -ENOENT, -EPERM
 *   put:  lock of the key --> temporary: the new result, then each old sound one that differs --> renamed --> unlock
 *         --> counted; past the cap: what was used longest ago is removed
 */
#include "cache/store.h"

#include "cache/calls.h"
#include "cache/directory.h"
#include "cache/evict.h"
#include "cache/lock.h"
#include "cache/recency.h"
#include "cache/source.h"
#include "cache/temporary.h"
#include "cache/trust.h"
#include "cache/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOCK_WAIT_US 200000

struct store {
	struct directory directory;
	uint64_t max_size;
	bool read_only;
	bool fsync;
	store_clock *clock;
	store_same *same;
	_Atomic uint64_t evictions; /* not yet taken */
};

static bool same_bytes(const void *one, size_t one_size, const void *other, size_t other_size)
{
	return one_size == other_size && memcmp(one, other, one_size) == 0;
}

int store_open(const struct store_options *options, struct store **ret_store)
{
	struct store *store;
	size_t length;

	if (options->directory && options->directory[0] != '/') {
		return -EINVAL;
	}
	store = calloc(1, sizeof(*store));
	if (!store) {
		return -ENOMEM;
	}
	if (options->directory) {
		store->directory.path = strdup(options->directory);
		if (!store->directory.path) {
			free(store);
			return -ENOMEM;
		}
		/* O_NOFOLLOW would follow a link that is spelled with a slash behind it */
		for (length = strlen(store->directory.path); length > 1; length--) {
			if (store->directory.path[length - 1] != '/') {
				break;
			}
			store->directory.path[length - 1] = '\0';
		}
	}
	store->directory.shared = options->shared;
	store->max_size = options->max_size;
	store->read_only = options->read_only;
	store->fsync = options->fsync;
	store->clock = options->clock ? options->clock : recency_now;
	store->same = options->same ? options->same : same_bytes;
	*ret_store = store;
	return 0;
}

void store_close(struct store *store)
{
	if (store) {
		free(store->directory.path);
		free(store);
	}
}

static int find_result(struct source *source, const uint8_t key[ENTRY_KEY_BYTES], store_check *check, void *context,
                       struct entry **ret_entry)
{
	struct entry_info info;
	uint64_t offset;
	unsigned count;

	for (offset = 0, count = 0; offset < source->size && count < STORE_RESULTS_MAX; offset += info.total_size) {
		const uint8_t *head = NULL;
		uint8_t *owned = NULL;
		int rc = source_header(source, offset, key, &info);

		if (rc == 0) {
			rc = source_head(source, offset, &info, &head, &owned);
		}
		if (rc < 0) {
			return rc;
		}
		if (!check || info.conditions_size == 0 ||
		    check(context, head + ENTRY_HEADER_BYTES, info.conditions_size)) {
			return source_take(source, offset, &info, owned, ret_entry);
		}
		free(owned);
		count++;
	}
	return -ESTALE;
}

static bool is_same(const struct stat *found, const struct stat *seen)
{
	return found->st_dev == seen->st_dev && found->st_ino == seen->st_ino && found->st_size == seen->st_size &&
	       found->st_mtim.tv_sec == seen->st_mtim.tv_sec && found->st_mtim.tv_nsec == seen->st_mtim.tv_nsec;
}

/* Removes a bad file, unless it is another one by now, or somebody is about to replace it. */
static void discard_damaged(const struct store *store, int home, int shard, const uint8_t key[ENTRY_KEY_BYTES],
                            const char *name, const struct stat *seen)
{
	struct stat found;
	int lock = -1;

	if (store->read_only || lock_take_key(&store->directory, home, key, 0, &lock) < 0) {
		return;
	}
	if (fstatat(shard, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && is_same(&found, seen)) {
		(void)unlinkat(shard, name, S_ISDIR(found.st_mode) ? AT_REMOVEDIR : 0);
	}
	lock_release(lock);
}

/* A process whose user ids are one and not root's has no way to another. */
static bool user_may_change(void)
{
	static _Atomic bool settled;
	uid_t real = 0;
	uid_t effective = 0;
	uid_t saved = 0;

	if (atomic_load_explicit(&settled, memory_order_relaxed)) {
		return false;
	}
	if (getresuid(&real, &effective, &saved) < 0 || effective == 0 || real != effective || saved != effective) {
		return true;
	}
	atomic_store_explicit(&settled, true, memory_order_relaxed);
	return false;
}

static int read_result(struct store *store, int home, int shard, const uint8_t key[ENTRY_KEY_BYTES], store_check *check,
                       void *context, struct entry **ret_entry)
{
	struct source source = {.file = -1};
	char name[DIRECTORY_NAME_BYTES];
	struct stat found = {0};
	int64_t now = store->read_only ? 0 : store->clock();
	int rc;

	directory_entry_name(key, name);
	rc = source_open(&store->directory, shard, name, &found, &source);
	if (rc == 0) {
		rc = source_load(&source);
	}
	if (rc == 0) {
		rc = find_result(&source, key, check, context, ret_entry);
	}
	source_close(&source);
	if (rc == 0 && (found.st_uid != 0 || (found.st_mode & S_IWGRP)) && user_may_change()) {
		entry_set_reader(*ret_entry, call_geteuid());
	}
	if (rc == 0 && !store->read_only && recency_due(&found, now)) {
		recency_touch(shard, name, &found, now);
	}
	if (rc == -EBADMSG || rc == -EPERM) {
		discard_damaged(store, home, shard, key, name, &found);
	}
	return rc;
}

int store_get(struct store *store, const uint8_t key[ENTRY_KEY_BYTES], store_check *check, void *context,
              struct entry **ret_entry)
{
	int home = -1;
	int shard = -1;
	int rc;

	if (!store->directory.path) {
		return -ENXIO;
	}
	rc = directory_open(&store->directory, DIRECTORY_REACH, &home);
	if (rc < 0) {
		return rc == -ESTALE ? -EIO : rc; /* NFS: not a word of ours */
	}
	rc = directory_open_shard(&store->directory, home, key[0], DIRECTORY_REACH, &shard);
	if (rc < 0) {
		close(home);
		return rc == -ESTALE ? -EIO : rc;
	}
	rc = read_result(store, home, shard, key, check, context, ret_entry);
	close(shard);
	close(home);
	return rc;
}

static bool same_conditions(const struct store *store, const struct entry *a, const struct entry *b)
{
	size_t a_size;
	size_t b_size;
	const void *a_bytes = entry_conditions(a, &a_size);
	const void *b_bytes = entry_conditions(b, &b_size);

	return store->same(a_bytes, a_size, b_bytes, b_size);
}

/* No file is larger than this. */
static uint64_t size_limit(const struct store *store)
{
	return store->max_size ? store->max_size / 8 : UINT64_MAX;
}

/* Old results that cannot be read, or find no room, are left behind; only a temporary file that fails is an error. */
static int append_old(const struct store *store, int shard, const char *name, const struct entry *entry,
                      struct temporary *temporary, uint64_t *ret_replaced)
{
	const uint8_t *key = entry_info(entry)->key;
	uint64_t room = size_limit(store) < temporary->limit ? size_limit(store) : temporary->limit;
	struct source source = {.file = -1};
	struct entry_info info;
	struct stat found = {0};
	unsigned count = 1;
	uint64_t offset;
	int rc = 0;

	rc = source_open(&store->directory, shard, name, &found, &source);
	*ret_replaced = S_ISREG(found.st_mode) ? (uint64_t)found.st_size : 0;
	if (rc < 0) {
		return 0;
	}
	for (offset = 0; offset < source.size && count < STORE_RESULTS_MAX && rc == 0; offset += info.total_size) {
		struct entry *old;

		if (source_header(&source, offset, key, &info) < 0 || info.total_size > room - temporary->written) {
			break;
		}
		if (source_take(&source, offset, &info, NULL, &old) < 0) {
			continue;
		}
		if (!same_conditions(store, old, entry)) {
			size_t size;
			const void *bytes = entry_bytes(old, &size);

			rc = temporary_append(temporary, bytes, size);
			count++;
		}
		entry_unref(old);
	}
	source_close(&source);
	return rc;
}

/* What the name stands for after, and how much it stood for before. */
struct published {
	int64_t now;
	uint64_t size;
	uint64_t replaced;
};

static int publish(const struct store *store, int shard, const char *name, const struct entry *entry,
                   struct published *published)
{
	struct temporary temporary;
	size_t size;
	const void *bytes = entry_bytes(entry, &size);
	int rc = temporary_begin(shard, trust_first_mode(store->directory.shared, shard, 0666), &temporary);

	if (rc < 0) {
		return rc;
	}
	rc = store->directory.shared ? trust_settle_file(true, shard, temporary.file) : 0;
	if (rc == 0) {
		rc = temporary_append(&temporary, bytes, size);
	}
	if (rc == 0) {
		rc = append_old(store, shard, name, entry, &temporary, &published->replaced);
	}
	if (rc == 0) {
		published->now = store->clock();
		published->size = temporary.written;
		recency_mark_file(temporary.file, published->now);
		rc = temporary_publish(&temporary, name, store->fsync ? DURABILITY_SYNC : DURABILITY_NONE);
	}
	if (rc < 0) {
		temporary_discard(&temporary);
	}
	return rc;
}

static void keep_below_cap(struct store *store, int home, const uint8_t *key, const struct published *published)
{
	struct evict evict = {&store->directory, home, store->max_size, published->now};
	struct evict_report report = {0};

	(void)evict_put(&evict, key, published->size, published->replaced, &report);
	atomic_fetch_add_explicit(&store->evictions, report.entries, memory_order_relaxed);
}

/* Is the entry, byte for byte, one of those in the file? */
static bool is_there(const struct store *store, int shard, const char *name, const struct entry *entry)
{
	const struct entry_info *wanted = entry_info(entry);
	struct source source = {.file = -1};
	struct entry_info info;
	struct stat found;
	bool there = false;
	size_t size;
	const uint8_t *bytes = entry_bytes(entry, &size);

	if (source_open(&store->directory, shard, name, &found, &source) < 0 || source_load(&source) < 0) {
		source_close(&source);
		return false;
	}
	for (uint64_t offset = 0; offset < source.size && !there; offset += info.total_size) {
		const uint8_t *head;
		uint8_t *owned;

		if (source_header(&source, offset, wanted->key, &info) < 0 ||
		    source_head(&source, offset, &info, &head, &owned) < 0) {
			break;
		}
		there = info.body_offset == wanted->body_offset && memcmp(head, bytes, info.body_offset) == 0;
		free(owned);
	}
	source_close(&source);
	return there;
}

/* `replaced`: what must still be there, and who else has the key's lock is not waited for. NULL: neither. */
static int put_result(struct store *store, const struct entry *entry, const struct entry *replaced)
{
	const struct entry_info *info = entry_info(entry);
	struct published published = {0};
	char name[DIRECTORY_NAME_BYTES];
	int home = -1;
	int shard = -1;
	int lock = -1;
	int rc;

	if (!store->directory.path) {
		return -ENXIO;
	}
	if (store->read_only) {
		return -EROFS;
	}
	if (info->total_size > size_limit(store)) {
		return -EFBIG;
	}
	rc = directory_open(&store->directory, replaced ? DIRECTORY_REACH : DIRECTORY_MAKE, &home);
	if (rc < 0) {
		return rc;
	}
	rc = directory_open_shard(&store->directory, home, info->key[0], replaced ? DIRECTORY_LIST : DIRECTORY_MAKE,
	                          &shard);
	if (rc < 0) {
		close(home);
		return rc;
	}
	directory_entry_name(info->key, name);
	if (lock_take_key(&store->directory, home, info->key, replaced ? 0 : LOCK_WAIT_US, &lock) < 0) {
		lock = -1; /* better to lose another's result than to keep the host waiting */
		rc = replaced ? -EAGAIN : 0;
	}
	if (rc == 0 && replaced && !is_there(store, shard, name, replaced)) {
		rc = -EAGAIN;
	}
	if (rc == 0) {
		rc = publish(store, shard, name, entry, &published);
	}
	lock_release(lock);
	close(shard);
	if (rc == 0) {
		keep_below_cap(store, home, info->key, &published);
	}
	close(home);
	return rc;
}

int store_put(struct store *store, const struct entry *entry)
{
	return put_result(store, entry, NULL);
}

int store_amend(struct store *store, const struct entry *entry, const struct entry *anew)
{
	return put_result(store, anew, entry);
}

uint64_t store_take_evictions(struct store *store)
{
	return atomic_exchange_explicit(&store->evictions, 0, memory_order_relaxed);
}

int store_prune(struct store *store, struct store_pruned *ret_pruned)
{
	struct evict evict = {.directory = &store->directory, .max_size = store->max_size, .now = store->clock()};
	struct evict_report report = {0};
	int rc;

	if (!store->directory.path) {
		return -ENXIO;
	}
	if (store->read_only) {
		return -EROFS;
	}
	rc = directory_open(&store->directory, DIRECTORY_REACH, &evict.home);
	if (rc == 0) {
		rc = evict_all(&evict, &report);
		close(evict.home);
	}
	if (rc < 0 && rc != -ENOENT) {
		return rc;
	}
	*ret_pruned = (struct store_pruned){
	    .removed = {.entries = report.entries, .bytes = report.bytes, .temporaries = report.temporaries},
	    .foreign = report.foreign,
	    .left = {.entries = report.left_entries, .bytes = report.left_bytes},
	    .failures = report.failures,
	};
	return 0;
}

int store_usage(struct store *store, struct store_usage *ret_usage)
{
	return store->directory.path ? usage_count(&store->directory, ret_usage) : -ENXIO;
}

int store_usage_noted(struct store *store, struct store_usage *ret_usage)
{
	return store->directory.path ? usage_noted(&store->directory, ret_usage) : -ENXIO;
}

int store_clear(struct store *store, struct store_usage *ret_removed)
{
	if (!store->directory.path) {
		return -ENXIO;
	}
	return store->read_only ? -EROFS : usage_clear(&store->directory, ret_removed);
}
