/* SPDX-License-Identifier: MIT */
/*
 * Threads share the options, which never change, the tally, which has a lock, and the circuit breaker, which is atomic.
 * Uploads have a second breaker, because an engine that is full can still be read.
 */
#include "agent/node/service.h"

#include "cache/harmless.h"
#include "keygen/dependencies.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define PROGRAM "nvrtccache-agent"

static const struct breaker_rule rule = {
    .failures = SERVICE_FAILURES, .first_ns = INT64_C(1000000000), .longest_ns = 60 * INT64_C(1000000000)};

/* Texts from a server may contain escape sequences for the terminal. */
void service_say(const char *format, ...)
{
	char text[2048];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	harmless_text(text);
	fprintf(stderr, PROGRAM ": %s\n", text);
}

int64_t service_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
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

/* Reads the key file. Without one, values are not signed and signatures are not checked (--trust-engine). */
bool service_read_keys(struct service *service)
{
	char text[KEYRING_TEXT_MAX];

	if (service->options.key_file == NULL ||
	    keyring_read(service->options.key_file, &service->keyring, text) == 0) {
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

/* Each thread calls this for an engine of its own, because an engine and its connection belong to one thread. */
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

/* The engine is opened once here, so that a wrong option is reported before any process can use the agent. */
bool service_begin(struct service *service, const struct service_options *options, struct settings *settings)
{
	struct engine *engine;

	*service = (struct service){.options = *options, .settings = *settings, .since = time(NULL)};
	*settings = (struct settings){.directory = NULL};
	service->directory.path = service->settings.directory;
	service->directory.shared = service->settings.shared;
	/* an eighth of the size limit, which is the limit of the store for an entry */
	service->raw_max = service->settings.max_size == 0 || service->settings.max_size / 8 > VALUE_RAW_MAX
	                       ? VALUE_RAW_MAX
	                       : service->settings.max_size / 8;
	tally_begin(&service->tally);
	directory_settle(service->settings.directory, service->settings.home_length);
	if (!service_read_keys(service) || !open_store(service) || !service_open_engine(service, &engine)) {
		service_end(service);
		return false;
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
}

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

/* A half-open breaker counts as open, because only the probe may be sent. */
bool service_may_ask(struct service *service)
{
	return breaker_wait_ns(&service->breaker, service_now_ns()) < 0;
}

/*
 * Notes an answer, and prints a message when the breaker opens or closes. Only missing answers are failures, because a
 * server that refuses is up and answers the next request without delay.
 */
static void note_answer(struct service *service, struct breaker *breaker, int64_t seen, const char *doing,
                        enum engine_answer answer, const struct engine_error *error)
{
	bool was_closed = breaker_wait_ns(breaker, service_now_ns()) < 0;

	tally_answer(&service->tally, answer, error->text);
	if (answer == ENGINE_UNREACHABLE || answer == ENGINE_SLOW || answer == ENGINE_BROKEN) {
		if (breaker_failed(breaker, &rule, seen, service_now_ns()) && was_closed) {
			service_say("stopped %s: %s", doing, error->text);
		}
		return;
	}
	breaker_answered(breaker, seen);
	if (!was_closed && breaker_wait_ns(breaker, service_now_ns()) < 0) {
		service_say("%s again", doing);
	}
}

void service_answered(struct service *service, enum engine_answer answer, const struct engine_error *error)
{
	service_probed(service, 0, answer, error);
}

bool service_may_put(struct service_puts *puts)
{
	/* an earlier call may have taken the probe without a put since then; that probe is still to be made */
	return (puts->seen != 0 && atomic_load(&puts->breaker.until) == puts->seen) ||
	       breaker_ask(&puts->breaker, &rule, service_now_ns(), &puts->seen);
}

/* This breaker is separate, because an engine that is full or read-only refuses puts but answers gets. */
void service_put(struct service *service, struct service_puts *puts, enum engine_answer answer,
                 const struct engine_error *error)
{
	note_answer(service, &puts->breaker, puts->seen, "uploading", answer, error);
}

/* When the breaker is half-open, breaker_ask() gives the probe to one thread. */
bool service_probe(struct service *service, int64_t *ret_seen)
{
	return breaker_wait_ns(&service->breaker, service_now_ns()) == 0 &&
	       breaker_ask(&service->breaker, &rule, service_now_ns(), ret_seen) && *ret_seen != 0;
}

void service_probed(struct service *service, int64_t seen, enum engine_answer answer, const struct engine_error *error)
{
	note_answer(service, &service->breaker, seen, "asking the engine", answer, error);
}

int64_t service_probe_wait_ns(const struct service *service)
{
	return breaker_wait_ns(&service->breaker, service_now_ns());
}

enum service_thread service_join(pthread_t thread, int64_t until_ns)
{
	int64_t left_ns = until_ns - service_now_ns();
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until); /* the clock of pthread_timedjoin_np() */
	left_ns = (left_ns > 0 ? left_ns : 0) + until.tv_nsec;
	until.tv_sec += left_ns / 1000000000;
	until.tv_nsec = left_ns % 1000000000;
	return pthread_timedjoin_np(thread, NULL, &until) == 0 ? SERVICE_JOINED : SERVICE_LEFT;
}

/* ---- tally. One lock protects all counts, because they change at most a few hundred times a second. */

void tally_begin(struct tally *tally)
{
	memset(tally, 0, sizeof(*tally));
	pthread_mutex_init(&tally->lock, NULL);
}

/* Uses the lock and not atomics, so that --status shows a consistent snapshot. */
void tally_add(struct tally *tally, enum tally_count what, uint64_t how_many)
{
	pthread_mutex_lock(&tally->lock);
	tally->now.counts[what] += how_many;
	pthread_mutex_unlock(&tally->lock);
}

/* Counts an answer, and stores the text of an error. An absent value is not an error. */
void tally_answer(struct tally *tally, enum engine_answer answer, const char *text)
{
	pthread_mutex_lock(&tally->lock);
	tally->now.answers[answer]++;
	if (text[0] != '\0' && answer != ENGINE_DONE && answer != ENGINE_ABSENT) {
		snprintf(tally->now.last_error, sizeof(tally->now.last_error), "%s", text);
		tally->now.last_error_s = time(NULL);
	}
	pthread_mutex_unlock(&tally->lock);
}

/* Only the last TALLY_TIMES times are stored, because percentiles of all times would hide a recent change. */
void tally_time(struct tally *tally, int64_t ns)
{
	pthread_mutex_lock(&tally->lock);
	tally->now.times_us[tally->now.timed++ % TALLY_TIMES] = (uint64_t)ns / 1000;
	pthread_mutex_unlock(&tally->lock);
}

/* Bad signatures have a counter of their own, because they need the attention of the operator. */
void tally_refused(struct tally *tally, enum value_found found)
{
	switch (found) {
	case VALUE_UNSIGNED:
	case VALUE_UNKNOWN_KEY:
	case VALUE_FORGED:
		tally_add(tally, TALLY_mac_refused, 1);
		break;
	case VALUE_FOREIGN:
		tally_add(tally, TALLY_format_refused, 1);
		break;
	default:
		tally_add(tally, TALLY_damaged, 1);
		break;
	}
}

static int compare_times(const void *left, const void *right)
{
	const uint64_t *a = left;
	const uint64_t *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Sorts a copy of the times, so that the lock is held only for the copying. */
void tally_show(struct tally *tally, struct tally_numbers *ret_numbers)
{
	size_t count;

	pthread_mutex_lock(&tally->lock);
	*ret_numbers = tally->now;
	pthread_mutex_unlock(&tally->lock);
	count = ret_numbers->timed < TALLY_TIMES ? (size_t)ret_numbers->timed : TALLY_TIMES;
	if (count != 0) {
		qsort(ret_numbers->times_us, count, sizeof(ret_numbers->times_us[0]), compare_times);
		ret_numbers->p50_us = ret_numbers->times_us[count / 2];
		ret_numbers->p99_us = ret_numbers->times_us[count - 1 - count / 100];
	}
}

const char *tally_name(enum tally_count what)
{
#define TALLY_NAME(name) #name,
	static const char *const names[] = {TALLY_COUNTS(TALLY_NAME)};
#undef TALLY_NAME

	return names[what];
}
