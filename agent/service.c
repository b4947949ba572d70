/* SPDX-License-Identifier: MIT */
#include "agent/service.h"

#include "keygen/conditions.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define PROGRAM "nvrtccache-agent"

void service_say(const char *format, ...)
{
	char text[2048];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (char *at = text; *at != '\0'; at++) {
		if (iscntrl((unsigned char)*at)) {
			*at = '?';
		}
	}
	fprintf(stderr, PROGRAM ": %s\n", text);
}

int64_t service_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

uint64_t service_random(void)
{
	uint64_t random = 0;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
		random = (uint64_t)service_now_ns();
	}
	return random;
}

static bool read_keys(struct service *service)
{
	char text[KEYRING_TEXT_MAX];

	if (service->options.key_file == NULL ||
	    keyring_read(service->options.key_file, &service->keyring, text) == 0) {
		return true;
	}
	service_say("%s", text);
	return false;
}

static bool open_store(struct service *service)
{
	const struct settings *settings = &service->settings;
	int error = store_open(&(struct store_options){.directory = settings->directory,
	                                               .max_size = settings->max_size,
	                                               .shared = settings->shared,
	                                               .fsync = settings->fsync,
	                                               .same = conditions_same},
	                       &service->store);

	if (error != 0) {
		service_say("%s: %s", settings->directory,
		            error == -EINVAL ? "not an absolute path" : strerror(-error));
	}
	return error == 0;
}

bool service_open_engine(const struct service *service, struct engine **ret_engine)
{
	struct engine_error error;
	int rc = engine_open(&service->options.engine, ret_engine, &error);

	if (rc != 0) {
		service_say("--engine %s: %s", service->options.engine.address,
		            error.text[0] != '\0' ? error.text : strerror(-rc));
	}
	return rc == 0;
}

bool service_begin(struct service *service, const struct service_options *options, struct settings *settings)
{
	struct engine *engine;

	*service = (struct service){.options = *options, .settings = *settings, .since = time(NULL)};
	*settings = (struct settings){.directory = NULL};
	service->directory.path = service->settings.directory;
	service->directory.shared = service->settings.shared;
	/* an eighth of the cap, as for everything in the store */
	service->raw_max = service->settings.max_size == 0 || service->settings.max_size / 8 > ENVELOPE_RAW_MAX
	                       ? ENVELOPE_RAW_MAX
	                       : service->settings.max_size / 8;
	pthread_mutex_init(&service->lock, NULL);
	tally_begin(&service->tally);
	settled_begin(&service->settled);
	directory_settle(service->settings.directory, service->settings.home_length);
	if (!read_keys(service) || !open_store(service) || !service_open_engine(service, &engine)) {
		service_end(service);
		return false;
	}
	snprintf(service->says, sizeof(service->says), "%s", engine_says(engine));
	engine_close(engine);
	return true;
}

void service_end(struct service *service)
{
	store_close(service->store);
	keyring_free(service->keyring);
	settled_free(&service->settled);
	settings_free(&service->settings);
	pthread_mutex_destroy(&service->lock);
}

bool service_may_ask(struct service *service)
{
	bool may;

	pthread_mutex_lock(&service->lock);
	may = breaker_allows(&service->breaker);
	pthread_mutex_unlock(&service->lock);
	return may;
}

static enum breaker_outcome outcome_of(enum engine_answer answer)
{
	return answer == ENGINE_UNREACHABLE || answer == ENGINE_SLOW || answer == ENGINE_BROKEN ? BREAKER_FAILED
	                                                                                        : BREAKER_ANSWERED;
}

void service_answered(struct service *service, enum engine_answer answer, const struct engine_error *error)
{
	bool opened;

	tally_answer(&service->tally, answer, error->text);
	pthread_mutex_lock(&service->lock);
	opened = breaker_note(&service->breaker, outcome_of(answer), service_now_ns(), service_random());
	pthread_mutex_unlock(&service->lock);
	if (opened) {
		service_say("the engine is left alone for now: %s", error->text);
	}
}

void service_put(struct service *service, struct breaker *puts, enum engine_answer answer,
                 const struct engine_error *error)
{
	enum breaker_outcome outcome = outcome_of(answer);

	tally_answer(&service->tally, answer, error->text);
	if (puts->state == BREAKER_PROBING) {
		breaker_probed(puts, outcome, service_now_ns(), service_random());
		if (breaker_allows(puts)) {
			service_say("the engine takes values again");
		}
	} else if (breaker_note(puts, outcome, service_now_ns(), service_random())) {
		service_say("nothing is uploaded for now: %s", error->text);
	}
}

bool service_probe(struct service *service)
{
	bool due;

	pthread_mutex_lock(&service->lock);
	due = breaker_probe(&service->breaker, service_now_ns());
	pthread_mutex_unlock(&service->lock);
	return due;
}

void service_probed(struct service *service, enum engine_answer answer, const struct engine_error *error)
{
	bool back;

	tally_answer(&service->tally, answer, error->text);
	pthread_mutex_lock(&service->lock);
	breaker_probed(&service->breaker, outcome_of(answer), service_now_ns(), service_random());
	back = breaker_allows(&service->breaker);
	pthread_mutex_unlock(&service->lock);
	if (back) {
		service_say("the engine answers again");
	}
}

int64_t service_probe_wait_ns(struct service *service)
{
	int64_t wait;

	pthread_mutex_lock(&service->lock);
	wait = breaker_wait_ns(&service->breaker, service_now_ns());
	pthread_mutex_unlock(&service->lock);
	return wait;
}

void service_bundle_is(struct service *service, enum service_bundle bundle)
{
	pthread_mutex_lock(&service->lock);
	service->bundle = bundle;
	pthread_mutex_unlock(&service->lock);
}

enum service_bundle service_bundle(struct service *service)
{
	enum service_bundle bundle;

	pthread_mutex_lock(&service->lock);
	bundle = service->bundle;
	pthread_mutex_unlock(&service->lock);
	return bundle;
}

enum service_thread service_join(pthread_t thread, int64_t until_ns)
{
	int64_t left_ns = until_ns - service_now_ns();
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until); /* the only one that every glibc waits by here */
	left_ns = (left_ns > 0 ? left_ns : 0) + until.tv_nsec;
	until.tv_sec += left_ns / 1000000000;
	until.tv_nsec = left_ns % 1000000000;
	return pthread_timedjoin_np(thread, NULL, &until) == 0 ? SERVICE_JOINED : SERVICE_LEFT;
}
