/* SPDX-License-Identifier: MIT */
/*
 * Each engine has one libcurl handle, so that connections are reused. The body of a response is a value only with
 * status 200. Another body is read only up to a limit; it may contain an error code.
 */
#include "agent/engine/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_MAX    65536 /* bytes of the headers and trailers of a response */
#define PAGE_MAX    65536 /* bytes read of a response that is not a value */
#define CONTINUE_MS 100L  /* how long the client waits for "100 Continue" before it sends a large value */

/* The response of one request. */
struct body {
	CURL *handle;
	char *bytes;
	size_t size, room;
	size_t head;
	long status;
	bool head_too_large;
	bool
	    is_cut; /* the body is too large, so the transfer was ended; except for a value, the status is sufficient */
	bool no_memory;
};

struct request {
	enum http_method method;
	const void *value; /* of a PUT */
	size_t size;
	unsigned limit_ms;
};

/* Makes room for `more` bytes, and one more, so that an empty body has a buffer too. */
static bool make_room(struct body *body, size_t more)
{
	size_t room = body->room * 2;
	char *bytes;

	if (body->size + more < body->room) {
		return true;
	}
	if (room < body->size + more + 1) {
		room = body->size + more + 1;
	}
	bytes = realloc(body->bytes, room);
	if (bytes == NULL) {
		body->no_memory = true;
		return false;
	}
	body->bytes = bytes;
	body->room = room;
	return true;
}

/*
 * Callback of libcurl for header lines. Returning less than the size ends the transfer. The headers are limited here,
 * because libcurl stores all lines and not every version has a limit.
 */
static size_t take_head(char *bytes, size_t one, size_t count, void *context)
{
	struct body *body = context;

	(void)bytes;
	body->head += one * count;
	body->head_too_large = body->head > HEAD_MAX;
	return body->head_too_large ? 0 : one * count;
}

/* Callback of libcurl for the body. Returning less than the size ends the transfer. */
static size_t take_body(char *bytes, size_t one, size_t count, void *context)
{
	struct body *body = context;
	size_t size = one * count;
	size_t most;
	curl_off_t announced = -1;

	(void)curl_easy_getinfo(body->handle, CURLINFO_RESPONSE_CODE, &body->status);
	(void)curl_easy_getinfo(body->handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
	most = body->status == 200 ? ENGINE_VALUE_MAX : PAGE_MAX;
	body->is_cut = size > most - body->size || (body->status == 200 && announced > ENGINE_VALUE_MAX);
	if (body->is_cut || !make_room(body, size)) {
		return 0;
	}
	memcpy(body->bytes + body->size, bytes, size);
	body->size += size;
	return size;
}

/* A token file takes precedence over user and password. */
static void prove_who_we_are(const struct engine_http *http)
{
	const struct transport *transport = &http->transport;
	const char *user = transport->options->user;

	if (transport->token != NULL) {
		curl_easy_setopt(http->handle, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
		curl_easy_setopt(http->handle, CURLOPT_XOAUTH2_BEARER, transport->token);
	} else if (transport->password != NULL) {
		curl_easy_setopt(http->handle, CURLOPT_USERNAME, user != NULL ? user : "");
		curl_easy_setopt(http->handle, CURLOPT_PASSWORD, transport->password);
		curl_easy_setopt(http->handle, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
	}
#if LIBCURL_VERSION_NUM >= 0x074b00
	if (http->dialect == HTTP_S3) {
		curl_easy_setopt(http->handle, CURLOPT_AWS_SIGV4, http->signature);
	}
#endif
}

/* Sets every option for each request, so that no option of the previous request remains. */
static void prepare_handle(struct engine_http *http, const struct request *request, struct body *body)
{
	CURL *handle = http->handle;

	curl_easy_reset(handle); /* does not close connections */
	transport_handle(&http->transport, handle);
	prove_who_we_are(http);
	curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(handle, CURLOPT_USERAGENT, "nvrtccache-agent");
	curl_easy_setopt(handle, CURLOPT_HTTPHEADER, http->headers);
	curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_head);
	curl_easy_setopt(handle, CURLOPT_HEADERDATA, body);
	curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(handle, CURLOPT_WRITEDATA, body);
	switch (request->method) {
	case HTTP_HEAD:
		curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
		break;
	case HTTP_PUT:
		/* POSTFIELDS and not a read callback, so that libcurl can send the value again without rewinding */
		curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->size);
		curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request->size > 0 ? request->value : "");
		curl_easy_setopt(handle, CURLOPT_EXPECT_100_TIMEOUT_MS, CONTINUE_MS);
		curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, "PUT");
		curl_easy_setopt(handle, CURLOPT_HTTPHEADER, http->put_headers);
		break;
	default:
		curl_easy_setopt(handle, CURLOPT_HTTPGET, 1L);
		break;
	}
}

/* The error page is not part of the message, because it is HTML or repeats the request. */
static enum engine_answer tell_status(const struct engine_http *http, const struct request *request,
                                      const struct body *body, struct engine_error *error)
{
	static const char *const methods[] = {[HTTP_GET] = "GET", [HTTP_HEAD] = "HEAD", [HTTP_PUT] = "PUT"};
	const char *words;
	char code[48] = "";
	long status = 0;
	enum engine_answer answer;

	(void)curl_easy_getinfo(http->handle, CURLINFO_RESPONSE_CODE, &status);
	answer = http_status_answer(status, request->method, http->dialect, &words);
	if (answer == ENGINE_DONE || answer == ENGINE_ABSENT) {
		return answer;
	}
	if (http->dialect == HTTP_S3) {
		http_status_code_of_s3(body->bytes, body->size, code);
	}
	transport_words(&http->transport, error, "%ld to %s%s%s%s%s%s", status, methods[request->method],
	                code[0] != '\0' ? " (" : "", code, code[0] != '\0' ? ")" : "", words != NULL ? ": " : "",
	                words != NULL ? words : "");
	return answer;
}

/*
 * Returns the answer after the transfer has ended. The reasons for which our callbacks end a transfer are checked
 * first, because libcurl reports all of them as a failed write.
 */
static enum engine_answer judge_status(const struct engine_http *http, const struct request *request,
                                       const struct body *body, CURLcode code, struct engine_error *error)
{
	if (body->is_cut && body->status == 200) {
		transport_words(&http->transport, error, "the value has more than %u bytes", ENGINE_VALUE_MAX);
		return ENGINE_TOO_LARGE;
	}
	if (body->head_too_large) {
		transport_words(&http->transport, error, "the headers of the response are too long");
		return ENGINE_BROKEN;
	}
	if (body->no_memory) {
		transport_words(&http->transport, error, "out of memory");
		return ENGINE_BROKEN;
	}
	if (code != CURLE_OK && !body->is_cut) {
		return transport_tell(&http->transport, http->handle, code, error);
	}
	return tell_status(http, request, body, error);
}

/*
 * Sends a request. Names need no escaping, because they contain only unreserved characters of URLs. The caller frees
 * the received body after every answer.
 */
static enum engine_answer send_request(struct engine_http *http, const struct engine_name *name,
                                       const struct request *request, struct body *ret_body, struct engine_error *error)
{
	struct timespec deadline = engine_deadline(request->limit_ms);
	char place[ENGINE_NAME_MAX];
	char url[HTTP_BASE_MAX + ENGINE_NAME_MAX];

	if (http->dialect == HTTP_BAZEL) {
		engine_name_bazel(http->engine.prefix, name, place);
	} else {
		engine_name_path(http->engine.prefix, name, place);
	}
	(void)snprintf(url, sizeof(url), "%s/%s", http->base, place);
	*ret_body = (struct body){.handle = http->handle};
	prepare_handle(http, request, ret_body);
	curl_easy_setopt(http->handle, CURLOPT_URL, url);
	transport_limit(http->handle, &deadline);
	return judge_status(http, request, ret_body, curl_easy_perform(http->handle), error);
}

/* An empty body is a valid value, so that `ret_value` is never NULL on success. */
enum engine_answer http_get(struct engine *engine, const struct engine_name *name, unsigned limit_ms, void **ret_value,
                            size_t *ret_size, struct engine_error *ret_error)
{
	const struct request request = {.method = HTTP_GET, .limit_ms = limit_ms};
	struct body body;
	enum engine_answer answer = send_request((struct engine_http *)engine, name, &request, &body, ret_error);

	if (answer == ENGINE_DONE && body.bytes == NULL && !make_room(&body, 0)) {
		answer = ENGINE_BROKEN;
	}
	if (answer != ENGINE_DONE) {
		free(body.bytes);
		return answer;
	}
	*ret_value = body.bytes;
	*ret_size = body.size;
	return ENGINE_DONE;
}

enum engine_answer http_has(struct engine *engine, const struct engine_name *name, unsigned limit_ms,
                            struct engine_error *ret_error)
{
	const struct request request = {.method = HTTP_HEAD, .limit_ms = limit_ms};
	struct body body;
	enum engine_answer answer = send_request((struct engine_http *)engine, name, &request, &body, ret_error);

	free(body.bytes);
	return answer;
}

enum engine_answer http_put(struct engine *engine, const struct engine_name *name, const void *value, size_t size,
                            unsigned limit_ms, struct engine_error *ret_error)
{
	const struct request request = {.method = HTTP_PUT, .value = value, .size = size, .limit_ms = limit_ms};
	struct body body;
	enum engine_answer answer = send_request((struct engine_http *)engine, name, &request, &body, ret_error);

	free(body.bytes);
	return answer;
}

/* Status 404 shows that the server works, so ENGINE_ABSENT becomes ENGINE_DONE. */
enum engine_answer http_probe(struct engine *engine, unsigned limit_ms, struct engine_error *ret_error)
{
	const struct engine_name nobody = {.format = 0};
	enum engine_answer answer = http_has(engine, &nobody, limit_ms, ret_error);

	return answer == ENGINE_ABSENT ? ENGINE_DONE : answer;
}

/* The handle is freed before the header lists, because libcurl does not copy them. */
void http_close(struct engine *engine)
{
	struct engine_http *http = (struct engine_http *)engine;

	curl_easy_cleanup(http->handle);
	curl_slist_free_all(http->headers);
	curl_slist_free_all(http->put_headers);
	transport_close(&http->transport);
}

/* The port is always written, so that each address has a single form. */
size_t http_base(const struct engine_address *address, char ret_base[HTTP_BASE_MAX])
{
	if (address->socket[0] != '\0') {
		return (size_t)snprintf(ret_base, HTTP_BASE_MAX, "http://localhost%s", address->path);
	}
	return (size_t)snprintf(ret_base, HTTP_BASE_MAX, "%s://%s:%u%s", address->tls ? "https" : "http", address->host,
	                        address->port, address->path);
}

static bool add_header(struct curl_slist **headers, const char *header)
{
	struct curl_slist *longer = curl_slist_append(*headers, header);

	*headers = longer != NULL ? longer : *headers;
	return longer != NULL;
}

/*
 * A PUT has a content type, because libcurl would otherwise send that of a form. "Expect" is not removed, because
 * libcurl's S3 signature would still cover it.
 */
static bool make_headers(struct engine_http *http, const char *header)
{
	return (header == NULL || (add_header(&http->headers, header) && add_header(&http->put_headers, header))) &&
	       add_header(&http->put_headers, "Content-Type: application/octet-stream");
}

int http_begin(struct engine_http *http, const struct engine_address *address, const char *header,
               struct engine_error *ret_error)
{
	int error = transport_open(&http->engine, address, &http->transport, ret_error);

	http->handle = curl_easy_init();
	return error != 0 ? error : http->handle != NULL && make_headers(http, header) ? 0 : -ENOMEM;
}

/* Returns -EINVAL with a text if an option is wrong or two options conflict. */
static int judge_options(const struct engine_options *options, struct engine_error *error)
{
	if (options->layout != NULL && strcmp(options->layout, "plain") != 0 && strcmp(options->layout, "bazel") != 0) {
		return engine_refuse(error, "--layout: it takes plain or bazel");
	}
	if (options->token_file != NULL && options->password_file != NULL) {
		return engine_refuse(error, "--password-file and --token-file exclude each other");
	}
	return 0;
}

static int http_open(struct engine *engine, const struct engine_address *address, struct engine_error *ret_error)
{
	struct engine_http *http = (struct engine_http *)engine;
	const char *layout = engine->options->layout != NULL ? engine->options->layout : "plain";
	int error = judge_options(engine->options, ret_error);

	if (error == 0) {
		error = http_begin(http, address, NULL, ret_error);
	}
	http->dialect = strcmp(layout, "bazel") == 0 ? HTTP_BAZEL : HTTP_PLAIN;
	(void)http_base(address, http->base);
	if (address->socket[0] != '\0') {
		engine_say(engine, "HTTP at unix:%s, %s/, %s layout, prefix %s", address->socket, address->path, layout,
		           engine->prefix);
	} else {
		engine_say(engine, "HTTP at %s/, %s layout, prefix %s", http->base, layout, engine->prefix);
	}
	return error;
}

const struct engine_kind engine_kind_http = {
    .size = sizeof(struct engine_http),
    .open = http_open,
    .close = http_close,
    .get = http_get,
    .has = http_has,
    .put = http_put,
    .probe = http_probe,
};
