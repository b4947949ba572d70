/* SPDX-License-Identifier: MIT */
/*
 * service: what all parts of a running agent share: what was asked for, the directory, the engine's state
 *
 * Purpose: each thread has an engine of its own (agent/engine/engine.h), and all go by one breaker (cache/breaker.h):
 * service_may_ask() before a question, service_answered() after it. It opens after SERVICE_FAILURES failures in a row,
 * for 1 s, 2 s, ... up to a minute; only a failure to answer is one, and a refusal or "not there" is an answer. While
 * it is open nobody asks but service_probe(). A value that was not taken says nothing of those that can be read:
 * service_put() goes by a breaker of the uploads' own. People are told on stderr when the engine goes and when it comes
 * back, and of nothing in between.
 *
 * Calling sequence: service_begin(), then threads, service_end() when they are gone. Errors: service_begin() says what
 * is wrong on stderr. Threads: any; options never change. Ownership: the service has what it opened.
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
 * tally: what the agent has done and met since it began (docs/DESIGN.md G5)
 *
 * One X-macro list of counts, which is what `--status --json` shows too; how the engine's answers went; how long its
 * last TALLY_TIMES answers to a fetch took. Threads: any number. Errors: none.
 */

#define TALLY_TIMES 1024

#define TALLY_COUNTS(X)                                                                              \
	X(asked)            /* processes that asked for a key */                                     \
	X(fetches)          /* questions to the engine that came of these */                         \
	X(found)            /* ... after which it was in the directory */                            \
	X(absent)           /* ... that the engine had not */                                        \
	X(absent_known)     /* asked again within a second or two: answered without the engine */    \
	X(joined)           /* asked while the same was being fetched */                             \
	X(down)             /* asked while the engine was left alone, or too much was waiting */     \
	X(elsewhere)        /* asked by processes of another directory */                            \
	X(fetched_bytes)    /* of values as the engine has them */                                   \
	X(bundle_results)   /* of the bundle of the start, that are in the directory now */          \
	X(bundle_bytes)     /* as the engine has it */                                               \
	X(store_errors)     /* fetched, and the directory could not take it */                       \
	X(uploads)          /* values put */                                                         \
	X(uploaded_bytes)   /* as the engine has them */                                             \
	X(exists_skipped)   /* not put, because the engine had it */                                 \
	X(left_out)         /* results not put: time macros, bound paths, too cheap, too large */    \
	X(dropped)          /* not queued, as the queue was full, or the engine would not have it */ \
	X(mac_refused)      /* values whose signature is wrong, missing, or of no key of ours */     \
	X(format_refused)   /* values of another format */                                           \
	X(damaged)          /* values that are not what they say: cut, of another key, too large */  \
	X(peers_refused)    /* connections of users who may not ask */                               \
	X(messages_refused) /* of another size, version or kind, or that never came */

#define TALLY_ENUM(name) TALLY_##name,
enum tally_count { TALLY_COUNTS(TALLY_ENUM) TALLY_COUNTS_END };
#undef TALLY_ENUM

struct tally {
	pthread_mutex_t lock;
	uint64_t counts[TALLY_COUNTS_END];
	uint64_t answers[ENGINE_ANSWERS];
	uint64_t times_us[TALLY_TIMES];
	uint64_t timed;
	char last_error[ENGINE_TEXT_MAX];
	int64_t last_error_s; /* since 1970 */
};

void tally_begin(struct tally *tally);
void tally_add(struct tally *tally, enum tally_count what, uint64_t how_many);
void tally_answer(struct tally *tally, enum engine_answer answer, const char *text);
void tally_time(struct tally *tally, int64_t ns);
/* Of a value that was not opened. */
void tally_refused(struct tally *tally, enum value_found found);

/* A copy of that moment, and of the times the middle one and the one that a hundredth exceeds. */
struct tally_shown {
	uint64_t counts[TALLY_COUNTS_END];
	uint64_t answers[ENGINE_ANSWERS];
	uint64_t p50_us, p99_us;
	char last_error[ENGINE_TEXT_MAX];
	int64_t last_error_s;
};
void tally_show(struct tally *tally, struct tally_shown *ret_shown);
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
	struct breaker breaker;
	_Atomic enum service_bundle bundle;
	_Atomic uint64_t settled[SERVICE_SETTLED]; /* by hash: keys that the engine is known to have */
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

/*
 * Remembers that the engine has a key, so that sweeps do not ask about what this agent fetched or uploaded. A key that
 * another one pushes out costs a question.
 */
void service_note_settled(struct service *service, const uint8_t key[ENTRY_KEY_BYTES]);
bool service_is_settled(const struct service *service, const uint8_t key[ENTRY_KEY_BYTES]);

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
