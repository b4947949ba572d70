/* SPDX-License-Identifier: MIT */
/*
 * A hand's way with one result:
 *
 *   home and shard, kept or opened --> there already? --yes--> known
 *      ^                                  |no
 *      |                                  v
 *      |                               key's lock --> published --> unlocked --> pending --> many: all counted
 *      `-- gone, or no descriptors: -----'
 *          all let go, once
 */
#include "cache/tools/store_run.h"

#include "cache/lock.h"
#include "cache/recency.h"
#include "cache/store_state.h"
#include "cache/upkeep/evict.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CAP_SHARE 64 /* of the cap may be pending */
#define STEP_NS   1000

struct store_run {
	struct store *store;
	store_alike *alike;
	int64_t stamp;         /* given last */
	pthread_mutex_t mutex; /* of what follows, and so that one hand at a time counts */
	struct evict_put pending[STORE_RUN_PENDING];
	size_t count;
	uint64_t bytes;
};

struct store_hand {
	struct store_run *run;
	int home; /* -1: not open, as are the others */
	int lock;
	int shards[DIRECTORY_SHARDS];
};

int store_run_begin(struct store *store, store_alike *alike, struct store_run **ret_run)
{
	struct store_run *run;

	if (!store->directory.path) {
		return -ENXIO;
	}
	if (store->read_only) {
		return -EROFS;
	}
	run = calloc(1, sizeof(*run));
	if (!run) {
		return -ENOMEM;
	}
	run->store = store;
	run->alike = alike;
	(void)pthread_mutex_init(&run->mutex, NULL);
	*ret_run = run;
	return 0;
}

/* Where others keep the index locked, they are counted next time, and at the end by a scan. */
static void count_pending(struct store_run *run, int home)
{
	struct store *store = run->store;
	const struct evict evict = {&store->directory, home, store->max_size, store->clock()};
	struct evict_report report = {0};

	if (run->count == 0 || evict_put_all(&evict, run->pending, run->count, &report) == -EAGAIN) {
		return;
	}
	atomic_fetch_add_explicit(&store->evictions, report.entries, memory_order_relaxed);
	run->count = 0;
	run->bytes = 0;
}

void store_run_end(struct store_run *run)
{
	int home;

	if (!run) {
		return;
	}
	if (run->count > 0 && directory_open(&run->store->directory, DIRECTORY_REACH, &home) == 0) {
		count_pending(run, home);
		close(home);
	}
	(void)pthread_mutex_destroy(&run->mutex);
	free(run);
}

int64_t store_run_stamp(struct store_run *run)
{
	int64_t stamp = recency_stamp(run->store->clock());

	run->stamp = stamp > run->stamp ? stamp : run->stamp + STEP_NS;
	return run->stamp;
}

static void forget_all(struct store_hand *hand)
{
	hand->home = -1;
	hand->lock = -1;
	for (size_t i = 0; i < DIRECTORY_SHARDS; i++) {
		hand->shards[i] = -1;
	}
}

static void let_go(struct store_hand *hand)
{
	for (size_t i = 0; i < DIRECTORY_SHARDS; i++) {
		if (hand->shards[i] >= 0) {
			close(hand->shards[i]);
		}
	}
	lock_release(hand->lock);
	if (hand->home >= 0) {
		close(hand->home);
	}
	forget_all(hand);
}

int store_hand_begin(struct store_run *run, struct store_hand **ret_hand)
{
	struct store_hand *hand = malloc(sizeof(*hand));

	if (!hand) {
		return -ENOMEM;
	}
	hand->run = run;
	forget_all(hand);
	*ret_hand = hand;
	return 0;
}

void store_hand_end(struct store_hand *hand)
{
	if (hand) {
		let_go(hand);
		free(hand);
	}
}

static int reach(struct store_hand *hand, unsigned shard)
{
	const struct directory *directory = &hand->run->store->directory;
	int rc = 0;

	if (hand->home < 0) {
		rc = directory_open(directory, DIRECTORY_MAKE, &hand->home);
		if (rc == 0) {
			lock_begin(directory, hand->home, &hand->lock);
		}
	}
	if (rc == 0 && hand->shards[shard] < 0) {
		rc = directory_open_shard(directory, hand->home, shard, DIRECTORY_MAKE, &hand->shards[shard]);
	}
	return rc;
}

struct wanted {
	const struct store *store;
	const void *dependencies;
	size_t size;
};

static bool asks_the_same(void *context, const void *dependencies, size_t size)
{
	const struct wanted *wanted = context;

	return wanted->store->same(dependencies, size, wanted->dependencies, wanted->size);
}

/* One that is there has been used, as by a look-up. */
static bool is_known(const struct store_run *run, int shard, const char *name, const struct entry *entry, int64_t used)
{
	struct wanted wanted = {.store = run->store};
	struct source source = {.file = -1};
	struct entry *there = NULL;
	struct stat found;
	bool known;
	int rc = source_open(&run->store->directory, shard, name, &found, &source);

	wanted.dependencies = entry_dependencies(entry, &wanted.size);
	if (rc == 0) {
		rc = source_load(&source);
	}
	if (rc == 0) {
		rc = store_find_result(&source, entry_info(entry)->key, asks_the_same, &wanted, &there);
	}
	source_close(&source);
	known = rc == 0 && run->alike(there, entry);
	entry_unref(there);
	if (known && recency_due(&found, used)) {
		recency_touch(shard, name, &found, used);
	}
	return known;
}

static void note(struct store_hand *hand, const struct entry *entry, const struct published *published)
{
	struct store_run *run = hand->run;
	struct evict_put put = {.size = published->size, .replaced = published->replaced, .used = published->used};

	memcpy(put.key, entry_info(entry)->key, sizeof(put.key));
	(void)pthread_mutex_lock(&run->mutex);
	if (run->count == STORE_RUN_PENDING) { /* the index was locked by others when it was tried last */
		count_pending(run, hand->home);
		run->count = run->count == STORE_RUN_PENDING ? 0 : run->count;
	}
	run->pending[run->count++] = put;
	run->bytes += put.size;
	if (run->count == STORE_RUN_PENDING ||
	    (run->store->max_size != 0 && run->bytes >= run->store->max_size / CAP_SHARE)) {
		count_pending(run, hand->home);
	}
	(void)pthread_mutex_unlock(&run->mutex);
}

static int put(struct store_hand *hand, const struct entry *entry, int64_t used, enum store_put_outcome *ret_outcome)
{
	const struct store *store = hand->run->store;
	const uint8_t *key = entry_info(entry)->key;
	struct published published = {.used = used};
	char name[DIRECTORY_NAME_BYTES];
	int rc = reach(hand, key[0]);
	bool locked;

	if (rc < 0) {
		return rc;
	}
	directory_entry_name(key, name);
	if (is_known(hand->run, hand->shards[key[0]], name, entry, used)) {
		*ret_outcome = STORE_PUT_KNOWN;
		return 0;
	}
	locked = lock_wait_key(hand->lock, key, STORE_LOCK_WAIT_US); /* without: as store_put() */
	rc = store_publish(store, hand->shards[key[0]], name, entry, &published);
	if (locked) {
		lock_release_key(hand->lock, key);
	}
	if (rc == 0) {
		note(hand, entry, &published);
		*ret_outcome = STORE_PUT_DONE;
	}
	return rc;
}

int store_hand_put(struct store_hand *hand, const struct entry *entry, int64_t used,
                   enum store_put_outcome *ret_outcome)
{
	int rc;

	if (entry_info(entry)->total_size > store_size_limit(hand->run->store)) {
		return -EFBIG;
	}
	rc = put(hand, entry, used, ret_outcome);
	if (rc == -ENOENT || rc == -ESTALE || rc == -EMFILE || rc == -ENFILE) {
		let_go(hand);
		rc = put(hand, entry, used, ret_outcome);
	}
	return rc;
}
