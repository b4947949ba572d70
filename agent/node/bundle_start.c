/* SPDX-License-Identifier: MIT */
#include "agent/node/bundle_start.h"

#include "agent/wire/value.h"
#include "cache/tools/bundle.h"
#include "cache/tools/foreign.h"
#include "cache/tools/store_run.h"
#include "keygen/dependencies.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_MS      60000
#define PAUSE_NS      (INT64_C(1) * 1000000000)
#define PAUSE_MOST_NS (INT64_C(60) * 1000000000)

struct bundle_start {
	struct service *service;
	struct engine *engine;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change;
	_Atomic bool ending;
	void (*first)(void *context);
	void *context;
};

/* ---- what came, into the directory */

static bool are_alike(const struct entry *there, const struct entry *comes)
{
	return foreign_alike(there, comes, dependencies_forget);
}

struct landing {
	struct bundle_start *start;
	struct store_run *run;
	struct store_hand *hand;
	uint64_t results, large, damaged;
};

/* Without stamps, whatever its sender says. */
static int put_entry(struct landing *landing, const struct entry *entry)
{
	enum store_put_outcome outcome;
	struct entry *neutral = NULL;
	int error = foreign_neutral(entry, dependencies_forget, &neutral);

	if (error == 0) {
		error = store_hand_put(landing->hand, neutral, store_run_stamp(landing->run), &outcome);
	}
	entry_unref(neutral);
	return error;
}

/* As far as can be read and kept, and no further than the agent lives. */
static enum bundle_found put_all(struct landing *landing, struct bundle_reader *reader, int *ret_error)
{
	enum bundle_found found = BUNDLE_ENTRY;

	while (found <= BUNDLE_LARGE && !atomic_load(&landing->start->ending)) {
		struct entry *entry = NULL;
		int error = 0;

		found = bundle_read_next(reader, &entry, ret_error);
		if (found == BUNDLE_ENTRY) {
			error = put_entry(landing, entry);
			entry_unref(entry);
		}
		landing->results += found == BUNDLE_ENTRY && error == 0;
		landing->large += found == BUNDLE_LARGE || error == -EFBIG;
		landing->damaged += found == BUNDLE_DAMAGED;
		if (error != 0 && error != -EFBIG) {
			tally_add(&landing->start->service->tally, TALLY_store_errors, 1);
			*ret_error = error;
			found = BUNDLE_FAILED;
		}
	}
	return found;
}

static void say_landed(const struct landing *landing, enum bundle_found found, int error)
{
	const char *name = landing->start->service->options.bundle;

	service_say("bundle %s: %" PRIu64 " %s in the directory", name, landing->results,
	            landing->results == 1 ? "result is" : "results are");
	if (landing->large != 0) {
		service_say("bundle %s: %" PRIu64 " larger than an eighth of the size cap left out", name,
		            landing->large);
	}
	if (found == BUNDLE_FAILED) {
		service_say("bundle %s: %s", name,
		            error == -EBADMSG ? "it does not unpack to what it says" : strerror(-error));
	} else if (found != BUNDLE_END || landing->damaged != 0) {
		service_say("bundle %s: damaged; what was whole is in the directory", name);
	}
}

static enum service_bundle land_bundle(struct bundle_start *start, struct value_reader *value)
{
	struct service *service = start->service;
	struct landing landing = {.start = start};
	struct bundle_reader reader;
	enum bundle_found found = BUNDLE_FAILED;
	int error = bundle_read_begin(&reader, service->raw_max, value_read, value);

	if (error == -EPROTONOSUPPORT || error == -EBADMSG) {
		tally_refused(&service->tally, error == -EBADMSG ? VALUE_DAMAGED : VALUE_FOREIGN);
		service_say("bundle %s: %s", service->options.bundle,
		            error == -EBADMSG ? "no bundle of results" : "of another format");
		return SERVICE_BUNDLE_REFUSED;
	}
	if (error == 0) {
		error = store_run_begin(service->store, are_alike, &landing.run);
	}
	if (error == 0) {
		error = store_hand_begin(landing.run, &landing.hand);
	}
	if (error == 0) {
		found = put_all(&landing, &reader, &error);
	}
	store_hand_end(landing.hand);
	store_run_end(landing.run);
	tally_add(&service->tally, TALLY_bundle_results, landing.results);
	tally_add(&service->tally, TALLY_damaged, landing.damaged + (found > BUNDLE_END && found != BUNDLE_FAILED));
	if (!atomic_load(&start->ending)) {
		say_landed(&landing, found, error);
	}
	return found == BUNDLE_END ? SERVICE_BUNDLE_FETCHED : SERVICE_BUNDLE_REFUSED;
}

static enum service_bundle open_and_land(struct bundle_start *start, const uint8_t *key, const void *bytes, size_t size)
{
	struct service *service = start->service;
	struct value_reader value;
	enum service_bundle bundle = SERVICE_BUNDLE_REFUSED;
	enum value_found found =
	    value_open(bytes, size, key, service->keyring, service->options.trust, VALUE_BUNDLE_MAX, &value);

	if (found == VALUE_SOUND) {
		bundle = land_bundle(start, &value);
		value_close(&value);
	} else {
		tally_refused(&service->tally, found);
		service_say("bundle %s: %s", service->options.bundle, value_words(found));
	}
	return bundle;
}

/* ---- the thread */

/* SERVICE_BUNDLE_AWAITED: it may be had later. */
static enum service_bundle fetch_bundle(struct bundle_start *start)
{
	struct service *service = start->service;
	struct engine_name name = {.format = ENTRY_FORMAT};
	struct engine_error error = {.text = ""};
	enum service_bundle bundle = SERVICE_BUNDLE_REFUSED;
	enum engine_answer answer;
	void *value = NULL;
	size_t size = 0;

	value_name_key(service->options.bundle, name.key);
	answer = engine_get(start->engine, &name, LIMIT_MS, &value, &size, &error);
	service_answered(service, answer, &error);
	if (answer == ENGINE_DONE) {
		tally_add(&service->tally, TALLY_bundle_bytes, size);
		bundle = open_and_land(start, name.key, value, size);
	} else if (answer == ENGINE_ABSENT) {
		service_say("bundle %s: the engine has none of this name", service->options.bundle);
		bundle = SERVICE_BUNDLE_ABSENT;
	} else {
		bundle = answer == ENGINE_UNREACHABLE || answer == ENGINE_SLOW || answer == ENGINE_BROKEN
		             ? SERVICE_BUNDLE_AWAITED
		             : SERVICE_BUNDLE_REFUSED;
		service_say("bundle %s: %s%s", service->options.bundle, error.text,
		            bundle == SERVICE_BUNDLE_AWAITED ? "; it is asked for again" : "");
	}
	free(value);
	atomic_store(&service->bundle, bundle);
	return bundle;
}

/* A random part of a time that doubles: nodes that lost one engine together do not ask together. */
static void pause_for(struct bundle_start *start, int64_t most_ns)
{
	int64_t until_ns = service_now_ns() + most_ns / 2 + (int64_t)(service_random() % (uint64_t)(most_ns / 2));
	struct timespec until = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};

	pthread_mutex_lock(&start->lock);
	while (!start->ending && pthread_cond_timedwait(&start->change, &start->lock, &until) == 0) {
	}
	pthread_mutex_unlock(&start->lock);
}

static void *run_thread(void *context)
{
	struct bundle_start *start = context;
	int64_t pause_ns = PAUSE_NS;
	enum service_bundle bundle = fetch_bundle(start);

	start->first(start->context);
	while (bundle == SERVICE_BUNDLE_AWAITED && !atomic_load(&start->ending)) {
		pause_for(start, pause_ns);
		pause_ns = pause_ns < PAUSE_MOST_NS / 2 ? 2 * pause_ns : PAUSE_MOST_NS;
		if (!atomic_load(&start->ending) && service_may_ask(start->service)) {
			bundle = fetch_bundle(start);
		}
	}
	return NULL;
}

bool bundle_start_begin(struct service *service, void (*first)(void *context), void *context,
                        struct bundle_start **ret_start)
{
	struct bundle_start *start;
	pthread_condattr_t clock;
	int error;

	*ret_start = NULL;
	if (service->options.bundle == NULL) {
		return true;
	}
	start = calloc(1, sizeof(*start));
	if (start == NULL) {
		service_say("out of memory");
		return false;
	}
	start->service = service;
	start->first = first;
	start->context = context;
	if (!service_open_engine(service, &start->engine)) {
		free(start);
		return false;
	}
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&start->change, &clock);
	pthread_condattr_destroy(&clock);
	pthread_mutex_init(&start->lock, NULL);
	atomic_store(&service->bundle, SERVICE_BUNDLE_AWAITED);
	error = pthread_create(&start->thread, NULL, run_thread, start);
	if (error != 0) {
		service_say("no thread: %s", strerror(error));
		engine_close(start->engine);
		free(start);
		return false;
	}
	*ret_start = start;
	return true;
}

enum service_thread bundle_start_end(struct bundle_start *start, int64_t until_ns)
{
	if (start == NULL) {
		return SERVICE_JOINED;
	}
	pthread_mutex_lock(&start->lock);
	start->ending = true;
	pthread_cond_signal(&start->change);
	pthread_mutex_unlock(&start->lock);
	if (service_join(start->thread, until_ns) != SERVICE_JOINED) {
		return SERVICE_LEFT;
	}
	engine_close(start->engine);
	pthread_cond_destroy(&start->change);
	pthread_mutex_destroy(&start->lock);
	free(start);
	return SERVICE_JOINED;
}
