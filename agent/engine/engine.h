/* SPDX-License-Identifier: MIT */
/*
 * engine: a store operated by other software, which holds values under names (docs/DESIGN.md G)
 *
 * A directory, Redis, an HTTP server or S3: one table of functions each, chosen by the scheme of the address. A value
 * is a string of bytes here; agent/wire/value.h says what it contains and whether to believe it.
 *
 * Calling sequence: fill in engine_options; engine_open() in each worker thread, which connects to nothing yet;
 * engine_get(), engine_has(), engine_put(), which connect if there is no connection, and once more if the server has
 * closed the one they had; engine_close().
 *
 * Errors: an answer, with words for people in the error's text: never a secret, and the address without user and
 * password. Every call ends within its limit, connecting included.
 * Threads: an engine belongs to one thread. Signals: the program ignores SIGPIPE. Fork: none. Ownership: values given
 * out are the caller's (free).
 */
#ifndef AGENT_ENGINE_ENGINE_H
#define AGENT_ENGINE_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#define ENGINE_TEXT_MAX  256
#define ENGINE_NAME_MAX  512
#define ENGINE_VALUE_MAX (64u << 20) /* no larger value is taken or sent */

/* How a question ended. The breaker counts UNREACHABLE, SLOW and BROKEN alone; the others are answers. */
enum engine_answer {
	ENGINE_DONE,        /* got it, it is there, it is put */
	ENGINE_ABSENT,      /* it is not there */
	ENGINE_TOO_LARGE,   /* 413, or longer than ENGINE_VALUE_MAX */
	ENGINE_FULL,        /* Redis without room, 507 */
	ENGINE_REFUSED,     /* password, right, 401, 403, NOAUTH, NOPERM */
	ENGINE_UNSUITED,    /* a server that answers, but not as this kind of engine does: 400 on ac/, WRONGTYPE */
	ENGINE_UNREACHABLE, /* no connection, name, certificate */
	ENGINE_SLOW,        /* the limit passed */
	ENGINE_BROKEN,      /* a connection cut in a value, a 5xx, words of no known protocol */
	ENGINE_ANSWERS,
};

struct engine_options {
	const char
	    *address; /* redis+unix:///path[?db=N], redis://host:port[?db=N], rediss://…, http+unix:///socket:/prefix,
	                              http://…, https://…, s3://bucket/prefix; no user or password in it */
	const char *user;          /* or NULL */
	const char *password_file; /* read by engine_open(); first line; must be the reader's alone (0600) */
	const char *token_file;    /* HTTP bearer; the same rules */
	const char *ca_file;       /* or NULL: the system's */
	const char *certificate;   /* client certificate and key, PEM, or NULL */
	const char *certificate_key;
	const char *prefix;      /* of every name; "nvrtccache" where unset */
	const char *layout;      /* HTTP: "plain" or "bazel" */
	const char *s3_endpoint; /* or NULL: AWS's of the region */
	const char *s3_region;   /* access key is `user`, its secret the password's file */
	unsigned expire_s;       /* Redis: EX of what is put, renewed by reading (GETEX); 0: none */
};

/* What a value is called: the engine makes a name of its own kind of these. */
struct engine_name {
	unsigned format; /* of entries, from the entry's header's format */
	uint8_t key[32];
};

struct engine_error {
	char text[ENGINE_TEXT_MAX]; /* "" where there is nothing to say */
};

struct engine;

/* -EINVAL with the words of what is wrong in `ret_error`; -EACCES: a secret's file that others can read. */
int engine_open(const struct engine_options *options, struct engine **ret_engine, struct engine_error *ret_error);
void engine_close(struct engine *engine);

/* What people are told: kind, place, effective prefix; no secret. */
const char *engine_says(const struct engine *engine);

enum engine_answer engine_get(struct engine *engine, const struct engine_name *name, unsigned limit_ms,
                              void **ret_value, size_t *ret_size, struct engine_error *ret_error);
enum engine_answer engine_has(struct engine *engine, const struct engine_name *name, unsigned limit_ms,
                              struct engine_error *ret_error);
enum engine_answer engine_put(struct engine *engine, const struct engine_name *name, const void *value, size_t size,
                              unsigned limit_ms, struct engine_error *ret_error);

/* Is anybody there, and are we let in? For the start and for a half-open breaker. */
enum engine_answer engine_probe(struct engine *engine, unsigned limit_ms, struct engine_error *ret_error);

#endif
