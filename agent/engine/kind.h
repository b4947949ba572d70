/* SPDX-License-Identifier: MIT */
/*
 * kind: the functions of one kind of engine
 *
 * Purpose: engine.c chooses the kind by the address's scheme and forwards every call to it. A kind keeps its state in a
 * struct that begins with a struct engine. To add a kind, add a file <kind>.c, a line below, a line in engine.c, and
 * its schemes in address.c.
 *
 * The functions are those of engine.h. open() gets a zeroed struct with the members of struct engine set. close() frees
 * what the kind allocated, but not the struct itself; it is also called after open() has failed. An error's text is
 * empty at first, and `ret_error` is never NULL. put() never gets a value that is larger than ENGINE_VALUE_MAX.
 */
#ifndef AGENT_ENGINE_KIND_H
#define AGENT_ENGINE_KIND_H

#include "agent/engine/address.h"
#include "agent/engine/engine.h"

#include <time.h>

struct engine_kind {
	size_t size; /* of the kind's struct */
	int (*open)(struct engine *engine, const struct engine_address *address, struct engine_error *ret_error);
	void (*close)(struct engine *engine);
	enum engine_answer (*get)(struct engine *engine, const struct engine_name *name, unsigned limit_ms,
	                          void **ret_value, size_t *ret_size, struct engine_error *ret_error);
	enum engine_answer (*has)(struct engine *engine, const struct engine_name *name, unsigned limit_ms,
	                          struct engine_error *ret_error);
	enum engine_answer (*put)(struct engine *engine, const struct engine_name *name, const void *value, size_t size,
	                          unsigned limit_ms, struct engine_error *ret_error);
	enum engine_answer (*probe)(struct engine *engine, unsigned limit_ms, struct engine_error *ret_error);
};

struct engine {
	const struct engine_kind *kind;
	const struct engine_options *options;
	const char *prefix; /* that of the options, or "nvrtccache" */
	char says[ENGINE_TEXT_MAX + ENGINE_NAME_MAX];
};

extern const struct engine_kind engine_kind_dir;
extern const struct engine_kind engine_kind_redis;
extern const struct engine_kind engine_kind_http;
extern const struct engine_kind engine_kind_s3;

/* Sets the description that engine_says() returns. */
__attribute__((format(printf, 2, 3))) void engine_say(struct engine *engine, const char *format, ...);
/* Writes the text of an error. It is truncated if it is too long, and harmful characters become '?'. */
__attribute__((format(printf, 2, 3))) void engine_tell(struct engine_error *error, const char *format, ...);

/* Writes the text of an error in the options. Returns -EINVAL. */
int engine_refuse(struct engine_error *error, const char *words);

/* Returns the time of CLOCK_MONOTONIC that is `limit_ms` milliseconds from now. */
struct timespec engine_deadline(unsigned limit_ms);
/* Returns the milliseconds until the deadline; 0 if it has passed. */
unsigned engine_left_ms(const struct timespec *deadline);

/*
 * The name of a value in each kind of engine
 *
 * Every name contains the version of the naming, the format of the entry and the prefix, so values of old and new
 * formats never have the same name.
 *     Redis     <prefix>:2:<format>:<64 hex>
 *     paths     <prefix>/2-<format>/ab/<62 hex>
 *     digests   BLAKE2b-256 of the Redis name, for engines whose names are digests (bazel's ac/)
 * Errors: none: engine_address_prefix() allows only prefixes that fit.
 */

/* Returns the length of the name. */
size_t engine_name_redis(const char *prefix, const struct engine_name *name, char ret_name[ENGINE_NAME_MAX]);
void engine_name_path(const char *prefix, const struct engine_name *name, char ret_name[ENGINE_NAME_MAX]);
/* Writes ac/<64 hex of the digest>. */
void engine_name_bazel(const char *prefix, const struct engine_name *name, char ret_name[ENGINE_NAME_MAX]);

#endif
