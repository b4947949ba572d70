/* SPDX-License-Identifier: MIT */
/*
 * upload: the thread, its queue and its sweeps; upload_one.c uploads one key
 *
 *   RUNNING --upload_end()--> DRAINING: all keys are due, last sweep --nothing is left, or the time is over--> joined
 */
#include "agent/node/upload.h"

#include "cache/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRY_AGAIN_NS (INT64_C(5) * 1000000000)
#define SLACK_NS     (INT64_C(60) * 1000000000) /* a file server's clock may differ from ours by this much */
#define JOIN_NS      (INT64_C(500) * 1000000) /* longer than the time limit of an engine, which reports the error itself */

/* ---- queue */

/* A linear search through 1,024 keys is negligible compared with an upload. */
enum queue_put queue_put(struct queue *queue, const uint8_t key[ENTRY_KEY_BYTES], int64_t due_ns)
{
	for (size_t i = 0; i < queue->count; i++) {
		if (memcmp(queue->items[i].key, key, ENTRY_KEY_BYTES) == 0) {
			return QUEUE_THERE;
		}
	}
	if (queue->count == QUEUE_MOST) {
		return QUEUE_FULL;
	}
	memcpy(queue->items[queue->count].key, key, ENTRY_KEY_BYTES);
	queue->items[queue->count++].due_ns = due_ns;
	return QUEUE_PUT;
}

/* Returns the index of the item that is due first; 0 if the queue is empty. */
static size_t first_due(const struct queue *queue)
{
	size_t first = 0;

	for (size_t i = 1; i < queue->count; i++) {
		if (queue->items[i].due_ns < queue->items[first].due_ns) {
			first = i;
		}
	}
	return first;
}

bool queue_take(struct queue *queue, int64_t now_ns, uint8_t ret_key[ENTRY_KEY_BYTES])
{
	size_t first = first_due(queue);

	if (queue->count == 0 || queue->items[first].due_ns > now_ns) {
		return false;
	}
	memcpy(ret_key, queue->items[first].key, ENTRY_KEY_BYTES);
	queue->items[first] = queue->items[--queue->count];
	return true;
}

int64_t queue_due_ns(const struct queue *queue)
{
	return queue->count == 0 ? INT64_MAX : queue->items[first_due(queue)].due_ns;
}

/* ---- the thread */

struct upload {
	struct service *service;
	struct engine *engine;
	struct service_puts puts; /* used by the thread only; an engine that can be read may refuse values */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct queue queue;
	bool working;                /* the thread is uploading a key that is no longer in the queue */
	_Atomic int64_t deadline_ns; /* end of draining; INT64_MAX: running. Changed under the lock */
	int64_t sweep_ns;            /* when the next sweep is due */
	int64_t swept_ns;            /* CLOCK_REALTIME; files that changed before this time were swept */
};

/* Returns the time of CLOCK_REALTIME, because it is compared with the times of files. */
static int64_t files_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static bool is_draining(const struct upload *upload)
{
	return atomic_load(&upload->deadline_ns) != INT64_MAX;
}

/* Returns the time limit of an upload. While draining, it is at most the time that is left. */
static unsigned limit_ms(const struct upload *upload)
{
	int64_t left = (atomic_load(&upload->deadline_ns) - service_now_ns()) / 1000000;

	return left < 1 ? 1 : left < UPLOAD_ONE_LIMIT_MS ? (unsigned)left : UPLOAD_ONE_LIMIT_MS;
}

/* Returns whether the time for draining is over. A running agent has no such limit. */
static bool out_of_time(const struct upload *upload)
{
	return service_now_ns() >= atomic_load(&upload->deadline_ns);
}

/* While draining, each upload is tried once even if the breaker of uploads is open. */
static bool may_put(struct upload *upload)
{
	return service_may_ask(upload->service) && (service_may_put(&upload->puts) || is_draining(upload));
}

/* ---- sweeps */

struct looking {
	struct upload *upload;
	uint8_t (*keys)[ENTRY_KEY_BYTES];
	size_t count, room;
};

/* Returns the ctime, because copying or unpacking a file can set its mtime to an older time. */
static int64_t changed_ns(const struct stat *file)
{
	return file->st_ctim.tv_sec * INT64_C(1000000000) + file->st_ctim.tv_nsec;
}

/* Collects the key of a file, unless it is a temporary file, was swept before, or is known to be in the engine. */
static int note_file(void *context, const struct directory_file *file)
{
	struct looking *looking = context;
	struct stat found;

	if (file->kind != DIRECTORY_ENTRY || fstatat(file->shard, file->name, &found, AT_SYMLINK_NOFOLLOW) != 0 ||
	    changed_ns(&found) < looking->upload->swept_ns || service_is_settled(looking->upload->service, file->key)) {
		return 0;
	}
	if (looking->count == looking->room) {
		size_t room = looking->room != 0 ? 2 * looking->room : 64;
		void *grown = reallocarray(looking->keys, room, sizeof(file->key));

		if (grown == NULL) {
			return -ENOMEM;
		}
		looking->keys = grown;
		looking->room = room;
	}
	memcpy(looking->keys[looking->count++], file->key, sizeof(file->key));
	return 0;
}

/* Uploads the results that are due. Returns false if an upload got no answer or the time for draining is over. */
static bool work_off(struct upload *upload);

/*
 * Collects the keys before the uploads, because uploads take long and other processes would change the directory while
 * it is read. Results that were reported meanwhile are uploaded first.
 */
static bool sweep_shard(struct upload *upload, int home, unsigned shard)
{
	struct looking looking = {.upload = upload};
	bool going = true;

	(void)directory_walk_shard(&upload->service->directory, home, shard, note_file, &looking);
	for (size_t i = 0; i < looking.count && going; i++) {
		going = work_off(upload) && !out_of_time(upload) && may_put(upload) &&
		        upload_one(upload->service, upload->engine, &upload->puts, looking.keys[i],
		                   UPLOAD_ONE_IF_ABSENT, limit_ms(upload)) == UPLOAD_ONE_SETTLED;
	}
	free(looking.keys);
	return going;
}

/* Starts with a random shard, so that nodes with the same entries, from one image, do not all put the same ones. */
static void sweep_directory(struct upload *upload)
{
	unsigned first = (unsigned)(service_random() % DIRECTORY_SHARDS);
	int64_t began_ns = files_now_ns();
	bool going = may_put(upload);
	int home;

	if (directory_open(&upload->service->directory, DIRECTORY_REACH, &home) != 0) {
		return;
	}
	for (unsigned i = 0; i < DIRECTORY_SHARDS && going; i++) {
		going = sweep_shard(upload, home, (first + i) % DIRECTORY_SHARDS);
	}
	close(home);
	if (going) {
		upload->swept_ns = began_ns - SLACK_NS;
	}
}

/* ---- the thread */

/* Sets `working`, so that --status also counts the key that is neither in the queue nor in the engine. */
static bool take_due(struct upload *upload, uint8_t ret_key[ENTRY_KEY_BYTES])
{
	bool taken;

	pthread_mutex_lock(&upload->lock);
	/* when the agent ends, all are due, because the delays are only for nodes that start together */
	taken = queue_take(&upload->queue, is_draining(upload) ? INT64_MAX : service_now_ns(), ret_key);
	upload->working = taken;
	pthread_mutex_unlock(&upload->lock);
	return taken;
}

/* Queues a key, with the lock held. */
static void enqueue_key(struct upload *upload, const uint8_t *key, int64_t delay_ns)
{
	if (queue_put(&upload->queue, key, service_now_ns() + delay_ns) == QUEUE_FULL) {
		tally_add(&upload->service->tally, TALLY_dropped, 1);
	}
}

/* Queues a key again. While draining it is not, because the last sweep finds it if there is time. */
static void try_again(struct upload *upload, const uint8_t *key)
{
	pthread_mutex_lock(&upload->lock);
	if (!is_draining(upload)) {
		enqueue_key(upload, key, TRY_AGAIN_NS);
	}
	upload->working = false;
	pthread_mutex_unlock(&upload->lock);
}

static bool work_off(struct upload *upload)
{
	uint8_t key[ENTRY_KEY_BYTES];

	while (!out_of_time(upload) && may_put(upload) && take_due(upload, key)) {
		enum upload_one_done done = upload_one(upload->service, upload->engine, &upload->puts, key,
		                                       UPLOAD_ONE_WITH_OTHERS, limit_ms(upload));

		if (done == UPLOAD_ONE_FAILED) {
			try_again(upload, key);
			return false;
		}
		/* the next sweep tries again; a retry now would get the same answer */
		tally_add(&upload->service->tally, TALLY_dropped, done == UPLOAD_ONE_GIVEN_UP);
	}
	pthread_mutex_lock(&upload->lock);
	upload->working = false;
	pthread_mutex_unlock(&upload->lock);
	return !out_of_time(upload);
}

/*
 * Waits until an upload or a sweep is due or a result is reported; or for one second if a breaker is open, because its
 * closing cannot wake this thread.
 */
static void wait_for_work(struct upload *upload)
{
	int64_t due = queue_due_ns(&upload->queue);
	int64_t now = service_now_ns();
	struct timespec until;

	due = due < upload->sweep_ns ? due : upload->sweep_ns;
	if (!service_may_ask(upload->service) || breaker_wait_ns(&upload->puts.breaker, now) > 0) {
		due = now + INT64_C(1000000000);
	}
	until.tv_sec = due / 1000000000;
	until.tv_nsec = due % 1000000000;
	pthread_cond_timedwait(&upload->change, &upload->lock, &until);
}

/* The state is read before work_off(), so that results queued before upload_end() are still uploaded. */
static void *run_thread(void *context)
{
	struct upload *upload = context;
	bool is_last = false;

	while (!is_last) {
		is_last = is_draining(upload);
		(void)work_off(upload);
		if (is_last || service_now_ns() >= upload->sweep_ns) {
			upload->sweep_ns = service_now_ns() + UPLOAD_SWEEP_NS;
			sweep_directory(upload);
		}
		pthread_mutex_lock(&upload->lock);
		if (!is_draining(upload)) {
			wait_for_work(upload);
		}
		pthread_mutex_unlock(&upload->lock);
	}
	return NULL;
}

/* An agent without --write has no upload thread. */
bool upload_begin(struct service *service, struct upload **ret_upload)
{
	struct upload *upload;
	pthread_condattr_t clock;
	int error;

	*ret_upload = NULL;
	if (service->options.writes == SERVICE_READS) {
		return true;
	}
	upload = calloc(1, sizeof(*upload));
	if (upload == NULL) {
		service_say("out of memory");
		return false;
	}
	upload->service = service;
	atomic_init(&upload->deadline_ns, INT64_MAX);
	if (!service_open_engine(service, &upload->engine)) {
		free(upload);
		return false;
	}
	/* wait_for_work() waits until a time of service_now_ns(), which is CLOCK_MONOTONIC */
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&upload->change, &clock);
	pthread_condattr_destroy(&clock);
	pthread_mutex_init(&upload->lock, NULL);
	error = pthread_create(&upload->thread, NULL, run_thread, upload);
	if (error != 0) {
		service_say("no thread: %s", strerror(error));
		engine_close(upload->engine);
		free(upload);
		return false;
	}
	*ret_upload = upload;
	return true;
}

/* The delay is random, so that one of many nodes with the same result uploads it and the others then find it. */
void upload_stored(struct upload *upload, const uint8_t key[ENTRY_KEY_BYTES])
{
	if (upload == NULL) {
		return;
	}
	pthread_mutex_lock(&upload->lock);
	enqueue_key(upload, key, (int64_t)(service_random() % UPLOAD_DELAY_NS));
	pthread_cond_signal(&upload->change);
	pthread_mutex_unlock(&upload->lock);
}

size_t upload_waiting(struct upload *upload)
{
	size_t waiting = 0;

	if (upload != NULL) {
		pthread_mutex_lock(&upload->lock);
		waiting = upload->queue.count + upload->working;
		pthread_mutex_unlock(&upload->lock);
	}
	return waiting;
}

/* The last sweep finds results of the last seconds that were not reported. */
enum service_thread upload_end(struct upload *upload, int64_t until_ns)
{
	if (upload == NULL) {
		return SERVICE_JOINED;
	}
	pthread_mutex_lock(&upload->lock);
	atomic_store(&upload->deadline_ns, until_ns);
	pthread_cond_signal(&upload->change);
	pthread_mutex_unlock(&upload->lock);
	if (service_join(upload->thread, until_ns + JOIN_NS) != SERVICE_JOINED) {
		return SERVICE_LEFT;
	}
	engine_close(upload->engine);
	pthread_cond_destroy(&upload->change);
	pthread_mutex_destroy(&upload->lock);
	free(upload);
	return SERVICE_JOINED;
}
