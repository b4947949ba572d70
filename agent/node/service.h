/* SPDX-License-Identifier: MIT */
/*
 * service: what all threads of a running agent share: options, directory, keys, counts, and the state of the engine
 *
 *     STARTING --answer--> CONNECTED <--answer--> REFUSED (wrong password, no permission, not such a server)
 *                              ^---------answer--> UNREACHABLE (no connection, too slow, broken)
 *
 * A line on stderr reports each change, with the reason. After SERVICE_FAILURES requests in a row without a useful
 * answer the engine is paused for 1 s, then 2 s, and so on up to a minute, of which half is random. During a pause
 * service_may_ask() is false, so that no process waits for the engine. When the pause is over, one worker probes the
 * engine: service_probe_is_due() tells it so. The pause ends with the first useful answer.
 *
 * Calling sequence: service_begin(), start threads, service_end() after they have ended. Errors: service_begin() prints
 * them on stderr. Threads: any. `lock` protects the state of the engine, and the tables of fetch.c and upload.c;
 * `change` is signalled when work may have to be done. Ownership: the service owns what it has opened.
 */
#ifndef AGENT_NODE_SERVICE_H
#define AGENT_NODE_SERVICE_H

#include "agent/engine/engine.h"
#include "agent/wire/value.h"
#include "cache/directory.h"
#include "cache/entry.h"
#include "cache/settings.h"
#include "cache/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* The agent's counts since its start, which --status prints under these names (docs/DESIGN.md G5). */
#define SERVICE_COUNTS(X)                                                                                 \
	X(asked)            /* processes that asked for a key */                                          \
	X(fetches)          /* requests to the engine for these */                                        \
	X(found)            /* ... after which it was in the directory */                                 \
	X(absent)           /* ... that the engine did not have */                                        \
	X(absent_known)     /* asked again within a second or two: answered without a request */          \
	X(joined)           /* asked while the same key was being fetched */                              \
	X(down)             /* asked while the engine was paused or too many fetches were waiting */      \
	X(elsewhere)        /* asked by processes that use another directory */                           \
	X(fetched_bytes)    /* of values as the engine has them */                                        \
	X(fetch_us)         /* the time of fetches that received a value */                               \
	X(store_errors)     /* fetched, but could not be stored */                                        \
	X(uploads)          /* values put */                                                              \
	X(uploaded_bytes)   /* as the engine has them */                                                  \
	X(exists_skipped)   /* not uploaded, because the engine has them */                               \
	X(left_out)         /* results not uploaded: time macros, path-dependent, too cheap, too large */ \
	X(dropped)          /* not uploaded: the queue was full, or the engine refuses them */            \
	X(mac_refused)      /* values whose signature is wrong, missing, or of no key of ours */          \
	X(format_refused)   /* values of another format */                                                \
	X(damaged)          /* damaged values: of another key, too large, not what their head says */     \
	X(peers_refused)    /* connections of users without permission */                                 \
	X(messages_refused) /* messages of another size, version or kind, or that never came */

enum service_count {
#define SERVICE_COUNT(name) SERVICE_COUNT_##name,
	SERVICE_COUNTS(SERVICE_COUNT)
#undef SERVICE_COUNT
	    SERVICE_COUNT_END
};

enum engine_state { ENGINE_STARTING, ENGINE_CONNECTED, ENGINE_IS_REFUSED, ENGINE_IS_UNREACHABLE };

const char *service_state_name(enum engine_state state);

#define SERVICE_FAILURES 4
#define SERVICE_SETTLED  16384

struct service_state {
	enum engine_state state;
	time_t since;
	char why[ENGINE_TEXT_MAX];
	unsigned failures;          /* requests in a row without a useful answer */
	int64_t pause_ns, until_ns; /* `until_ns`: when a probe is due; 0: not paused */
	int64_t heard_ns;           /* time of the last answer */
	bool is_probing;
};

enum service_writes { SERVICE_READS, SERVICE_WRITES };

struct service_options {
	struct engine_options engine;
	const char *socket; /* NULL: the one in the directory */
	const char *key_file;
	enum value_trust trust;
	enum service_writes writes;
	uint64_t least_cost_ns;
};

struct service {
	struct service_options options;
	struct settings settings;
	struct directory directory;
	struct store *store;
	struct keyring *keyring; /* NULL: no key file */
	struct value_rules rules;
	char says[ENGINE_TEXT_MAX + ENGINE_NAME_MAX];
	time_t since;
	pthread_mutex_t lock;
	pthread_cond_t change; /* waits until times of CLOCK_MONOTONIC */
	struct service_state state;
	_Atomic uint64_t counts[SERVICE_COUNT_END];
	_Atomic uint64_t answers[ENGINE_ANSWER_COUNT];
	_Atomic uint64_t settled[SERVICE_SETTLED]; /* hash table of keys that the engine is known to have */
};

/* Opens the store, reads the keys and checks the engine's options. Takes over the settings. */
bool service_begin(struct service *service, const struct service_options *options, struct settings *settings);
void service_end(struct service *service);

/* Opens an engine for the calling thread. Returns false after a message on stderr. */
bool service_open_engine(const struct service *service, struct engine **ret_engine);

void service_count(struct service *service, enum service_count what, uint64_t how_many);
/* Notes the answer to a request. A put without permission or space says nothing about reading. */
enum service_request { SERVICE_GET, SERVICE_PUT };
void service_answered(struct service *service, enum service_request request, enum engine_answer answer,
                      const struct engine_error *error);
bool service_may_ask(struct service *service);
/* Returns whether the caller, which holds the lock, has to probe the engine now. Only one caller gets true. */
bool service_probe_is_due(struct service *service);
/* Probes the engine: a get of a key that no request has. */
void service_probe(struct service *service, struct engine *engine);
void service_show(struct service *service, struct service_state *ret_state);

/* Stores results in the directory. Returns how many were stored, or were there already. */
size_t service_land(struct service *service, const struct results *results);

/*
 * Remembers that the engine has a key, so that sweeps do not ask about keys that this agent fetched or uploaded. A key
 * that replaces another one costs one more request.
 */
void service_note_settled(struct service *service, const uint8_t key[ENTRY_KEY_BYTES]);
bool service_is_settled(const struct service *service, const uint8_t key[ENTRY_KEY_BYTES]);

/* Waits for `change`, with the lock held, at most until a time of service_now_ns(). */
void service_wait(struct service *service, int64_t until_ns);
/* Returns false if the thread still runs at `until_ns`; then nothing that it uses may be freed. */
bool service_join(pthread_t thread, int64_t until_ns);

int64_t service_now_ns(void); /* CLOCK_MONOTONIC */
uint64_t service_random(void);
/* Returns `pause_ns` less a random part of up to a half, so that nodes do not act at the same time. */
int64_t service_draw(int64_t pause_ns);

/* Prints a line on stderr after the program name. Harmful characters become '?' (cache/harmless.h). */
__attribute__((format(printf, 1, 2))) void service_say(const char *format, ...);

#endif
