/* SPDX-License-Identifier: MIT */
#include "agent/node/service.h"

#include "cache/harmless.h"
#include "cache/tools/foreign.h"
#include "keygen/dependencies.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SECOND         INT64_C(1000000000)
#define LONGEST_NS     (60 * SECOND)
#define PROBE_LIMIT_MS 2000

void service_say(const char *format, ...)
{
	char text[2048];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized): it is */
	va_end(arguments);
	harmless_text(text);
	fprintf(stderr, "nvrtccache-agent: %s\n", text);
}

int64_t service_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND + now.tv_nsec;
}

/* getrandom() fails only on kernels before 3.17. The clock is random enough to spread the requests of nodes. */
uint64_t service_random(void)
{
	uint64_t random = 0;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
		random = (uint64_t)service_now_ns();
	}
	return random;
}

int64_t service_draw(int64_t pause_ns)
{
	return pause_ns - (int64_t)(service_random() % (uint64_t)(pause_ns / 2 + 1));
}

void service_wait(struct service *service, int64_t until_ns)
{
	const struct timespec until = {.tv_sec = until_ns / SECOND, .tv_nsec = until_ns % SECOND};

	if (until_ns == INT64_MAX) {
		pthread_cond_wait(&service->change, &service->lock);
	} else {
		pthread_cond_timedwait(&service->change, &service->lock, &until);
	}
}

bool service_join(pthread_t thread, int64_t until_ns)
{
	int64_t left_ns = until_ns - service_now_ns();
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until); /* the clock of pthread_timedjoin_np() */
	left_ns = (left_ns > 0 ? left_ns : 0) + until.tv_nsec;
	until.tv_sec += left_ns / SECOND;
	until.tv_nsec = left_ns % SECOND;
	return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

/* ---- begin, end */

/* Without a key file, values are not signed and signatures are not checked (--trust-engine). */
static bool read_keys(struct service *service)
{
	const char *file = service->options.key_file;
	char text[KEYRING_TEXT_MAX];

	if (file == NULL || keyring_read(file, &service->keyring, text) == 0) {
		return true;
	}
	service_say("%s", text);
	return false;
}

/* The options are those of the processes, because these must find the agent's entries and evict by the same limit. */
static bool open_store(struct service *service)
{
	const struct settings *settings = &service->settings;
	int error = store_open(&(struct store_options){.directory = settings->directory,
	                                               .max_size = settings->max_size,
	                                               .shared = settings->shared,
	                                               .fsync = settings->fsync,
	                                               .same = dependencies_same},
	                       &service->store);

	if (error != 0) {
		service_say("%s: %s", settings->directory,
		            error == -EINVAL ? "not an absolute path" : strerror(-error));
	}
	return error == 0;
}

/* The address is not part of the message, because a wrong one may contain a password. */
bool service_open_engine(const struct service *service, struct engine **ret_engine)
{
	struct engine_error error;
	int rc = engine_open(&service->options.engine, ret_engine, &error);

	if (rc != 0) {
		service_say("--engine: %s", error.text[0] != '\0' ? error.text : strerror(-rc));
	}
	return rc == 0;
}

static void begin_lock(struct service *service)
{
	pthread_condattr_t clock;

	pthread_mutex_init(&service->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&service->change, &clock);
	pthread_condattr_destroy(&clock);
}

/* The engine is opened once here, so that a wrong option is reported before any process can use the agent. */
bool service_begin(struct service *service, const struct service_options *options, struct settings *settings)
{
	uint64_t largest = settings->max_size / 8; /* the store's limit for an entry */
	struct engine *engine;

	*service = (struct service){.options = *options, .settings = *settings, .since = time(NULL)};
	*settings = (struct settings){.directory = NULL};
	service->directory.path = service->settings.directory;
	service->directory.shared = service->settings.shared;
	service->state.since = service->since;
	begin_lock(service);
	directory_settle(service->settings.directory, service->settings.base_length, service->settings.base_is_home);
	if (!read_keys(service) || !open_store(service) || !service_open_engine(service, &engine)) {
		service_end(service);
		return false;
	}
	service->rules = (struct value_rules){service->keyring, options->trust, VALUE_RAW_MAX};
	if (service->settings.max_size != 0 && largest < VALUE_RAW_MAX) {
		service->rules.raw_max = largest;
	}
	snprintf(service->says, sizeof(service->says), "%s", engine_says(engine));
	engine_close(engine);
	return true;
}

/* Accepts a partly initialized service, for service_begin(). */
void service_end(struct service *service)
{
	store_close(service->store);
	keyring_free(service->keyring);
	settings_free(&service->settings);
	pthread_cond_destroy(&service->change);
	pthread_mutex_destroy(&service->lock);
}

/* ---- the engine's state */

void service_count(struct service *service, enum service_count what, uint64_t how_many)
{
	atomic_fetch_add(&service->counts[what], how_many);
}

const char *service_state_name(enum engine_state state)
{
	static const char *const names[] = {"starting", "connected", "refused", "unreachable"};

	return names[state];
}

static enum engine_state state_of(enum engine_answer answer)
{
	switch (answer) {
	case ENGINE_REFUSED:
	case ENGINE_UNSUITED:
		return ENGINE_IS_REFUSED;
	case ENGINE_UNREACHABLE:
	case ENGINE_SLOW:
	case ENGINE_BROKEN:
		return ENGINE_IS_UNREACHABLE;
	default:
		return ENGINE_CONNECTED;
	}
}

/* A failure during a pause counts only if it is the probe's, because other requests began before the pause. */
static void back_off(struct service_state *state, int64_t now)
{
	bool was_paused = state->until_ns != 0;

	if (was_paused ? !state->is_probing : ++state->failures < SERVICE_FAILURES) {
		return;
	}
	state->pause_ns = !was_paused ? SECOND : state->pause_ns < LONGEST_NS / 2 ? 2 * state->pause_ns : LONGEST_NS;
	state->until_ns = now + service_draw(state->pause_ns);
}

/* Reports a change once, and not each request that has the same outcome. */
static void enter_state(struct service_state *state, enum engine_state next, const char *why)
{
	snprintf(state->why, sizeof(state->why), "%s", next == ENGINE_CONNECTED ? "" : why);
	if (state->state == next) {
		return;
	}
	state->state = next;
	state->since = time(NULL);
	service_say("engine %s%s%s", service_state_name(next), state->why[0] != '\0' ? ": " : "", state->why);
}

/* A put that is refused is reported by the upload thread, and the state stays that of the reads. */
void service_answered(struct service *service, enum service_request request, enum engine_answer answer,
                      const struct engine_error *error)
{
	enum engine_state next = state_of(answer);
	int64_t now = service_now_ns();

	atomic_fetch_add(&service->answers[answer], 1);
	pthread_mutex_lock(&service->lock);
	if (request == SERVICE_GET || next == ENGINE_CONNECTED) {
		service->state.heard_ns = now;
		enter_state(&service->state, next, error->text);
		if (next == ENGINE_CONNECTED) {
			service->state.failures = 0;
			service->state.until_ns = 0;
		} else {
			back_off(&service->state, now);
		}
		service->state.is_probing = false;
		pthread_cond_broadcast(&service->change);
	}
	pthread_mutex_unlock(&service->lock);
}

bool service_may_ask(struct service *service)
{
	bool is_paused;

	pthread_mutex_lock(&service->lock);
	is_paused = service->state.until_ns != 0;
	pthread_mutex_unlock(&service->lock);
	return !is_paused;
}

/* The first request of an agent is a probe too, so that --status soon knows whether the engine answers. */
bool service_probe_is_due(struct service *service)
{
	struct service_state *state = &service->state;
	bool is_over = state->until_ns != 0 && service_now_ns() >= state->until_ns;

	if (state->is_probing || (state->state != ENGINE_STARTING && !is_over)) {
		return false;
	}
	state->is_probing = true;
	return true;
}

void service_probe(struct service *service, struct engine *engine)
{
	const struct engine_name nobody = {.format = ENTRY_FORMAT};
	struct engine_error error = {.text = ""};
	enum engine_answer answer;
	void *value = NULL;
	size_t size;

	answer = engine_get(engine, &nobody, 1, PROBE_LIMIT_MS, &value, &size, &error);
	service_answered(service, SERVICE_GET, answer, &error);
	free(value);
}

void service_show(struct service *service, struct service_state *ret_state)
{
	pthread_mutex_lock(&service->lock);
	*ret_state = service->state;
	pthread_mutex_unlock(&service->lock);
}

/* Oldest first, because the store puts each result before the existing ones. */
size_t service_land(struct service *service, const struct results *results)
{
	size_t landed = 0;

	for (size_t i = results->count; i > 0; i--) {
		enum foreign_put put;
		bool is_stored = foreign_put(service->store, results->entries[i - 1], dependencies_forget,
		                             dependencies_same, &put) == 0;

		landed += is_stored;
		service_count(service, SERVICE_COUNT_store_errors, !is_stored);
	}
	return landed;
}

/* ---- keys that the engine has */

/* Returns the last eight bytes of a key, which identify it well enough because keys are digests. */
static uint64_t identify_key(const uint8_t *key)
{
	uint64_t id;

	memcpy(&id, key + ENTRY_KEY_BYTES - sizeof(id), sizeof(id));
	return id;
}

void service_note_settled(struct service *service, const uint8_t key[ENTRY_KEY_BYTES])
{
	uint64_t id = identify_key(key);

	atomic_store(&service->settled[id % SERVICE_SETTLED], id);
}

bool service_is_settled(const struct service *service, const uint8_t key[ENTRY_KEY_BYTES])
{
	uint64_t id = identify_key(key);

	return atomic_load(&service->settled[id % SERVICE_SETTLED]) == id;
}
