/* SPDX-License-Identifier: MIT */
#include "agent/node/upload.h"

#include "cache/tools/foreign.h"
#include "cache/tools/inventory.h"
#include "keygen/about.h"
#include "keygen/dependencies.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND   INT64_C(1000000000)
#define LIMIT_MS 10000
#define SLACK_NS (60 * SECOND) /* a file server's clock may differ from ours by this much */

/* ---- queue */

/* A linear search through 1,024 keys is negligible compared with an upload. */
bool queue_put(struct queue *queue, const uint8_t key[ENTRY_KEY_BYTES], int64_t due_ns)
{
	for (size_t i = 0; i < queue->count; i++) {
		if (memcmp(queue->items[i].key, key, ENTRY_KEY_BYTES) == 0) {
			return true;
		}
	}
	if (queue->count == QUEUE_MOST) {
		return false;
	}
	memcpy(queue->items[queue->count].key, key, ENTRY_KEY_BYTES);
	queue->items[queue->count++].due_ns = due_ns;
	return true;
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

/* ---- the thread's state */

struct upload {
	struct service *service;
	struct engine *engine;
	pthread_t thread;
	struct queue queue;
	bool is_working;     /* the thread is uploading a key that is no longer in the queue */
	int64_t deadline_ns; /* end of draining; INT64_MAX: running */
	int64_t pause_ns;    /* after failed puts; 0: the last one was successful */
	int64_t retry_ns;    /* end of the pause */
	int64_t sweep_ns;    /* when the next sweep is due */
	int64_t swept_ns;    /* CLOCK_REALTIME; files that changed before this time were swept */
};

/* Returns the time that is left for a request; 0: none. A running agent has LIMIT_MS for each. */
static unsigned limit_ms(struct upload *upload)
{
	int64_t left;

	pthread_mutex_lock(&upload->service->lock);
	left = (upload->deadline_ns - service_now_ns()) / 1000000;
	pthread_mutex_unlock(&upload->service->lock);
	return left < 1 ? 0 : left < LIMIT_MS ? (unsigned)left : LIMIT_MS;
}

static bool is_draining(const struct upload *upload)
{
	return upload->deadline_ns != INT64_MAX;
}

/* ---- which results are uploaded */

/* Returns whether the fact makes the result path-dependent. That ends about_read(), because one such fact is enough. */
static int find_bound(const struct about_fact *fact, void *context)
{
	static const char part[] = "working directory"; /* the key contains the path, so the result is path-dependent */

	(void)context;
	return fact->kind == ABOUT_BOUND || (fact->kind == ABOUT_PART && fact->size == sizeof(part) - 1 &&
	                                     memcmp(fact->text, part, fact->size) == 0);
}

/* Returns whether a result is path-dependent. Without an about section it may be, and counts as such. */
static bool is_bound(const struct entry *entry)
{
	struct section about;

	return !entry_section(entry, ABOUT_SECTION, &about) ||
	       about_read(about.bytes, about.size, find_bound, NULL) != 0;
}

/* Returns whether a result may be uploaded. Readers have the same size limit and would reject a larger value. */
static bool may_go(const struct service *service, const struct entry *entry)
{
	struct section section;

	return !entry_section(entry, ABOUT_SLOPPY_SECTION, &section) &&
	       entry_info(entry)->cost_ns >= service->options.least_cost_ns &&
	       entry_info(entry)->total_size <= service->rules.raw_max && !is_bound(entry);
}

struct taking {
	struct service *service;
	struct results results;
	uint64_t left_out;
};

/* Adds a result in front of the others, because entries are read oldest first. Stamps are of no use elsewhere. */
static int take_result(void *context, const struct entry *entry)
{
	struct taking *taking = context;
	struct results *results = &taking->results;
	struct entry *neutral;

	if (!may_go(taking->service, entry)) {
		taking->left_out++;
		return 0;
	}
	if (results->count == STORE_RESULTS_MAX || foreign_neutral(entry, dependencies_forget, &neutral) != 0) {
		return -ENOMEM;
	}
	memmove(results->entries + 1, results->entries, results->count * sizeof(results->entries[0]));
	results->entries[0] = neutral;
	results->count++;
	return 0;
}

/* ---- one key */

/* IF_ABSENT: a sound value in the engine is left as it is. MERGED: it gets the results that it lacks. */
enum how { IF_ABSENT, MERGED };

/* Looks at the first bytes of the engine's value. DONE: it is sound; ABSENT: there is none, or it is refused. */
static enum engine_answer look_at_value(struct upload *upload, const struct engine_name *name,
                                        enum value_found *ret_found)
{
	struct engine_error error;
	void *head = NULL;
	size_t size = 0;
	enum engine_answer answer =
	    engine_get(upload->engine, name, VALUE_HEAD_BYTES, limit_ms(upload), &head, &size, &error);

	service_answered(upload->service, SERVICE_GET, answer, &error);
	*ret_found = VALUE_FOREIGN;
	if (answer == ENGINE_DONE) {
		*ret_found = value_judge_head(head, size, name->key, &upload->service->rules);
		answer = *ret_found == VALUE_SOUND || *ret_found == VALUE_AGED ? ENGINE_DONE : ENGINE_ABSENT;
	}
	free(head);
	return answer;
}

/*
 * Stores the results of the engine's value in the directory. `ret_count` is their number. Without this, a put would
 * drop the results of other nodes, which would compile and put them again. A refused value is as good as absent.
 */
static enum engine_answer take_theirs(struct upload *upload, const struct engine_name *name, size_t *ret_count)
{
	struct service *service = upload->service;
	struct results theirs = {.count = 0};
	struct engine_error error;
	void *value = NULL;
	size_t size = 0;
	enum engine_answer answer =
	    engine_get(upload->engine, name, ENGINE_VALUE_MAX, limit_ms(upload), &value, &size, &error);

	service_answered(service, SERVICE_GET, answer, &error);
	*ret_count = 0;
	if (answer == ENGINE_DONE) {
		enum value_found found = value_open(value, size, name->key, &service->rules, &theirs);
		bool is_sound = found == VALUE_SOUND || found == VALUE_AGED;

		*ret_count = theirs.count;
		/* if a result cannot be stored here, a put would lose it */
		if (is_sound && service_land(service, &theirs) < theirs.count) {
			answer = ENGINE_TOO_LARGE;
		} else if (!is_sound) {
			answer = ENGINE_ABSENT;
		}
		results_free(&theirs);
	}
	free(value);
	return answer == ENGINE_ABSENT ? ENGINE_DONE : answer;
}

static enum engine_answer put_value(struct upload *upload, const struct engine_name *name,
                                    const struct results *results)
{
	struct service *service = upload->service;
	enum engine_answer answer = ENGINE_TOO_LARGE;
	struct engine_error error;
	void *value = NULL;
	size_t size;

	if (value_seal(results, name->key, service->keyring, service->rules.raw_max, &value, &size) != 0) {
		return answer;
	}
	answer = engine_put(upload->engine, name, value, size, limit_ms(upload), &error);
	service_answered(service, SERVICE_PUT, answer, &error);
	free(value);
	if (answer == ENGINE_DONE) {
		service_count(service, SERVICE_COUNT_uploads, 1);
		service_count(service, SERVICE_COUNT_uploaded_bytes, size);
		upload->pause_ns = 0;
		return answer;
	}
	if (upload->pause_ns == 0) { /* once, and not for each result */
		service_say("not uploaded: %s", error.text);
	}
	upload->pause_ns = upload->pause_ns == 0            ? SECOND
	                   : upload->pause_ns < 30 * SECOND ? 2 * upload->pause_ns
	                                                    : 60 * SECOND;
	upload->retry_ns = service_now_ns() + service_draw(upload->pause_ns);
	return answer;
}

/* Reads the directory's results, and puts them unless the engine has as many: all of its own are among them. */
static enum engine_answer put_ours(struct upload *upload, const struct engine_name *name, size_t theirs,
                                   enum value_found found)
{
	struct service *service = upload->service;
	struct taking taking = {.service = service};
	enum engine_answer answer = ENGINE_DONE;

	/* errors are ignored, because an entry that was evicted meanwhile or is damaged is simply not put */
	(void)inventory_read(&service->directory, name->key, take_result, &taking);
	service_count(service, SERVICE_COUNT_left_out, taking.left_out);
	if (found == VALUE_SOUND && taking.results.count <= theirs) {
		service_count(service, SERVICE_COUNT_exists_skipped, 1);
	} else if (taking.results.count > 0) {
		answer = put_value(upload, name, &taking.results);
	}
	results_free(&taking.results);
	return answer;
}

/* Returns false if the engine did not answer. A key that it refuses for lack of permission or space is dropped. */
static bool upload_one(struct upload *upload, const uint8_t *key, enum how how)
{
	struct service *service = upload->service;
	struct engine_name name = {.format = ENTRY_FORMAT};
	enum value_found found;
	enum engine_answer answer;
	size_t theirs = 0;

	memcpy(name.key, key, sizeof(name.key));
	answer = look_at_value(upload, &name, &found);
	if (answer == ENGINE_DONE && found == VALUE_SOUND && how == IF_ABSENT) {
		service_count(service, SERVICE_COUNT_exists_skipped, 1);
	} else if (answer == ENGINE_DONE || answer == ENGINE_ABSENT) {
		answer = answer == ENGINE_DONE ? take_theirs(upload, &name, &theirs) : ENGINE_DONE;
		found = theirs > 0 ? found : VALUE_FOREIGN;
		answer = answer == ENGINE_DONE ? put_ours(upload, &name, theirs, found) : answer;
	}
	switch (answer) {
	case ENGINE_DONE:
	case ENGINE_TOO_LARGE:
		service_note_settled(service, key);
		return true;
	case ENGINE_REFUSED:
	case ENGINE_FULL:
	case ENGINE_UNSUITED:
		service_count(service, SERVICE_COUNT_dropped, 1); /* the next sweep tries again */
		return true;
	default:
		return false;
	}
}

/* ---- the thread */

/* Returns whether requests may be made now. While draining, a pause after failed puts is not waited for. */
static bool may_put(struct upload *upload)
{
	return limit_ms(upload) > 0 && service_may_ask(upload->service) &&
	       (upload->pause_ns == 0 || service_now_ns() >= upload->retry_ns);
}

/* Takes a key that is due. When the agent ends, all are, because the delays are only for nodes that start together. */
static bool take_due(struct upload *upload, uint8_t ret_key[ENTRY_KEY_BYTES])
{
	pthread_mutex_lock(&upload->service->lock);
	upload->is_working = queue_take(&upload->queue, is_draining(upload) ? INT64_MAX : service_now_ns(), ret_key);
	pthread_mutex_unlock(&upload->service->lock);
	return upload->is_working;
}

/* Queues a key, with the lock held. */
static void enqueue_key(struct upload *upload, const uint8_t *key, int64_t delay_ns)
{
	if (!queue_put(&upload->queue, key, service_now_ns() + delay_ns)) {
		service_count(upload->service, SERVICE_COUNT_dropped, 1);
	}
}

/* Uploads what is due. Returns false if the engine did not answer, or may not be asked. */
static bool work_off(struct upload *upload)
{
	uint8_t key[ENTRY_KEY_BYTES];

	while (may_put(upload) && take_due(upload, key)) {
		if (!upload_one(upload, key, MERGED)) {
			pthread_mutex_lock(&upload->service->lock);
			enqueue_key(upload, key, SECOND);
			upload->is_working = false;
			pthread_mutex_unlock(&upload->service->lock);
			return false;
		}
	}
	return may_put(upload);
}

struct looking {
	struct upload *upload;
	uint8_t (*keys)[ENTRY_KEY_BYTES];
	size_t count, room;
};

/* Collects the key of a file, unless it was swept before or the engine is known to have it. */
static int note_file(void *context, const struct directory_file *file)
{
	struct looking *looking = context;
	struct stat found;

	if (file->kind != DIRECTORY_ENTRY || fstatat(file->shard, file->name, &found, AT_SYMLINK_NOFOLLOW) != 0 ||
	    /* the ctime, because copying or unpacking a file can set its mtime to an older time */
	    found.st_ctim.tv_sec * SECOND + found.st_ctim.tv_nsec < looking->upload->swept_ns ||
	    service_is_settled(looking->upload->service, file->key)) {
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

/* Collects the keys before the uploads, which take long. Results that were reported meanwhile go first. */
static bool sweep_shard(struct upload *upload, int home, unsigned shard)
{
	struct looking looking = {.upload = upload};
	bool goes_on = true;

	(void)directory_walk_shard(&upload->service->directory, home, shard, note_file, &looking);
	for (size_t i = 0; i < looking.count && goes_on; i++) {
		goes_on = work_off(upload) && upload_one(upload, looking.keys[i], IF_ABSENT) && may_put(upload);
	}
	free(looking.keys);
	return goes_on;
}

/* Starts with a random shard, so that nodes with the same entries, from one image, do not all put the same ones. */
static void sweep_directory(struct upload *upload)
{
	unsigned first = (unsigned)(service_random() % DIRECTORY_SHARDS);
	bool goes_on = may_put(upload);
	struct timespec began; /* of the clock of files' times */
	int home;

	clock_gettime(CLOCK_REALTIME, &began);
	if (directory_open(&upload->service->directory, DIRECTORY_REACH, &home) != 0) {
		return;
	}
	for (unsigned i = 0; i < DIRECTORY_SHARDS && goes_on; i++) {
		goes_on = sweep_shard(upload, home, (first + i) % DIRECTORY_SHARDS);
	}
	close(home);
	if (goes_on) {
		upload->swept_ns = began.tv_sec * SECOND + began.tv_nsec - SLACK_NS;
	}
}

/* Waits until an upload or a sweep is due, or until a pause has ended. */
static void wait_for_work(struct upload *upload)
{
	int64_t due = queue_due_ns(&upload->queue);

	upload->is_working = false;
	due = due < upload->sweep_ns ? due : upload->sweep_ns;
	due = upload->pause_ns != 0 && due < upload->retry_ns ? upload->retry_ns : due;
	service_wait(upload->service, upload->service->state.until_ns != 0 ? INT64_MAX : due);
}

/* Draining is looked up before the work, so that results queued before upload_drain() are still uploaded. */
static void *run_thread(void *context)
{
	struct upload *upload = context;
	bool is_last = false;

	while (!is_last) {
		pthread_mutex_lock(&upload->service->lock);
		is_last = is_draining(upload);
		pthread_mutex_unlock(&upload->service->lock);
		(void)work_off(upload);
		if (is_last || service_now_ns() >= upload->sweep_ns) {
			upload->sweep_ns = service_now_ns() + UPLOAD_SWEEP_NS;
			sweep_directory(upload);
		}
		pthread_mutex_lock(&upload->service->lock);
		if (!is_draining(upload)) {
			wait_for_work(upload);
		}
		pthread_mutex_unlock(&upload->service->lock);
	}
	return NULL;
}

/* An agent without --write has no upload thread. */
bool upload_begin(struct service *service, struct upload **ret_upload)
{
	struct upload *upload;
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
	upload->deadline_ns = INT64_MAX;
	error = service_open_engine(service, &upload->engine)
	            ? pthread_create(&upload->thread, NULL, run_thread, upload)
	            : -1;
	if (error != 0) {
		if (error > 0) {
			service_say("no thread: %s", strerror(error));
		}
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
	pthread_mutex_lock(&upload->service->lock);
	enqueue_key(upload, key, (int64_t)(service_random() % UPLOAD_DELAY_NS));
	pthread_cond_broadcast(&upload->service->change);
	pthread_mutex_unlock(&upload->service->lock);
}

size_t upload_waiting(struct upload *upload)
{
	size_t waiting = 0;

	if (upload != NULL) {
		pthread_mutex_lock(&upload->service->lock);
		waiting = upload->queue.count + upload->is_working;
		pthread_mutex_unlock(&upload->service->lock);
	}
	return waiting;
}

void upload_drain(struct upload *upload, int64_t until_ns)
{
	if (upload != NULL) {
		pthread_mutex_lock(&upload->service->lock);
		upload->deadline_ns = until_ns;
		pthread_cond_broadcast(&upload->service->change);
		pthread_mutex_unlock(&upload->service->lock);
	}
}

bool upload_end(struct upload *upload, int64_t until_ns)
{
	if (upload == NULL) {
		return true;
	}
	if (!service_join(upload->thread, until_ns)) {
		return false;
	}
	engine_close(upload->engine);
	free(upload);
	return true;
}
