/* SPDX-License-Identifier: MIT */
/*
 * http: stores values as files on an HTTP server, with GET, HEAD and PUT
 *
 * HTTP and S3 send the same requests to different URLs. Redirects are not followed, because each request would take
 * twice as long and could lead to any host; the error text says so. libcurl sends a request again if the server has
 * closed an idle connection.
 *
 * Calling sequence: http_begin(), then set the fields that depend on the kind, then the functions of an engine_kind.
 * Errors, threads, ownership: as in kind.h.
 */
#ifndef AGENT_ENGINE_HTTP_H
#define AGENT_ENGINE_HTTP_H

#include "agent/engine/engine.h"
#include "agent/engine/kind.h"
#include "agent/engine/transport.h"

#include <stdbool.h>

/* The kind of server, on which the meaning of some status codes depends. */
enum http_dialect {
	HTTP_PLAIN,
	HTTP_BAZEL, /* names have the form of Bazel's ac/ */
	HTTP_S3,    /* requests are signed */
};

#define HTTP_BASE_MAX 1024 /* a host, the path of an endpoint, a bucket and a path */

struct engine_http {
	struct engine engine;
	struct transport transport;
	CURL *handle;
	struct curl_slist *headers;     /* of GET and HEAD */
	struct curl_slist *put_headers; /* of PUT: the same headers and more */
	enum http_dialect dialect;
	char base[HTTP_BASE_MAX]; /* "https://host:port/path", without '/' at the end */
	char signature[96];       /* HTTP_S3: value of CURLOPT_AWS_SIGV4 */
};

/* Opens the transport and the handle. `header` is added to every request; NULL: none. Errors: as engine_open(). */
int http_begin(struct engine_http *http, const struct engine_address *address, const char *header,
               struct engine_error *ret_error);
/* Writes "https://host:port/path" for an HTTP address, and returns its length. The host of a socket is "localhost". */
size_t http_base(const struct engine_address *address, char ret_base[HTTP_BASE_MAX]);

void http_close(struct engine *engine);
enum engine_answer http_get(struct engine *engine, const struct engine_name *name, unsigned limit_ms, void **ret_value,
                            size_t *ret_size, struct engine_error *ret_error);
enum engine_answer http_has(struct engine *engine, const struct engine_name *name, unsigned limit_ms,
                            struct engine_error *ret_error);
enum engine_answer http_put(struct engine *engine, const struct engine_name *name, const void *value, size_t size,
                            unsigned limit_ms, struct engine_error *ret_error);
enum engine_answer http_probe(struct engine *engine, unsigned limit_ms, struct engine_error *ret_error);

/*
 * http_status: maps HTTP status codes to answers
 *
 * Threads: no state.
 */

enum http_method {
	HTTP_GET,
	HTTP_HEAD,
	HTTP_PUT,
};

/* Returns the answer for a status. *ret_words is constant advice for the operator, or NULL if there is none. */
enum engine_answer http_status_answer(long status, enum http_method method, enum http_dialect dialect,
                                      const char **ret_words);

/* Copies the text of <Code>...</Code> from an error response of S3; "" if it is not only letters. */
void http_status_code_of_s3(const char *body, size_t size, char ret_code[48]);

#endif
