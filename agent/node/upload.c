/* SPDX-License-Identifier: MIT */
/* One thread, because a node compiles less than it can upload. The lock protects the queue. */
#include "agent/node/upload.h"

#include "cache/calls.h"
#include "cache/tools/inventory.h"
#include "keygen/about.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECOND   INT64_C(1000000000)
#define LIMIT_NS (10 * SECOND) /* for a request, while the agent runs */
#define TURN_NS  (SECOND / 10) /* interval of looks whether a pause is over */

/* ---- queue, with the lock held */

static bool is_draining(const struct upload *upload)
{
	return upload->deadline_ns != INT64_MAX;
}

/* A linear search through 1,024 keys is negligible compared with an upload. */
static void enqueue_key(struct upload *upload, const uint8_t *key, int64_t delay_ns)
{
	for (size_t i = 0; i < upload->count; i++) {
		if (memcmp(upload->queue[i].key, key, ENTRY_KEY_BYTES) == 0) {
			return;
		}
	}
	if (upload->count == UPLOAD_QUEUE_MOST) {
		service_count(upload->service, SERVICE_COUNT_dropped, 1);
		return;
	}
	memcpy(upload->queue[upload->count].key, key, ENTRY_KEY_BYTES);
	upload->queue[upload->count++].due_ns = call_clock_straight() + delay_ns;
}

/* When the agent ends, all keys are due: delays are for nodes that start together, and a pause may take longer. */
static bool is_due(struct upload *upload, int64_t now)
{
	return upload->count > 0 &&
	       (is_draining(upload) || (upload->queue[0].due_ns <= now && pause_is_over(&upload->puts, now)));
}

/*
 * Waits until the oldest key is due and the engine may be asked, and takes the key. Returns false if the agent ends,
 * and no key or no time is left.
 */
static bool take_key(struct upload *upload, uint8_t ret_key[ENTRY_KEY_BYTES])
{
	int64_t now = call_clock_straight();

	while (!is_due(upload, now) || !service_ask_pause(upload->service)) {
		const int64_t until_ns = upload->count > 0 ? now + TURN_NS : INT64_MAX;
		const struct timespec until = {.tv_sec = until_ns / SECOND, .tv_nsec = until_ns % SECOND};

		if (is_draining(upload) && (upload->count == 0 || now >= upload->deadline_ns)) {
			return false;
		}
		pthread_cond_clockwait(&upload->change, &upload->lock, CLOCK_MONOTONIC, &until);
		now = call_clock_straight();
	}
	memcpy(ret_key, upload->queue[0].key, ENTRY_KEY_BYTES);
	memmove(upload->queue, upload->queue + 1, --upload->count * sizeof(upload->queue[0]));
	return now < upload->deadline_ns;
}

/* A running agent has LIMIT_NS for each request. */
static int64_t request_deadline(const struct upload *upload)
{
	int64_t until_ns = call_clock_straight() + LIMIT_NS;

	return until_ns < upload->deadline_ns ? until_ns : upload->deadline_ns;
}

/* ---- which results of this node go to other nodes (docs/DESIGN.md G3) */

struct taking {
	struct service *service;
	const struct results *theirs; /* what the engine has */
	struct results *results;
	size_t fresh; /* how many of the results the engine has not */
};

/* Returns whether the fact makes the result path-dependent. That ends about_read(), because one such fact is enough. */
static int find_bound(const struct about_fact *fact, void *context)
{
	(void)context;
	return fact->kind == ABOUT_BOUND;
}

/* Returns whether a result is path-dependent. Without an about section it may be, and counts as such. */
static bool is_bound(const struct entry *entry)
{
	struct section about;

	return !entry_section(entry, ABOUT_SECTION, &about) ||
	       about_read(about.bytes, about.size, find_bound, NULL) != 0;
}

static bool is_among(const struct results *results, const struct entry *entry)
{
	size_t size, other_size;
	const void *bytes = entry_bytes(entry, &size);

	for (size_t i = 0; i < results->count; i++) {
		const void *other = entry_bytes(results->entries[i], &other_size);

		if (size == other_size && memcmp(bytes, other, size) == 0) {
			return true;
		}
	}
	return false;
}

/* Returns whether a result may be uploaded. Readers have the same size limit and would reject a larger value. */
static bool may_go(const struct service *service, const struct entry *entry)
{
	struct section section;

	return !entry_section(entry, ABOUT_SLOPPY_SECTION, &section) &&
	       entry_info(entry)->total_size <= service->rules.raw_max && !is_bound(entry);
}

/* Adds a result to the others. */
static int take_result(void *context, const struct entry *entry)
{
	struct taking *taking = context;
	struct results *results = taking->results;

	if (!may_go(taking->service, entry)) {
		service_count(taking->service, SERVICE_COUNT_left_out, 1);
		return 0;
	}
	taking->fresh += !is_among(taking->theirs, entry);
	/* inventory_read() made it for this visit; there are at most STORE_RESULTS_MAX */
	results->entries[results->count++] = entry_ref((struct entry *)entry);
	return 0;
}

/*
 * Returns how many results of the directory the engine has not. Errors are ignored, because an entry that was evicted
 * meanwhile or is damaged is simply not uploaded.
 */
static size_t read_ours(struct service *service, const uint8_t key[ENTRY_KEY_BYTES], const struct results *theirs,
                        struct results *ret_results)
{
	struct taking taking = {service, theirs, ret_results, 0};

	ret_results->count = 0;
	(void)inventory_read(&service->directory, key, take_result, &taking);
	return taking.fresh;
}

/* ---- one key */

/*
 * Stores the results of the engine's value in the directory. Without this, a put would drop the results of other nodes,
 * which would compile and put them again. A refused value is as good as absent. The caller frees the results.
 */
static enum engine_answer take_theirs(struct upload *upload, const uint8_t *key, enum value_found *ret_found,
                                      struct results *ret_theirs)
{
	struct service *service = upload->service;
	struct engine_request request = {.key = key, .until_ns = request_deadline(upload)};
	enum engine_answer answer = service_ask(service, &request);

	ret_theirs->count = 0;
	*ret_found = VALUE_FOREIGN;
	if (answer == ENGINE_TOO_LARGE) {
		answer = ENGINE_ABSENT;
	} else if (answer == ENGINE_DONE) {
		*ret_found = value_open(request.value, request.size, key, &service->rules, ret_theirs);
		/* if a result cannot be stored here, a put would lose it */
		answer = service_land(service, ret_theirs) < ret_theirs->count ? ENGINE_TOO_LARGE : ENGINE_DONE;
	}
	free(request.value);
	return answer == ENGINE_ABSENT ? ENGINE_DONE : answer;
}

static enum engine_answer put_value(struct upload *upload, const uint8_t *key, const struct results *results)
{
	struct service *service = upload->service;
	struct engine_request request = {.key = key, .until_ns = request_deadline(upload), .is_put = true};
	enum engine_answer answer;

	if (value_seal(results, key, service->rules.keyring, service->rules.raw_max, &request.value, &request.size) !=
	    0) {
		service_count(service, SERVICE_COUNT_dropped, 1);
		return ENGINE_TOO_LARGE;
	}
	answer = service_ask(service, &request);
	free(request.value);
	if (answer == ENGINE_DONE) {
		service_count(service, SERVICE_COUNT_uploads, 1);
		service_count(service, SERVICE_COUNT_uploaded_bytes, request.size);
		pause_end(&upload->puts, call_clock_straight()); /* one thread puts */
		return answer;
	}
	if (upload->puts.since == 0) { /* once, and not for each result */
		service_say("not uploaded: %s", request.error.text);
	}
	pause_begin(&upload->puts, call_clock_straight());
	return answer;
}

/* Reads the directory's results, and puts them unless the engine has all of them. */
static enum engine_answer put_ours(struct upload *upload, const uint8_t *key, const struct results *theirs,
                                   enum value_found found)
{
	struct service *service = upload->service;
	struct results ours;
	enum engine_answer answer = ENGINE_DONE;
	size_t fresh = read_ours(service, key, theirs, &ours);

	if (found == VALUE_SOUND && fresh == 0) {
		service_count(service, SERVICE_COUNT_exists_skipped, 1);
	} else if (ours.count > 0) {
		answer = put_value(upload, key, &ours);
	}
	results_free(&ours);
	return answer;
}

/* A key that the engine refuses is dropped. If the engine did not answer or is full, the key waits. */
static void upload_key(struct upload *upload, const uint8_t *key)
{
	enum value_found found;
	struct results theirs;
	enum engine_answer answer = take_theirs(upload, key, &found, &theirs);

	if (answer == ENGINE_DONE) {
		answer = put_ours(upload, key, &theirs, found);
	}
	results_free(&theirs);
	if (answer == ENGINE_REFUSED || answer == ENGINE_UNSUITED) {
		service_count(upload->service, SERVICE_COUNT_dropped, 1);
	} else if (answer != ENGINE_DONE && answer != ENGINE_TOO_LARGE) {
		pthread_mutex_lock(&upload->lock);
		if (!is_draining(upload)) {
			enqueue_key(upload, key, SECOND);
		}
		pthread_mutex_unlock(&upload->lock);
	}
}

/* ---- the thread */

static void *run_thread(void *context)
{
	struct upload *upload = context;
	uint8_t key[ENTRY_KEY_BYTES];

	pthread_mutex_lock(&upload->lock);
	while (take_key(upload, key)) {
		upload->is_working = true;
		pthread_mutex_unlock(&upload->lock);
		upload_key(upload, key);
		pthread_mutex_lock(&upload->lock);
		upload->is_working = false;
	}
	pthread_mutex_unlock(&upload->lock);
	return NULL;
}

bool upload_begin(struct upload *upload, struct service *service)
{
	int error;

	upload->service = service;
	upload->deadline_ns = INT64_MAX;
	upload->puts.first_ns = SECOND;
	upload->puts.longest_ns = 60 * SECOND;
	pthread_mutex_init(&upload->lock, NULL);
	pthread_cond_init(&upload->change, NULL);
	error = pthread_create(&upload->thread, NULL, run_thread, upload);
	if (error != 0) {
		service_say("no thread: %s", strerror(error));
	}
	return error == 0;
}

/*
 * The delay is random, so that one of many nodes with the same result uploads it and the others then find it. Nodes
 * read different nanoseconds from their clocks, so a hash of them serves as a random number.
 */
void upload_stored(struct upload *upload, const uint8_t key[ENTRY_KEY_BYTES])
{
	uint64_t drawn = (uint64_t)call_clock_straight() * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	if (upload->service->options.writes == SERVICE_READS) {
		return;
	}
	pthread_mutex_lock(&upload->lock);
	enqueue_key(upload, key, (int64_t)drawn % UPLOAD_DELAY_NS);
	pthread_cond_broadcast(&upload->change);
	pthread_mutex_unlock(&upload->lock);
}

size_t upload_waiting(struct upload *upload)
{
	size_t waiting;

	pthread_mutex_lock(&upload->lock);
	waiting = upload->count + upload->is_working;
	pthread_mutex_unlock(&upload->lock);
	return waiting;
}

bool upload_end(struct upload *upload, unsigned limit_s)
{
	int64_t deadline_ns = call_clock_straight() + limit_s * SECOND;
	const struct timespec until = {.tv_sec = deadline_ns / SECOND, .tv_nsec = deadline_ns % SECOND};

	pthread_mutex_lock(&upload->lock);
	upload->deadline_ns = deadline_ns;
	pthread_cond_broadcast(&upload->change);
	pthread_mutex_unlock(&upload->lock);
	return pthread_clockjoin_np(upload->thread, NULL, CLOCK_MONOTONIC, &until) == 0;
}
