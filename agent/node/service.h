/* SPDX-License-Identifier: MIT */
/*
 * service: what all threads of a running agent share: options, directory, keys, counts, and the engine with its state
 *
 *     STARTING --answer--> CONNECTED <--answer--> REFUSED (wrong password, no permission, not such a server)
 *                              ^---------answer--> UNREACHABLE (no connection, too slow, broken)
 *
 * A line on stderr reports each change, with the reason. After a request without a useful answer the engine is paused
 * for 1 s, then 2 s, and so on up to a minute (cache/pause.h). During a pause service_ask_pause() is false, so that no
 * process waits for the engine. When the pause is over, one request is made; the pause ends with a useful answer.
 *
 * The threads share SERVICE_CONNECTIONS connections, of which the key selects one: a request waits for it within its
 * limit; after that, ENGINE_SLOW leaves the state as it is.
 *
 * Calling sequence: service_begin(), start threads. It ends with the process. For each request:
 * service_ask_pause(), then service_ask(). Errors: service_begin() prints them on stderr. Threads: any.
 * `lock` protects the state. Ownership: the service owns what it has opened; the caller frees a value with free().
 */
#ifndef AGENT_NODE_SERVICE_H
#define AGENT_NODE_SERVICE_H

#include "agent/engine/engine.h"
#include "agent/wire/value.h"
#include "cache/directory.h"
#include "cache/entry.h"
#include "cache/pause.h"
#include "cache/settings.h"
#include "cache/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* The agent's counts since its start, which --status prints under these names (docs/DESIGN.md G5). */
#define SERVICE_COUNTS(X)                                                                             \
	X(asked)            /* processes that asked for a key */                                      \
	X(fetches)          /* requests to the engine for these */                                    \
	X(found)            /* ... after which it was in the directory */                             \
	X(absent)           /* ... that the engine did not have */                                    \
	X(joined)           /* asked while the same key was being fetched */                          \
	X(down)             /* asked while the engine was paused */                                   \
	X(elsewhere)        /* asked by processes that use another directory */                       \
	X(fetched_bytes)    /* of values as the engine has them */                                    \
	X(store_errors)     /* fetched, but could not be stored */                                    \
	X(uploads)          /* values put */                                                          \
	X(uploaded_bytes)   /* as the engine has them */                                              \
	X(exists_skipped)   /* not uploaded, because the engine has them */                           \
	X(left_out)         /* results not uploaded: time macros, path-dependent, too large */        \
	X(dropped)          /* not uploaded: queue full, refused by the engine, too large together */ \
	X(mac_refused)      /* values whose signature is wrong, missing, or of no key of ours */      \
	X(format_refused)   /* values of another format */                                            \
	X(damaged)          /* damaged values: of another key, too large, not what their head says */ \
	X(peers_refused)    /* connections of users without permission */                             \
	X(messages_refused) /* messages of another size, version or kind, or that never came */

enum service_count {
#define SERVICE_COUNT(name) SERVICE_COUNT_##name,
	SERVICE_COUNTS(SERVICE_COUNT)
#undef SERVICE_COUNT
	    SERVICE_COUNT_END
};

enum engine_state { STATE_STARTING, STATE_CONNECTED, STATE_REFUSED, STATE_UNREACHABLE };

const char *service_state_name(enum engine_state state);

#define SERVICE_CONNECTIONS 4
#define SERVICE_LIMIT_NS    INT64_C(2000000000) /* for a request that a process waits for */

enum service_writes { SERVICE_READS, SERVICE_WRITES };

struct service_options {
	struct engine_options engine;
	const char *socket; /* NULL: the one in the directory */
	const char *key_file;
	enum value_trust trust;
	enum service_writes writes;
};

struct service {
	struct service_options options;
	struct settings settings;
	struct directory directory;
	struct store store;
	struct keyring keyring;
	struct value_rules rules; /* `keyring` NULL: no key file */
	time_t since;
	pthread_mutex_t lock;
	enum engine_state state;
	time_t state_since;
	char why[ENGINE_TEXT_MAX];
	struct pause pause;
	struct connection {
		pthread_mutex_t lock; /* of the request in progress */
		struct engine *engine;
	} connections[SERVICE_CONNECTIONS];
	_Atomic uint64_t counts[SERVICE_COUNT_END];
	_Atomic uint64_t answers[ENGINE_ANSWER_COUNT];
};

/* Opens the store, reads the keys and checks the engine's options. Takes over the settings. */
bool service_begin(struct service *service, const struct service_options *options, struct settings *settings);

void service_count(struct service *service, enum service_count what, uint64_t how_many);
/* Returns false during a pause. When it is over, one caller gets true, who then must ask. */
bool service_ask_pause(struct service *service);
/*
 * engine_ask() by the key's connection. The answer changes counts, state and pause, but a put that is refused says
 * nothing about reading: its text is for the caller, and the state stays.
 */
enum engine_answer service_ask(struct service *service, struct engine_request *request);
/* Asks the engine for a key that no entry has, unless it is paused, so that the state is that of this moment. */
void service_probe(struct service *service);

/* Stores results in the directory. Returns how many were stored, or were there already. */
size_t service_land(struct service *service, const struct results *results);

/* Prints a line on stderr after the program name. Harmful characters become '?' (cache/harmless.h). */
__attribute__((format(printf, 1, 2))) void service_say(const char *format, ...);

#endif
