/* SPDX-License-Identifier: MIT */
/*
 * engine: a store operated by other software, which stores values under names (docs/DESIGN.md G)
 *
 * The scheme of the address selects the kind of engine: Redis, an HTTP server or S3. A value is a string of bytes here;
 * agent/wire/value.h interprets and verifies it.
 *
 * Calling sequence: fill in engine_options; engine_open() for each connection, not connecting yet; engine_ask(), which
 * connects if there is no connection, and reconnects once if the server has closed an idle one. An engine stays open
 * until the process ends.
 *
 * Errors: an answer, with a text for people, which never contains a secret and begins with the engine's place. Every
 * call ends within its limit, which includes name resolution and the check of certificates.
 * Threads: one at a time uses an engine. Signals: the program must ignore SIGPIPE. Fork: not supported. Ownership:
 * the options and their texts must outlive the engine; the caller frees received values with free().
 */
#ifndef AGENT_ENGINE_ENGINE_H
#define AGENT_ENGINE_ENGINE_H

#include "cache/entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENGINE_TEXT_MAX  256
#define ENGINE_NAME_MAX  512
#define ENGINE_VALUE_MAX (64u << 20) /* larger values are neither received nor sent */

/* X(NAME, word, state): the outcome of a request, its word in --status ("": no error), and the engine's state then. */
#define ENGINE_ANSWERS(X)                                                                                      \
	X(DONE, "", CONNECTED)                     /* the value was received or stored */                      \
	X(ABSENT, "", CONNECTED)                   /* the value does not exist */                              \
	X(TOO_LARGE, "too_large", CONNECTED)       /* status 413, or longer than ENGINE_VALUE_MAX */           \
	X(FULL, "full", CONNECTED)                 /* Redis reports OOM, or status 507 */                      \
	X(REFUSED, "refused", REFUSED)             /* wrong password or no permission: 401, 403, NOPERM */     \
	X(UNSUITED, "unsuited", REFUSED)           /* not the answer of this kind of server: WRONGTYPE, 400 */ \
	X(UNREACHABLE, "unreachable", UNREACHABLE) /* no connection, unknown host, bad certificate */          \
	X(SLOW, "slow", UNREACHABLE)               /* the time limit was exceeded */                           \
	X(BROKEN, "broken", UNREACHABLE)           /* cut connection, status 5xx, unknown protocol */

enum engine_answer {
#define ENGINE_ANSWER(name, word, state) ENGINE_##name,
	ENGINE_ANSWERS(ENGINE_ANSWER)
#undef ENGINE_ANSWER
	    ENGINE_ANSWER_COUNT
};

struct engine_options {
	const char *address;       /* see agent/engine/address.h */
	const char *user;          /* or NULL */
	const char *password_file; /* engine_open() reads its first line; only the user may have access (0600) */
	const char *ca_file;       /* NULL: certificates of the system */
	const char *prefix;        /* of every name */
	const char *layout;        /* HTTP: NULL, "plain" or "bazel" */
	const char *s3_endpoint;   /* NULL: the endpoint of AWS for the region */
	const char *s3_region;     /* `user` is the access key, and `password_file` has the secret key */
};

struct engine_error {
	char text[ENGINE_TEXT_MAX]; /* "" if there is nothing to report */
};

struct engine;

/* Opens an engine. Returns 0, or a negative errno value with a text in `ret_error`. */
int engine_open(const struct engine_options *options, struct engine **ret_engine, struct engine_error *ret_error);

/* Gets or puts the value of a key, from which each kind of engine makes its own form of name. */
struct engine_request {
	const uint8_t *key;
	int64_t until_ns; /* by call_clock_straight() */
	bool is_put;
	void *value; /* to put, or received with ENGINE_DONE, for free(); NULL: an empty one */
	size_t size;
	struct engine_error error; /* received with every other answer than ENGINE_DONE and ENGINE_ABSENT */
};
enum engine_answer engine_ask(struct engine *engine, struct engine_request *request);

#endif
