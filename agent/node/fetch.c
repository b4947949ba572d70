/* SPDX-License-Identifier: MIT */
/*
 * fetch: a table of jobs, with the states
 *
 *   FREE --fetch_ask()--> QUEUED --taken by a worker--> RUNNING --stored, absent, failed--> DONE --fetch_take()--> FREE
 */
#include "agent/node/fetch.h"

#include "agent/wire/parcel.h"
#include "cache/tools/foreign.h"
#include "keygen/dependencies.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WORKERS      4
#define JOBS         512
#define ABSENT_KNOWN 1024 /* a power of two */
#define LIMIT_MS     2000

#define BUNDLE_PAUSE_NS      (INT64_C(1) * 1000000000)
#define BUNDLE_PAUSE_MOST_NS (INT64_C(60) * 1000000000)

enum job_state { JOB_FREE, JOB_QUEUED, JOB_RUNNING, JOB_DONE };

struct job {
	enum job_state state;
	enum agent_kind answer;
	uint64_t turn; /* jobs are taken in this order */
	uint8_t key[ENTRY_KEY_BYTES];
};

struct absent {
	uint8_t key[ENTRY_KEY_BYTES];
	int64_t until_ns;
};

struct fetch {
	struct service *service;
	struct worker {
		struct fetch *fetch;
		struct engine *engine;
		pthread_t thread;
	} workers[WORKERS];
	int started;
	int done_fd;
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct job jobs[JOBS];
	struct absent absent[ABSENT_KNOWN];
	uint64_t turns;
	int64_t probe; /* `seen` of service_probe(); 0: no probe is due */
	_Atomic bool ending;
	int64_t bundle_due_ns; /* INT64_MAX: a worker is fetching the bundle, or it is not fetched again */
	int64_t bundle_pause_ns;
	void (*first)(void *context); /* NULL after it was called */
	void *context;
};

/* ---- called by workers, without the lock */

/*
 * Stores the results of a value, oldest first, because the store puts each before the existing ones. They are stored
 * one by one, so that the store's own rules apply to each.
 */
static enum agent_kind land_parcel(struct service *service, const struct parcel *parcel)
{
	enum agent_kind answer = AGENT_ABSENT;

	for (size_t i = parcel->count; i > 0; i--) {
		enum foreign_put put;
		int error =
		    foreign_put(service->store, parcel->entries[i - 1], dependencies_forget, dependencies_same, &put);

		if (error == 0) {
			answer = AGENT_FOUND;
		} else {
			tally_add(&service->tally, TALLY_store_errors, 1);
		}
	}
	return answer;
}

/*
 * Stores the results of a value. A value that cannot be used is reported as absent: the process compiles, and an agent
 * with --write may replace the value.
 */
static enum agent_kind unpack_value(struct service *service, const uint8_t *key, const void *value, size_t size)
{
	struct parcel parcel = {.count = 0};
	enum agent_kind answer = AGENT_ABSENT;
	enum value_found found =
	    parcel_open(value, size, key, service->keyring, service->options.trust, service->raw_max, &parcel);

	if (found == VALUE_SOUND) {
		answer = land_parcel(service, &parcel);
		service_note_settled(service, key);
		parcel_free(&parcel);
	} else {
		tally_refused(&service->tally, found);
	}
	return answer;
}

/* Fetches a key. Only fetches that return a value are timed, for the percentiles in --status. */
static enum agent_kind get_value(struct service *service, struct engine *engine, const uint8_t *key)
{
	struct engine_name name = {.format = ENTRY_FORMAT};
	struct engine_error error = {.text = ""};
	int64_t began_ns = service_now_ns();
	enum engine_answer answer;
	enum agent_kind kind;
	void *value = NULL;
	size_t size = 0;

	memcpy(name.key, key, sizeof(name.key));
	tally_add(&service->tally, TALLY_fetches, 1);
	answer = engine_get(engine, &name, LIMIT_MS, &value, &size, &error);
	service_answered(service, answer, &error);
	if (answer != ENGINE_DONE) {
		tally_add(&service->tally, TALLY_absent, answer == ENGINE_ABSENT);
		return answer == ENGINE_ABSENT || answer == ENGINE_TOO_LARGE ? AGENT_ABSENT : AGENT_DOWN;
	}
	tally_time(&service->tally, service_now_ns() - began_ns);
	tally_add(&service->tally, TALLY_fetched_bytes, size);
	kind = unpack_value(service, key, value, size);
	tally_add(&service->tally, TALLY_found, kind == AGENT_FOUND);
	free(value);
	return kind;
}

/* Sends a probe. Any answer closes the breaker, also a refusal. */
static void probe_engine(struct service *service, struct engine *engine, int64_t seen)
{
	struct engine_error error = {.text = ""};
	enum engine_answer answer = engine_probe(engine, LIMIT_MS, &error);

	service_probed(service, seen, answer, &error);
}

/* ---- called with the lock held */

/* Also finds finished jobs whose answer was not taken yet, so that another process that asks gets the same answer. */
static struct job *find_job(struct fetch *fetch, const uint8_t *key)
{
	for (size_t i = 0; i < JOBS; i++) {
		if (fetch->jobs[i].state != JOB_FREE && memcmp(fetch->jobs[i].key, key, ENTRY_KEY_BYTES) == 0) {
			return &fetch->jobs[i];
		}
	}
	return NULL;
}

/* Returns the oldest job in `state`, so that jobs are served in the order of their requests; NULL: none. */
static struct job *next_job(struct fetch *fetch, enum job_state state)
{
	struct job *next = NULL;

	for (size_t i = 0; i < JOBS; i++) {
		if (fetch->jobs[i].state == state && (next == NULL || fetch->jobs[i].turn < next->turn)) {
			next = &fetch->jobs[i];
		}
	}
	return next;
}

/* Returns the slot of a key. Keys share slots; if one key replaces another, the only cost is a further request. */
static struct absent *absent_place(struct fetch *fetch, const uint8_t *key)
{
	uint32_t at;

	memcpy(&at, key, sizeof(at));
	return &fetch->absent[at & (ABSENT_KNOWN - 1)];
}

/* Compares the whole key, because keys share slots. */
static bool is_known_absent(struct fetch *fetch, const uint8_t *key)
{
	const struct absent *absent = absent_place(fetch, key);

	return absent->until_ns > service_now_ns() && memcmp(absent->key, key, ENTRY_KEY_BYTES) == 0;
}

/* The eventfd wakes the thread of the conversation. Its count is not used. */
static void finish_job(struct fetch *fetch, struct job *job, enum agent_kind answer)
{
	const uint64_t one = 1;

	if (answer == AGENT_ABSENT) {
		struct absent *absent = absent_place(fetch, job->key);

		memcpy(absent->key, job->key, sizeof(absent->key));
		absent->until_ns = service_now_ns() + FETCH_ABSENT_NS;
	}
	job->answer = answer;
	job->state = JOB_DONE;
	/* fails only if 2^64 - 2 notifications are unread */
	(void)!write(fetch->done_fd, &one, sizeof(one));
}

static void run_probe(struct fetch *fetch, struct engine *engine)
{
	int64_t seen = fetch->probe;

	fetch->probe = 0;
	pthread_mutex_unlock(&fetch->lock);
	probe_engine(fetch->service, engine, seen);
	pthread_mutex_lock(&fetch->lock);
}

static void run_job(struct fetch *fetch, struct engine *engine, struct job *job)
{
	enum agent_kind answer = AGENT_DOWN;

	job->state = JOB_RUNNING; /* no other worker takes the job, so its key can be read without the lock */
	pthread_mutex_unlock(&fetch->lock);
	if (service_may_ask(fetch->service)) { /* the breaker may have opened since the job was queued */
		answer = get_value(fetch->service, engine, job->key);
	}
	pthread_mutex_lock(&fetch->lock);
	finish_job(fetch, job, answer);
}

static bool bundle_is_due(const struct fetch *fetch)
{
	/* before the first attempt the breaker is not asked, because it is closed */
	return service_now_ns() >= fetch->bundle_due_ns && (fetch->first != NULL || service_may_ask(fetch->service));
}

static void run_bundle(struct fetch *fetch, struct engine *engine)
{
	enum service_bundle bundle;

	fetch->bundle_due_ns = INT64_MAX;
	pthread_mutex_unlock(&fetch->lock);
	bundle = bundle_fetch(fetch->service, engine, &fetch->ending);
	atomic_store(&fetch->service->bundle, bundle);
	if (fetch->first != NULL) {
		fetch->first(fetch->context);
	}
	pthread_mutex_lock(&fetch->lock);
	fetch->first = NULL;
	if (bundle == SERVICE_BUNDLE_AWAITED) {
		int64_t half = fetch->bundle_pause_ns / 2;

		/* half of the pause is random, so that nodes that lost the same engine do not retry at the same time */
		fetch->bundle_due_ns = service_now_ns() + half + (int64_t)(service_random() % (uint64_t)half);
		fetch->bundle_pause_ns = half < BUNDLE_PAUSE_MOST_NS / 4 ? 4 * half : BUNDLE_PAUSE_MOST_NS;
	}
}

static void *run_worker(void *context)
{
	struct worker *worker = context;
	struct fetch *fetch = worker->fetch;
	struct engine *engine = worker->engine;

	pthread_mutex_lock(&fetch->lock);
	while (!fetch->ending) {
		struct job *job = next_job(fetch, JOB_QUEUED);

		if (fetch->probe != 0) {
			run_probe(fetch, engine);
		} else if (bundle_is_due(fetch)) {
			run_bundle(fetch, engine);
		} else if (job != NULL) {
			run_job(fetch, engine, job);
		} else {
			pthread_cond_wait(&fetch->work, &fetch->lock);
		}
	}
	pthread_mutex_unlock(&fetch->lock);
	return NULL;
}

static bool start_worker(struct fetch *fetch, struct worker *worker)
{
	int error;

	worker->fetch = fetch;
	if (!service_open_engine(fetch->service, &worker->engine)) {
		return false;
	}
	error = pthread_create(&worker->thread, NULL, run_worker, worker);
	if (error != 0) {
		service_say("no thread: %s", strerror(error));
	}
	return error == 0;
}

/* After a failure, fetch_end() ends the workers that were started. */
bool fetch_begin(struct service *service, void (*first)(void *context), void *context, struct fetch **ret_fetch)
{
	struct fetch *fetch = calloc(1, sizeof(*fetch));
	bool fine = fetch != NULL;

	if (!fine) {
		service_say("out of memory");
		return false;
	}
	fetch->service = service;
	fetch->first = first;
	fetch->context = context;
	fetch->bundle_pause_ns = BUNDLE_PAUSE_NS;
	fetch->bundle_due_ns = service->options.bundle != NULL ? 0 : INT64_MAX;
	atomic_store(&service->bundle, service->options.bundle != NULL ? SERVICE_BUNDLE_AWAITED : SERVICE_NO_BUNDLE);
	pthread_mutex_init(&fetch->lock, NULL);
	pthread_cond_init(&fetch->work, NULL);
	fetch->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	fine = fetch->done_fd >= 0;
	for (int i = 0; i < WORKERS && fine; i++) {
		fine = start_worker(fetch, &fetch->workers[i]);
		fetch->started += fine;
	}
	if (!fine) {
		(void)fetch_end(fetch, service_now_ns() + INT64_C(60) * 1000000000);
		return false;
	}
	*ret_fetch = fetch;
	return true;
}

/*
 * Workers are joined before anything is freed. If one is blocked on a hung share, nothing is freed, because the process
 * exits next.
 */
enum service_thread fetch_end(struct fetch *fetch, int64_t until_ns)
{
	if (fetch == NULL) {
		return SERVICE_JOINED;
	}
	pthread_mutex_lock(&fetch->lock);
	fetch->ending = true;
	pthread_cond_broadcast(&fetch->work);
	pthread_mutex_unlock(&fetch->lock);
	for (int i = 0; i < fetch->started; i++) {
		if (service_join(fetch->workers[i].thread, until_ns) != SERVICE_JOINED) {
			return SERVICE_LEFT;
		}
	}
	for (int i = 0; i < WORKERS; i++) {
		engine_close(fetch->workers[i].engine);
	}
	if (fetch->done_fd >= 0) {
		close(fetch->done_fd);
	}
	pthread_cond_destroy(&fetch->work);
	pthread_mutex_destroy(&fetch->lock);
	free(fetch);
	return SERVICE_JOINED;
}

/*
 * Queues a key, unless it is queued or known to be absent, and counts the outcome. While the breaker is open no key is
 * queued, because processes must not wait for an engine that does not answer.
 */
static enum agent_kind enqueue_key(struct fetch *fetch, const uint8_t *key)
{
	struct tally *tally = &fetch->service->tally;
	struct job *job = find_job(fetch, key);

	if (job != NULL) {
		tally_add(tally, TALLY_joined, 1);
		return AGENT_STARTED;
	}
	if (is_known_absent(fetch, key)) {
		tally_add(tally, TALLY_absent_known, 1);
		return AGENT_ABSENT;
	}
	job = service_may_ask(fetch->service) ? next_job(fetch, JOB_FREE) : NULL;
	if (job == NULL) {
		tally_add(tally, TALLY_down, 1);
		return AGENT_DOWN;
	}
	*job = (struct job){.state = JOB_QUEUED, .turn = fetch->turns++};
	memcpy(job->key, key, sizeof(job->key));
	pthread_cond_signal(&fetch->work);
	return AGENT_STARTED;
}

/* Holds the lock only for searches through the 512 jobs. */
enum agent_kind fetch_ask(struct fetch *fetch, const uint8_t key[ENTRY_KEY_BYTES])
{
	enum agent_kind answer;

	pthread_mutex_lock(&fetch->lock);
	answer = enqueue_key(fetch, key);
	pthread_mutex_unlock(&fetch->lock);
	return answer;
}

void fetch_tick(struct fetch *fetch)
{
	int64_t seen = 0;
	bool probes = service_probe(fetch->service, &seen);

	pthread_mutex_lock(&fetch->lock);
	if (probes) {
		fetch->probe = seen;
	}
	if (probes || bundle_is_due(fetch)) {
		pthread_cond_signal(&fetch->work);
	}
	pthread_mutex_unlock(&fetch->lock);
}

int fetch_done_fd(const struct fetch *fetch)
{
	return fetch->done_fd;
}

bool fetch_take(struct fetch *fetch, struct fetched *ret_fetched)
{
	struct job *job;

	pthread_mutex_lock(&fetch->lock);
	job = next_job(fetch, JOB_DONE);
	if (job != NULL) {
		memcpy(ret_fetched->key, job->key, sizeof(job->key));
		ret_fetched->answer = job->answer;
		job->state = JOB_FREE;
	}
	pthread_mutex_unlock(&fetch->lock);
	return job != NULL;
}

/* Returns the number of unfinished jobs. Finished ones do not count, because they no longer need the engine. */
size_t fetch_waiting(struct fetch *fetch)
{
	size_t waiting = 0;

	pthread_mutex_lock(&fetch->lock);
	for (size_t i = 0; i < JOBS; i++) {
		waiting += fetch->jobs[i].state == JOB_QUEUED || fetch->jobs[i].state == JOB_RUNNING;
	}
	pthread_mutex_unlock(&fetch->lock);
	return waiting;
}
