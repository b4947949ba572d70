/* SPDX-License-Identifier: MIT */
/*
 * service: what all parts of a running agent share: what was asked for, the directory, the engine's state
 *
 * Purpose: each thread has an engine of its own (engine.h), and all go by one breaker: service_may_ask() before a
 * question, service_answered() after it. A value that was not taken says nothing of those that can be read: service_put()
 * goes by a breaker of the uploads' own. People are told on stderr when the engine goes and when it comes back, and of
 * nothing in between.
 *
 * Calling sequence: service_begin(), then threads, service_end() when they are gone. Errors: service_begin() says what
 * is wrong on stderr. Threads: any; options never change. Ownership: the service has what it opened.
 */
#ifndef AGENT_SERVICE_H
#define AGENT_SERVICE_H

#include "agent/breaker.h"
#include "agent/engine.h"
#include "agent/keyring.h"
#include "agent/settled.h"
#include "agent/tally.h"
#include "cache/directory.h"
#include "cache/settings.h"
#include "cache/store.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

enum service_writes { SERVICE_READS, SERVICE_WRITES };
enum service_bundle {
	SERVICE_NO_BUNDLE,
	SERVICE_BUNDLE_AWAITED,
	SERVICE_BUNDLE_FETCHED,
	SERVICE_BUNDLE_ABSENT,
	SERVICE_BUNDLE_REFUSED
};
enum service_results { SERVICE_ALL_RESULTS, SERVICE_NEUTRAL_RESULTS };

struct service_options {
	struct engine_options engine;
	const char *socket; /* NULL: the one in the directory */
	const char *key_file;
	const char *bundle; /* that is fetched at the start, or NULL */
	enum envelope_trust trust;
	enum service_writes writes;
	enum service_results results;
	uint64_t least_cost_ns;
};

struct service {
	struct service_options options;
	struct settings settings;
	struct directory directory;
	struct store *store;
	struct keyring *keyring; /* NULL: no key file */
	uint64_t raw_max;        /* of what a value unpacks to */
	char says[ENGINE_TEXT_MAX + ENGINE_NAME_MAX];
	time_t since;
	struct tally tally;
	struct settled settled;
	pthread_mutex_t lock; /* of what follows */
	struct breaker breaker;
	enum service_bundle bundle;
};

/* Takes the settings. */
bool service_begin(struct service *service, const struct service_options *options, struct settings *settings);
void service_end(struct service *service);

bool service_open_engine(const struct service *service, struct engine **ret_engine);

bool service_may_ask(struct service *service);
void service_answered(struct service *service, enum engine_answer answer, const struct engine_error *error);
/* Of a put; `puts` belongs to the thread that puts. */
void service_put(struct service *service, struct breaker *puts, enum engine_answer answer,
                 const struct engine_error *error);
/* A probe is due, and the caller's: it asks the engine and tells the answer. */
bool service_probe(struct service *service);
void service_probed(struct service *service, enum engine_answer answer, const struct engine_error *error);
/* -1: none is due. */
int64_t service_probe_wait_ns(struct service *service);

void service_bundle_is(struct service *service, enum service_bundle bundle);
enum service_bundle service_bundle(struct service *service);

/* LEFT: it has not ended by then, as a call of the kernel to a share that hangs does not; nothing that it uses may be freed. */
enum service_thread { SERVICE_JOINED, SERVICE_LEFT };
enum service_thread service_join(pthread_t thread, int64_t until_ns);

int64_t service_now_ns(void); /* CLOCK_MONOTONIC */
uint64_t service_random(void);

/* A line on stderr, behind the program's name; what could command a terminal shows as '?'. */
__attribute__((format(printf, 1, 2))) void service_say(const char *format, ...);

#endif
