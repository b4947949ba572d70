/* SPDX-License-Identifier: MIT */
/*
 * engine: a store operated by other software, which stores values under names (docs/DESIGN.md G)
 *
 * An engine is a directory, Redis, an HTTP server or S3. Each kind has a table of functions, and the scheme of the
 * address selects the kind. A value is a string of bytes here; agent/wire/value.h interprets and verifies it.
 *
 * Calling sequence: fill in engine_options; engine_open() in each worker thread, which does not connect yet;
 * engine_get(), engine_has(), engine_put(), which connect if there is no connection, and reconnect once if the server
 * has closed the connection; engine_close().
 *
 * Errors: an answer, with a text for people in the error, which never contains a secret and has the address without
 * user and password. Every call ends within its limit, which includes connecting. The exception is a directory, where a
 * system call may block until the share answers.
 * Threads: an engine belongs to one thread. Signals: the program must ignore SIGPIPE. Fork: not supported. Ownership:
 * the options and their texts must outlive the engine; the caller frees returned values with free().
 */
#ifndef AGENT_ENGINE_ENGINE_H
#define AGENT_ENGINE_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#define ENGINE_TEXT_MAX  256
#define ENGINE_NAME_MAX  512
#define ENGINE_VALUE_MAX (64u << 20) /* larger values are neither received nor sent */

/* The outcome of a request. The circuit breaker counts only UNREACHABLE, SLOW and BROKEN as failures. */
enum engine_answer {
	ENGINE_DONE,        /* the value was received, exists, or was stored */
	ENGINE_ABSENT,      /* the value does not exist */
	ENGINE_TOO_LARGE,   /* status 413, or longer than ENGINE_VALUE_MAX */
	ENGINE_FULL,        /* Redis reports OOM, or status 507 */
	ENGINE_REFUSED,     /* wrong password or no permission: 401, 403, NOAUTH, NOPERM */
	ENGINE_UNSUITED,    /* the server does not answer as this kind of engine does: 400 on ac/, WRONGTYPE */
	ENGINE_UNREACHABLE, /* no connection, unknown host name, or bad certificate */
	ENGINE_SLOW,        /* the time limit was exceeded */
	ENGINE_BROKEN,      /* connection closed within a value, a 5xx status, or an unknown protocol */
	ENGINE_ANSWERS,
};

struct engine_options {
	const char
	    *address; /* redis+unix:///path[?db=N], redis://host:port[?db=N], rediss://…, http+unix:///socket:/prefix,
	                              http://…, https://…, s3://bucket/prefix, dir:///path; no user or password */
	const char *user;          /* or NULL */
	const char *password_file; /* engine_open() reads its first line; only the user may have access (0600) */
	const char *token_file;    /* HTTP bearer token; same rules as for a password file */
	const char *ca_file;       /* NULL: certificates of the system */
	const char *certificate;   /* client certificate and key, PEM, or NULL */
	const char *certificate_key;
	const char *prefix;      /* of every name; NULL: "nvrtccache" */
	const char *layout;      /* HTTP: "plain" or "bazel" */
	const char *s3_endpoint; /* NULL: the endpoint of AWS for the region */
	const char *s3_region;   /* `user` is the access key, and `password_file` has the secret key */
	unsigned expire_s;       /* Redis: expiry of values (EX), renewed by each read (GETEX); 0: none */
};

/* Identifies a value. Each kind of engine makes its own form of name from this. */
struct engine_name {
	unsigned format; /* format number in the header of the entries */
	uint8_t key[32];
};

struct engine_error {
	char text[ENGINE_TEXT_MAX]; /* "" if there is nothing to report */
};

struct engine;

/*
 * Opens an engine. Returns 0; -ENOMEM; -EINVAL if an option is wrong, with a text in `ret_error`; -EACCES if others can
 * access a file with a secret.
 */
int engine_open(const struct engine_options *options, struct engine **ret_engine, struct engine_error *ret_error);
void engine_close(struct engine *engine);

/* Returns a description for people: kind, place and prefix, but no secret. Valid until engine_close(). */
const char *engine_says(const struct engine *engine);

/* Fetches, looks for, or stores a value, in at most `limit_ms` milliseconds. */
enum engine_answer engine_get(struct engine *engine, const struct engine_name *name, unsigned limit_ms,
                              void **ret_value, size_t *ret_size, struct engine_error *ret_error);
enum engine_answer engine_has(struct engine *engine, const struct engine_name *name, unsigned limit_ms,
                              struct engine_error *ret_error);
enum engine_answer engine_put(struct engine *engine, const struct engine_name *name, const void *value, size_t size,
                              unsigned limit_ms, struct engine_error *ret_error);

/* Checks whether the engine answers and grants access: when the agent starts, and for a half-open breaker. */
enum engine_answer engine_probe(struct engine *engine, unsigned limit_ms, struct engine_error *ret_error);

#endif
