/* SPDX-License-Identifier: MIT */
/*
 * kind: what each kind of engine implements, and what all kinds share: libcurl with TLS and limits, names, error texts
 *
 * engine.c fills in the first part of a struct engine; the rest is zeroed. ask() is that of engine.h; the error is
 * empty at first, and no value to put has more than ENGINE_VALUE_MAX bytes. To add a kind: a file with its ask(), lines
 * here and in engine_open(), and its schemes in address.c.
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

#define ENGINE_BASE_MAX 1024 /* a host, the path of an endpoint, a bucket and a path */

/* The kind of HTTP server, on which the meaning of some status codes depends. */
enum engine_dialect { ENGINE_PLAIN = 1, ENGINE_BAZEL = 2, ENGINE_S3 = 4 };

struct engine {
	enum engine_answer (*ask)(struct engine *engine, struct engine_request *request);
	const struct engine_options *options;
	struct engine_address address;
	char *password;              /* NULL: none */
	int64_t deadline_ns;         /* of the call in progress, by call_clock_straight() */
	struct engine_error *error;  /* of the call in progress, for engine_tell() */
	char words[CURL_ERROR_SIZE]; /* libcurl's text about the last call */
	CURL *handle;                /* Redis: NULL: no connection */
	curl_socket_t socket;        /* Redis */
	/* HTTP and S3 */
	enum engine_dialect dialect;
	char base[ENGINE_BASE_MAX]; /* "https://host:port/path", without '/' at the end */
	char signature[96];         /* S3: value of CURLOPT_AWS_SIGV4 */
};

enum engine_answer engine_redis_ask(struct engine *engine, struct engine_request *request);
enum engine_answer engine_http_ask(struct engine *engine, struct engine_request *request);
/* Checks the options of HTTP and S3, and does not connect. Returns 0, or -EINVAL with a text. */
int engine_http_open(struct engine *engine);

/*
 * Writes an error text that begins with the engine's place, such as "unix:/socket: ", and contains no secret. Returns
 * the answer.
 */
__attribute__((format(printf, 3, 4))) enum engine_answer
engine_tell(const struct engine *engine, enum engine_answer answer, const char *format, ...);
/* Writes the text of an error of engine_open(), such as a wrong option. Returns -EINVAL. */
int engine_refuse(struct engine_error *error, const char *words);

/* Returns the milliseconds until the deadline; 0 if it has passed. */
unsigned engine_left_ms(const struct engine *engine);

/* Sets the options of the handle that do not depend on the request. */
void engine_prepare(struct engine *engine);
/* Returns the answer for a code of libcurl other than CURLE_OK, and writes an error text. */
enum engine_answer engine_failed(const struct engine *engine, CURLcode code);

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
