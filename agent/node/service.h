/* SPDX-License-Identifier: MIT */
/*
 * service: the state that all parts of a running agent share: options, directory, circuit breaker
 *
 * Purpose: each thread has its own engine (agent/engine/engine.h), and all threads share one circuit breaker
 * (cache/breaker.h): service_may_ask() before a request, service_answered() after it. The breaker opens after
 * SERVICE_FAILURES failures in a row, for 1 s, 2 s, ... up to a minute. Only a missing answer is a failure; a refusal
 * and "absent" are answers. While the breaker is open, only service_probe() sends a request. An engine that refuses
 * uploads can still be read, so service_put() has a second breaker. A line on stderr reports when the engine becomes
 * unreachable and when it is back.
 *
 * Calling sequence: service_begin(), start threads, service_end() after they have ended. Errors: service_begin() prints
 * them on stderr. Threads: any; the options are never changed. Ownership: the service owns what it has opened.
 */
#ifndef AGENT_NODE_SERVICE_H
#define AGENT_NODE_SERVICE_H

#include "agent/engine/engine.h"
#include "agent/wire/keyring.h"
#include "agent/wire/value.h"
#include "cache/breaker.h"
#include "cache/directory.h"
#include "cache/entry.h"
#include "cache/settings.h"
#include "cache/store.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/*
 * tally: the agent's counts since its start (docs/DESIGN.md G5)
 *
 * An X-macro lists the counts, which `--status --json` prints under the same names. The tally also counts the engine's
 * answers, and has the duration of the last TALLY_TIMES fetches. Threads: any number. Errors: none.
 */

#define TALLY_TIMES 1024

#define TALLY_COUNTS(X)                                                                                        \
	X(asked)            /* processes that asked for a key */                                               \
	X(fetches)          /* requests to the engine for these */                                             \
	X(found)            /* ... after which it was in the directory */                                      \
	X(absent)           /* ... that the engine had not */                                                  \
	X(absent_known)     /* asked again within a second or two: answered without a request to the engine */ \
	X(joined)           /* asked while the same key was being fetched */                                   \
	X(down)             /* asked while the breaker was open or the queue was full */                       \
	X(elsewhere)        /* asked by processes that use another directory */                                \
	X(fetched_bytes)    /* of values as the engine has them */                                             \
	X(bundle_results)   /* entries of the initial bundle that were stored */                               \
	X(bundle_bytes)     /* as the engine has it */                                                         \
	X(store_errors)     /* fetched, but could not be stored */                                             \
	X(uploads)          /* values put */                                                                   \
	X(uploaded_bytes)   /* as the engine has them */                                                       \
	X(exists_skipped)   /* not uploaded, because the engine has them */                                    \
	X(left_out)         /* results not uploaded: time macros, path-dependent, too cheap, too large */      \
	X(dropped)          /* not queued: the queue was full, or the engine refuses them */                   \
	X(mac_refused)      /* values whose signature is wrong, missing, or of no key of ours */               \
	X(format_refused)   /* values of another format */                                                     \
	X(damaged)          /* damaged values: truncated, of another key, too large */                         \
	X(peers_refused)    /* connections of users without permission */                                      \
	X(messages_refused) /* messages of another size, version or kind, or that never came */

#define TALLY_ENUM(name) TALLY_##name,
enum tally_count { TALLY_COUNTS(TALLY_ENUM) TALLY_COUNTS_END };
#undef TALLY_ENUM

struct tally_numbers {
	uint64_t counts[TALLY_COUNTS_END];
	uint64_t answers[ENGINE_ANSWERS];
	uint64_t times_us[TALLY_TIMES];
	uint64_t timed;
	uint64_t p50_us, p99_us; /* set by tally_show() */
	char last_error[ENGINE_TEXT_MAX];
	int64_t last_error_s; /* since 1970 */
};

struct tally {
	pthread_mutex_t lock;
	struct tally_numbers now;
};

void tally_begin(struct tally *tally);
void tally_add(struct tally *tally, enum tally_count what, uint64_t how_many);
void tally_answer(struct tally *tally, enum engine_answer answer, const char *text);
void tally_time(struct tally *tally, int64_t ns);
/* Counts a value that could not be opened, by the reason. */
void tally_refused(struct tally *tally, enum value_found found);

/* Copies a snapshot, with the median and the 99th percentile of the times. */
void tally_show(struct tally *tally, struct tally_numbers *ret_numbers);
const char *tally_name(enum tally_count what);

#define SERVICE_FAILURES 4
#define SERVICE_SETTLED  16384

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
	const char *bundle; /* name of the bundle to fetch at the start, or NULL */
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
	uint64_t raw_max;        /* largest decompressed size of a value */
	char says[ENGINE_TEXT_MAX + ENGINE_NAME_MAX];
	time_t since;
	struct tally tally;
	struct breaker breaker;
	_Atomic enum service_bundle bundle;
	_Atomic uint64_t settled[SERVICE_SETTLED]; /* hash table of keys that the engine is known to have */
};

/* The circuit breaker of uploads. `seen` is not 0 if the next upload is a probe. */
struct service_puts {
	struct breaker breaker;
	int64_t seen;
};

/* Opens the store, reads the keys and checks the engine's options. Takes over the settings. */
bool service_begin(struct service *service, const struct service_options *options, struct settings *settings);
void service_end(struct service *service);

/* Reads the key file of the options, if there is one. Returns false after a message on stderr. */
bool service_read_keys(struct service *service);
/* Opens an engine for the calling thread. Returns false after a message on stderr. */
bool service_open_engine(const struct service *service, struct engine **ret_engine);

/*
 * Remembers that the engine has a key, so that sweeps do not ask about keys that this agent fetched or uploaded. A key
 * that replaces another one costs one more request.
 */
void service_note_settled(struct service *service, const uint8_t key[ENTRY_KEY_BYTES]);
bool service_is_settled(const struct service *service, const uint8_t key[ENTRY_KEY_BYTES]);

bool service_may_ask(struct service *service);
void service_answered(struct service *service, enum engine_answer answer, const struct engine_error *error);
/* `puts` belongs to the upload thread. If a probe is due, the next upload is the probe. */
bool service_may_put(struct service_puts *puts);
void service_put(struct service *service, struct service_puts *puts, enum engine_answer answer,
                 const struct engine_error *error);
/*
 * Returns true if a probe is due and the caller has to make it: it calls engine_probe() and passes the answer and
 * *ret_seen to service_probed(). Only one thread gets true for each probe.
 */
bool service_probe(struct service *service, int64_t *ret_seen);
void service_probed(struct service *service, int64_t seen, enum engine_answer answer, const struct engine_error *error);
/* Returns the nanoseconds until the next probe is due; -1 if the breaker is closed. */
int64_t service_probe_wait_ns(const struct service *service);

/*
 * Waits for the end of a thread. SERVICE_LEFT: the thread was still running at `until_ns`, for example in a system call
 * on a hung share; nothing that it uses may be freed.
 */
enum service_thread { SERVICE_JOINED, SERVICE_LEFT };
enum service_thread service_join(pthread_t thread, int64_t until_ns);

int64_t service_now_ns(void); /* CLOCK_MONOTONIC */
uint64_t service_random(void);

/* Prints a line on stderr after the program name. Harmful characters become '?' (cache/harmless.h). */
__attribute__((format(printf, 1, 2))) void service_say(const char *format, ...);

#endif
