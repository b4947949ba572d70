/* SPDX-License-Identifier: MIT */
/*
 * One table has the keys that are being fetched, another one the connections that wait for them. The worker that has
 * fetched a key answers all connections that wait for it. The lock of the service protects both tables.
 */
#include "agent/node/fetch.h"

#include "agent/node/listener.h"
#include "agent/node/status.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WORKERS      4
#define JOBS         512
#define WAITING      1024
#define ABSENT_KNOWN 1024
#define LIMIT_MS     2000
#define SECOND       INT64_C(1000000000)

struct job {
	bool is_running;
	uint8_t key[ENTRY_KEY_BYTES];
};

struct waiting {
	int socket;
	enum agent_kind form; /* of the status; 0: waits for `key` */
	uint8_t key[ENTRY_KEY_BYTES];
};

struct absent {
	uint8_t key[ENTRY_KEY_BYTES];
	int64_t until_ns;
};

struct fetch {
	struct service *service;
	struct upload *upload;
	char socket_path[PATH_MAX]; /* a copy, because the listener writes its own anew */
	struct worker {
		struct fetch *fetch;
		struct engine *engine;
		pthread_t thread;
	} workers[WORKERS];
	int started;
	struct job jobs[JOBS]; /* oldest first */
	size_t job_count;
	struct waiting waiting[WAITING];
	size_t waiting_count;
	struct absent absent[ABSENT_KNOWN];
	bool is_ending;
};

/* ---- called by workers, without the lock */

static void count_refused(struct service *service, enum value_found found)
{
	switch (found) {
	case VALUE_UNSIGNED:
	case VALUE_UNKNOWN_KEY:
	case VALUE_FORGED:
		service_count(service, SERVICE_COUNT_mac_refused, 1);
		break;
	case VALUE_FOREIGN:
		service_count(service, SERVICE_COUNT_format_refused, 1);
		break;
	default:
		service_count(service, SERVICE_COUNT_damaged, 1);
		break;
	}
}

/*
 * Stores the results of a value. A value that is refused is as good as absent: the process compiles, and an agent with
 * --write replaces the value. A value that is not signed with the present key is signed anew.
 */
static enum agent_kind land_value(struct fetch *fetch, const uint8_t *key, const void *value, size_t size)
{
	struct service *service = fetch->service;
	struct results results = {.count = 0};
	enum value_found found = value_open(value, size, key, &service->rules, &results);
	size_t landed;

	if (found != VALUE_SOUND && found != VALUE_AGED) {
		count_refused(service, found);
		return AGENT_ABSENT;
	}
	landed = service_land(service, &results);
	results_free(&results);
	if (found == VALUE_AGED) {
		upload_stored(fetch->upload, key);
	} else {
		service_note_settled(service, key);
	}
	service_count(service, SERVICE_COUNT_found, landed > 0);
	return landed > 0 ? AGENT_FOUND : AGENT_ABSENT;
}

/* Fetches a key. Only fetches that return a value are timed. */
static enum agent_kind get_value(struct fetch *fetch, struct engine *engine, const uint8_t *key)
{
	struct service *service = fetch->service;
	struct engine_name name = {.format = ENTRY_FORMAT};
	struct engine_error error = {.text = ""};
	int64_t began_ns = service_now_ns();
	enum engine_answer answer;
	enum agent_kind kind;
	void *value = NULL;
	size_t size = 0;

	memcpy(name.key, key, sizeof(name.key));
	service_count(service, SERVICE_COUNT_fetches, 1);
	answer = engine_get(engine, &name, ENGINE_VALUE_MAX, LIMIT_MS, &value, &size, &error);
	service_answered(service, SERVICE_GET, answer, &error);
	if (answer != ENGINE_DONE) {
		service_count(service, SERVICE_COUNT_absent, answer == ENGINE_ABSENT);
		return answer == ENGINE_ABSENT || answer == ENGINE_TOO_LARGE ? AGENT_ABSENT : AGENT_DOWN;
	}
	service_count(service, SERVICE_COUNT_fetch_us, (uint64_t)(service_now_ns() - began_ns) / 1000);
	service_count(service, SERVICE_COUNT_fetched_bytes, size);
	kind = land_value(fetch, key, value, size);
	free(value);
	return kind;
}

/* ---- called with the lock */

/* Returns the job of a key; NULL: it is not being fetched. */
static struct job *find_job(struct fetch *fetch, const uint8_t *key)
{
	for (size_t i = 0; i < fetch->job_count; i++) {
		if (memcmp(fetch->jobs[i].key, key, ENTRY_KEY_BYTES) == 0) {
			return &fetch->jobs[i];
		}
	}
	return NULL;
}

static struct job *next_job(struct fetch *fetch)
{
	for (size_t i = 0; i < fetch->job_count; i++) {
		if (!fetch->jobs[i].is_running) {
			return &fetch->jobs[i];
		}
	}
	return NULL;
}

/* Returns the slot of a key. Keys share slots; if one key replaces another, the only cost is a further request. */
static struct absent *absent_place(struct fetch *fetch, const uint8_t *key)
{
	uint32_t at;

	memcpy(&at, key, sizeof(at));
	return &fetch->absent[at % ABSENT_KNOWN];
}

static bool is_known_absent(struct fetch *fetch, const uint8_t *key)
{
	const struct absent *absent = absent_place(fetch, key);

	return absent->until_ns > service_now_ns() && memcmp(absent->key, key, ENTRY_KEY_BYTES) == 0;
}

static void drop_waiting(struct fetch *fetch, size_t at)
{
	close(fetch->waiting[at].socket);
	fetch->waiting[at] = fetch->waiting[--fetch->waiting_count];
}

/* Answers all that wait for the key, and removes the job. */
static void finish_job(struct fetch *fetch, const uint8_t *key, enum agent_kind answer)
{
	struct job *job = find_job(fetch, key);
	size_t after = (size_t)(fetch->jobs + fetch->job_count - (job + 1));

	if (answer == AGENT_ABSENT) {
		struct absent *absent = absent_place(fetch, key);

		memcpy(absent->key, key, sizeof(absent->key));
		absent->until_ns = service_now_ns() + FETCH_ABSENT_NS;
	}
	for (size_t i = fetch->waiting_count; i > 0; i--) {
		const struct waiting *waiting = &fetch->waiting[i - 1];

		if (waiting->form == 0 && memcmp(waiting->key, key, ENTRY_KEY_BYTES) == 0) {
			listener_tell(waiting->socket, answer);
			drop_waiting(fetch, i - 1);
		}
	}
	memmove(job, job + 1, after * sizeof(*job));
	fetch->job_count--;
}

static void run_job(struct fetch *fetch, struct engine *engine, struct job *job)
{
	enum agent_kind answer = AGENT_DOWN;
	uint8_t key[ENTRY_KEY_BYTES];

	job->is_running = true;
	memcpy(key, job->key, sizeof(key));
	pthread_mutex_unlock(&fetch->service->lock);
	if (service_may_ask(fetch->service)) { /* the pause may have begun since the job was queued */
		answer = get_value(fetch, engine, key);
	}
	pthread_mutex_lock(&fetch->service->lock);
	finish_job(fetch, key, answer);
}

static struct waiting *next_status(struct fetch *fetch)
{
	for (size_t i = 0; i < fetch->waiting_count; i++) {
		if (fetch->waiting[i].form != 0) {
			return &fetch->waiting[i];
		}
	}
	return NULL;
}

/* During a pause the probes of the workers keep the state right, and so does a request that is on its way. */
static void run_status(struct fetch *fetch, struct engine *engine, struct waiting *waiting)
{
	const struct waiting asked = *waiting;
	struct service *service = fetch->service;
	const struct service_state *state = &service->state;
	size_t fetches = fetch->job_count;
	bool is_old =
	    state->until_ns == 0 && !state->is_probing && fetches == 0 && service_now_ns() - state->heard_ns > SECOND;
	char *text;

	fetch->waiting[waiting - fetch->waiting] = fetch->waiting[--fetch->waiting_count];
	pthread_mutex_unlock(&service->lock);
	if (is_old) {
		service_probe(service, engine);
	}
	text = status_text(service, fetch->socket_path, asked.form, fetches, upload_waiting(fetch->upload));
	if (text != NULL && strlen(text) <= AGENT_STATUS_MAX) {
		(void)send(asked.socket, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	free(text);
	close(asked.socket);
	pthread_mutex_lock(&service->lock);
}

static void run_probe(struct fetch *fetch, struct engine *engine)
{
	pthread_mutex_unlock(&fetch->service->lock);
	service_probe(fetch->service, engine);
	pthread_mutex_lock(&fetch->service->lock);
}

static void *run_worker(void *context)
{
	const struct worker *worker = context;
	struct fetch *fetch = worker->fetch;
	struct service *service = fetch->service;

	pthread_mutex_lock(&service->lock);
	while (!fetch->is_ending) {
		struct waiting *status = next_status(fetch);
		struct job *job = next_job(fetch);

		if (status != NULL) {
			run_status(fetch, worker->engine, status);
		} else if (service_probe_is_due(service)) {
			run_probe(fetch, worker->engine);
		} else if (job != NULL) {
			run_job(fetch, worker->engine, job);
		} else {
			service_wait(service, service->state.until_ns != 0 && !service->state.is_probing
			                          ? service->state.until_ns
			                          : INT64_MAX);
		}
	}
	pthread_mutex_unlock(&service->lock);
	return NULL;
}

/* ---- begin, end */

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
		engine_close(worker->engine);
	}
	return error == 0;
}

bool fetch_begin(struct service *service, struct upload *upload, const char *socket_path, struct fetch **ret_fetch)
{
	struct fetch *fetch = calloc(1, sizeof(*fetch));

	if (fetch == NULL) {
		service_say("out of memory");
		return false;
	}
	*ret_fetch = fetch; /* also after a failure, so that fetch_end() ends the workers that were started */
	fetch->service = service;
	fetch->upload = upload;
	snprintf(fetch->socket_path, sizeof(fetch->socket_path), "%s", socket_path);
	while (fetch->started < WORKERS && start_worker(fetch, &fetch->workers[fetch->started])) {
		fetch->started++;
	}
	return fetch->started == WORKERS;
}

/* Connections that still wait are closed without an answer, and these processes compile. */
bool fetch_end(struct fetch *fetch, int64_t until_ns)
{
	if (fetch == NULL) {
		return true;
	}
	pthread_mutex_lock(&fetch->service->lock);
	fetch->is_ending = true;
	while (fetch->waiting_count > 0) {
		drop_waiting(fetch, 0);
	}
	pthread_cond_broadcast(&fetch->service->change);
	pthread_mutex_unlock(&fetch->service->lock);
	for (int i = 0; i < fetch->started; i++) {
		if (!service_join(fetch->workers[i].thread, until_ns)) {
			return false;
		}
		engine_close(fetch->workers[i].engine);
	}
	free(fetch);
	return true;
}

/* ---- called by the server */

/* Queues a key, unless it is queued or known to be absent. Returns AGENT_STARTED if the connection has to wait. */
static enum agent_kind enqueue_key(struct fetch *fetch, const uint8_t *key)
{
	if (find_job(fetch, key) != NULL) {
		service_count(fetch->service, SERVICE_COUNT_joined, 1);
		return AGENT_STARTED;
	}
	if (is_known_absent(fetch, key)) {
		service_count(fetch->service, SERVICE_COUNT_absent_known, 1);
		return AGENT_ABSENT;
	}
	if (fetch->service->state.until_ns != 0 || fetch->job_count == JOBS) {
		service_count(fetch->service, SERVICE_COUNT_down, 1);
		return AGENT_DOWN;
	}
	memcpy(fetch->jobs[fetch->job_count].key, key, ENTRY_KEY_BYTES);
	fetch->jobs[fetch->job_count++].is_running = false;
	return AGENT_STARTED;
}

/* Adds a connection. If there are too many, it is closed, and the process compiles. */
static void add_waiting(struct fetch *fetch, struct waiting waiting)
{
	if (fetch->waiting_count == WAITING) {
		close(waiting.socket);
		return;
	}
	fetch->waiting[fetch->waiting_count++] = waiting;
	pthread_cond_broadcast(&fetch->service->change);
}

void fetch_ask(struct fetch *fetch, const uint8_t key[ENTRY_KEY_BYTES], int socket)
{
	struct waiting waiting = {.socket = socket};
	enum agent_kind answer;

	memcpy(waiting.key, key, sizeof(waiting.key));
	pthread_mutex_lock(&fetch->service->lock);
	answer = enqueue_key(fetch, key);
	if (answer == AGENT_STARTED) {
		add_waiting(fetch, waiting);
	}
	pthread_mutex_unlock(&fetch->service->lock);
	if (answer != AGENT_STARTED) {
		listener_tell(socket, answer);
		close(socket);
	}
}

void fetch_status(struct fetch *fetch, enum agent_kind form, int socket)
{
	pthread_mutex_lock(&fetch->service->lock);
	add_waiting(fetch, (struct waiting){.socket = socket, .form = form});
	pthread_mutex_unlock(&fetch->service->lock);
}
