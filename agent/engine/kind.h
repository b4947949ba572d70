/* SPDX-License-Identifier: MIT */
/*
 * kind: what each kind of engine implements, and what all kinds share: libcurl with TLS and limits, names, error texts
 *
 * A kind keeps its state in a struct that begins with a struct engine. engine.c fills in that part and calls open(),
 * which gets the rest zeroed. ask() is that of engine.h; the error is empty at first, and no value to put has more than
 * ENGINE_VALUE_MAX bytes. To add a kind: a file with a struct engine_kind, a line here and in engine.c, and
 * its schemes in address.c.
 *
 * Redis uses libcurl too, so that one library resolves names, connects and checks certificates, within one time limit.
 * Certificates are always checked. Proxies of the environment (http_proxy) are used only for HTTP over a network.
 */
#ifndef AGENT_ENGINE_KIND_H
#define AGENT_ENGINE_KIND_H

#include "agent/engine/address.h"
#include "agent/engine/engine.h"

#include <curl/curl.h>
#include <stdbool.h>

struct engine_kind {
	size_t size;                        /* of the kind's struct */
	int (*open)(struct engine *engine); /* does not connect; or NULL */
	enum engine_answer (*ask)(struct engine *engine, struct engine_request *request);
};

struct engine {
	const struct engine_kind *kind;
	const struct engine_options *options;
	struct engine_address address;
	char *password;              /* NULL: none */
	int64_t deadline_ns;         /* of the call in progress, by call_clock_straight() */
	struct engine_error *error;  /* of the call in progress, for engine_tell() and engine_refuse() */
	char words[CURL_ERROR_SIZE]; /* libcurl's text about the last call */
};

extern const struct engine_kind engine_kind_redis;
extern const struct engine_kind engine_kind_http; /* also S3 */

/*
 * Writes an error text that begins with the engine's place, such as "unix:/socket: ", and contains no secret. Returns
 * the answer.
 */
__attribute__((format(printf, 3, 4))) enum engine_answer
engine_tell(const struct engine *engine, enum engine_answer answer, const char *format, ...);
/* Writes the text of an error of engine_open(), such as a wrong option. Returns -EINVAL. */
int engine_refuse(const struct engine *engine, const char *words);

/* Returns the milliseconds until the deadline; 0 if it has passed. */
unsigned engine_left_ms(const struct engine *engine);

/* Sets the options of a libcurl handle that do not depend on the request. */
void engine_prepare(struct engine *engine, CURL *handle);
/* Returns the answer for a code of libcurl other than CURLE_OK, and writes an error text. */
enum engine_answer engine_failed(const struct engine *engine, CURL *handle, CURLcode code);

/* Everything that changes the meaning of a value is part of its name, so nodes of different versions never meet. */
#define ENGINE_NAMING 3

/*
 * The name of a value: version of the naming, format of the entry, prefix and key
 *     Redis     <prefix>:3:<format>:<64 hex>
 *     paths     <prefix>/3-<format>/ab/<62 hex>
 *     digests   ac/ and BLAKE2b-256 of the Redis name, for bazel-remote
 */
size_t engine_name_redis(const char *prefix, const uint8_t key[ENTRY_KEY_BYTES], char ret_name[ENGINE_NAME_MAX]);

#endif
