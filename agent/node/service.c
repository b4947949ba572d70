/* SPDX-License-Identifier: MIT */
#include "agent/node/service.h"

#include "cache/calls.h"
#include "cache/events.h"
#include "cache/harmless.h"
#include "cache/tools/inventory.h"
#include "cache/trust.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

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

/* ---- begin */

/* Without a key file, values are not signed and signatures are not checked (--trust-engine). */
static bool read_keys(struct service *service)
{
	const char *file = service->options.key_file;
	char text[KEYRING_TEXT_MAX];

	if (file == NULL || keyring_read(file, &service->keyring, text) == 0) {
		service->rules.keyring = file ? &service->keyring : NULL;
		return true;
	}
	service_say("%s", text);
	return false;
}

/* The address is not part of the message, because a wrong one may contain a password. */
static bool open_engines(struct service *service)
{
	struct engine_error error;

	for (size_t i = 0; i < SERVICE_CONNECTIONS; i++) {
		pthread_mutex_init(&service->connections[i].lock, NULL);
		if (engine_open(&service->options.engine, &service->connections[i].engine, &error) != 0) {
			service_say("--engine: %s", error.text);
			return false;
		}
	}
	return true;
}

bool service_begin(struct service *service, const struct service_options *options, struct settings *settings)
{
	uint64_t largest = entry_size_limit(settings->max_size);

	*service = (struct service){.options = *options, .settings = *settings, .since = time(NULL)};
	*settings = (struct settings){.directory = NULL};
	service->directory.path = service->settings.directory;
	service->directory.shared = service->settings.shared;
	/* as in the processes, because these must find the agent's entries and evict by the same limit */
	service->store = (struct store){
	    .directory = service->directory, .max_size = service->settings.max_size, .fsync = service->settings.fsync};
	service->state_since = service->since;
	service->pause.first_ns = SECOND;
	service->pause.longest_ns = 60 * SECOND;
	pthread_mutex_init(&service->lock, NULL);
	events_open(&service->directory, getpid());
	ground_settle(service->settings.directory, service->settings.base_length, service->settings.base_is_home);
	service->rules.trust = options->trust;
	service->rules.raw_max = largest < VALUE_RAW_MAX ? largest : VALUE_RAW_MAX;
	return read_keys(service) && open_engines(service);
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

static const enum engine_state states[] = {
#define ANSWER_STATE(name, word, state) [ENGINE_##name] = STATE_##state,
    ENGINE_ANSWERS(ANSWER_STATE)
#undef ANSWER_STATE
};

/*
 * Reports a change once, and not each request that has the same outcome, and without the lock: a reader of stderr may
 * be slow.
 */
static void note_answer(struct service *service, enum engine_answer answer, const struct engine_error *error,
                        int64_t asked_ns)
{
	enum engine_state next = states[answer];
	const char *why = next == STATE_CONNECTED ? "" : error->text;
	bool is_change;

	pthread_mutex_lock(&service->lock);
	is_change = service->state != next;
	snprintf(service->why, sizeof(service->why), "%s", why);
	service->state = next;
	service->state_since = is_change ? time(NULL) : service->state_since;
	pthread_mutex_unlock(&service->lock);
	if (is_change) {
		service_say("engine %s%s%s", service_state_name(next), why[0] != '\0' ? ": " : "", why);
	}
	if (next == STATE_CONNECTED) {
		pause_end(&service->pause, asked_ns);
	} else {
		pause_begin(&service->pause, call_clock_straight());
	}
}

bool service_ask_pause(struct service *service)
{
	return pause_ask(&service->pause, call_clock_straight());
}

enum engine_answer service_ask(struct service *service, struct engine_request *request)
{
	struct connection *connection = &service->connections[request->key[0] % SERVICE_CONNECTIONS];
	const struct timespec until = {.tv_sec = request->until_ns / SECOND, .tv_nsec = request->until_ns % SECOND};
	int64_t asked_ns = call_clock_straight();
	enum engine_answer answer = ENGINE_SLOW;

	if (pthread_mutex_clocklock(&connection->lock, CLOCK_MONOTONIC, &until) != 0) {
		/* the state and the pause stay, because the engine was not asked */
		snprintf(request->error.text, sizeof(request->error.text), "no connection was free");
	} else {
		answer = engine_ask(connection->engine, request);
		pthread_mutex_unlock(&connection->lock);
		if (!request->is_put || states[answer] == STATE_CONNECTED) {
			note_answer(service, answer, &request->error, asked_ns);
		}
	}
	atomic_fetch_add(&service->answers[answer], 1);
	return answer;
}

void service_probe(struct service *service)
{
	static const uint8_t nobodys[ENTRY_KEY_BYTES];
	struct engine_request request = {.key = nobodys, .until_ns = call_clock_straight() + SERVICE_LIMIT_NS};

	if (service_ask_pause(service)) {
		(void)service_ask(service, &request);
		free(request.value);
	}
}

size_t service_land(struct service *service, const struct results *results)
{
	size_t landed = 0;

	for (size_t i = 0; i < results->count; i++) {
		bool is_stored = inventory_add(&service->store, results->entries[i]) >= 0;

		landed += is_stored;
		service_count(service, SERVICE_COUNT_store_errors, !is_stored);
	}
	(void)events_tell_counts(EVENTS_NOW); /* evictions */
	return landed;
}
