/* SPDX-License-Identifier: MIT */
/*
 * service: what all parts of a running agent share: what was asked for, the directory, the engine's state
 *
 * Purpose: each thread has an engine of its own (agent/engine/engine.h), and all go by one breaker (cache/breaker.h):
 * service_may_ask() before a question, service_answered() after it. It opens after SERVICE_FAILURES failures in a row, for
 * 1 s, 2 s, ... up to a minute; only a failure to answer is one, and a refusal or "not there" is an answer. While it is open
 * nobody asks but service_probe(). A value that was not taken says nothing of those that can be read: service_put() goes
 * by a breaker of the uploads' own. People are told on stderr when the engine goes and when it comes back, and of nothing
 * in between.
 *
 * Calling sequence: service_begin(), then threads, service_end() when they are gone. Errors: service_begin() says what
 * is wrong on stderr. Threads: any; options never change. Ownership: the service has what it opened.
 */
#ifndef AGENT_NODE_SERVICE_H
#define AGENT_NODE_SERVICE_H

#include "agent/engine/engine.h"
#include "agent/node/settled.h"
#include "agent/node/tally.h"
#include "agent/wire/keyring.h"
#include "cache/breaker.h"
#include "cache/directory.h"
#include "cache/settings.h"
#include "cache/store.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#define SERVICE_FAILURES 4

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
	enum value_trust trust;
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
	struct breaker breaker;
	_Atomic enum service_bundle bundle;
};

/* The breaker of uploads. */
struct service_puts {
	struct breaker breaker;
	int64_t seen;
};

/* Takes the settings. */
bool service_begin(struct service *service, const struct service_options *options, struct settings *settings);
void service_end(struct service *service);

bool service_open_engine(const struct service *service, struct engine **ret_engine);

bool service_may_ask(struct service *service);
void service_answered(struct service *service, enum engine_answer answer, const struct engine_error *error);
/* `puts` belongs to the thread that puts; where a probe is due the next put is it. */
bool service_may_put(struct service_puts *puts);
void service_put(struct service *service, struct service_puts *puts, enum engine_answer answer,
                 const struct engine_error *error);
/* A probe is due, and the caller's: it asks the engine and tells the answer with what was seen. */
bool service_probe(struct service *service, int64_t *ret_seen);
void service_probed(struct service *service, int64_t seen, enum engine_answer answer, const struct engine_error *error);
/* -1: none is due. */
int64_t service_probe_wait_ns(const struct service *service);

/* LEFT: it has not ended by then, as a call of the kernel to a share that hangs does not; nothing that it uses may be freed. */
enum service_thread { SERVICE_JOINED, SERVICE_LEFT };
enum service_thread service_join(pthread_t thread, int64_t until_ns);

int64_t service_now_ns(void); /* CLOCK_MONOTONIC */
uint64_t service_random(void);

/* A line on stderr, behind the program's name; what could command a terminal shows as '?'. */
__attribute__((format(printf, 1, 2))) void service_say(const char *format, ...);

#endif
