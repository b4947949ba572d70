/* SPDX-License-Identifier: MIT */
/*
 * http: values as files of an HTTP server: GET, HEAD, PUT
 *
 * HTTP and S3 send the same requests to different URLs. Redirects are never followed: each question would take twice as
 * long, and could lead anywhere; the error says so. libcurl asks once more if the server has closed a kept connection.
 *
 * Calling sequence: http_new(), then the kind's own fields, then the functions of an engine_kind.
 * Errors, threads, ownership: as in kind.h.
 */
#ifndef AGENT_ENGINE_HTTP_H
#define AGENT_ENGINE_HTTP_H

#include "agent/engine/engine.h"
#include "agent/engine/kind.h"
#include "agent/engine/transport.h"

#include <stdbool.h>

struct engine_http {
	struct engine engine;
	struct transport transport;
	CURL *handle;
	struct curl_slist *headers;     /* of every request */
	struct curl_slist *put_headers; /* of a PUT: these, and more */
	char *prefix;
	char *base;      /* "https://host:port/path", no '/' at its end */
	bool bazel;      /* names as Bazel's ac/ */
	char *signature; /* CURLOPT_AWS_SIGV4's, or NULL: Basic, Bearer or nothing */
};

/* `header`: of every request, or NULL. On failure nothing is left; words are in `ret_error` where it is not memory. */
int http_new(const struct engine_kind *kind, const struct engine_options *options, const char *header,
             struct engine_http **ret_http, struct engine_error *ret_error);
/* "https://host:port/path" of an HTTP address; behind a socket the host is a mere name. -1: no memory */
int http_base(const struct engine_address *address, const char *bucket, char **ret_base);

void http_close(struct engine *engine);
enum engine_answer http_get(struct engine *engine, const struct engine_name *name, unsigned limit_ms, void **ret_value,
                            size_t *ret_size, struct engine_error *ret_error);
enum engine_answer http_has(struct engine *engine, const struct engine_name *name, unsigned limit_ms,
                            struct engine_error *ret_error);
enum engine_answer http_put(struct engine *engine, const struct engine_name *name, const void *value, size_t size,
                            unsigned limit_ms, struct engine_error *ret_error);
enum engine_answer http_probe(struct engine *engine, unsigned limit_ms, struct engine_error *ret_error);

/*
 * http_status: what a status of HTTP comes to
 *
 * Threads: no state.
 */

enum http_method {
	HTTP_GET,
	HTTP_HEAD,
	HTTP_PUT,
};

/* The dialect tells what a status means where the number alone does not. */
enum http_dialect {
	HTTP_PLAIN,
	HTTP_BAZEL,
	HTTP_S3,
};

/* `ret_words`: what would be right, or NULL: the number says enough. */
enum engine_answer http_status_answer(long status, enum http_method method, enum http_dialect dialect,
                                      const char **ret_words);

/* <Code>...</Code> of what S3 says about an error: letters alone, else "". */
void http_status_code_of_s3(const char *body, size_t size, char ret_code[48]);

#endif
