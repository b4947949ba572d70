/* SPDX-License-Identifier: MIT */
/*
 * tally: what the agent has done and met since it began (docs/DESIGN.md G5)
 *
 * One X-macro list of counts, which is what `--status --json` shows too; how the engine's answers went; how long its
 * last TALLY_TIMES answers to a fetch took. Threads: any number. Errors: none.
 */
#ifndef AGENT_NODE_TALLY_H
#define AGENT_NODE_TALLY_H

#include "agent/engine/engine.h"
#include "agent/wire/value.h"

#include <pthread.h>
#include <stdint.h>

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

#endif
