/* SPDX-License-Identifier: MIT */
/*
 * Each engine has one libcurl handle, so that connections are reused. The body of a response is a value only with
 * status 200. Of another body only a few kilobytes are stored, which contain the error code.
 */
#include "agent/engine/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX   4096  /* bytes stored of a response that is not a value */
#define HEAD_MAX    65536 /* bytes of the headers and trailers of a response */
#define PAGE_MAX    65536 /* bytes read of a response that is not a value */
#define CONTINUE_MS 100L  /* how long the client waits for "100 Continue" before it sends a large value */

/* The response of one request. */
struct body {
	CURL *handle;
	char *bytes;
	size_t size, room;
	size_t head;
	bool head_too_large;
	size_t page;
	bool has_enough; /* PAGE_MAX was exceeded, so the transfer was ended: the status is sufficient */
	bool too_large;
	bool no_memory;
};

struct request {
	enum http_method method;
	const void *value; /* of a PUT */
	size_t size;
	unsigned limit_ms;
};

/*
 * Makes room for `more` bytes. Room for the whole Content-Length is allocated at once, which avoids copies of the
 * buffer, unless the announced size is larger than ENGINE_VALUE_MAX.
 */
static bool make_room(struct body *body, size_t more)
{
	curl_off_t announced = -1;
	size_t room = body->room * 2;
	char *bytes;

	if (body->size + more < body->room) {
		return true;
	}
	(void)curl_easy_getinfo(body->handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
	if (announced > 0 && announced <= ENGINE_VALUE_MAX && room < (size_t)announced + 1) {
		room = (size_t)announced + 1;
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
	long status = 0;
	curl_off_t announced = -1;

	(void)curl_easy_getinfo(body->handle, CURLINFO_RESPONSE_CODE, &status);
	(void)curl_easy_getinfo(body->handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
	if (status != 200) {
		size_t wanted = size < WORDS_MAX - body->size ? size : WORDS_MAX - body->size;

		if (wanted > 0 && make_room(body, wanted)) {
			memcpy(body->bytes + body->size, bytes, wanted);
			body->size += wanted;
		}
		body->page += size;
		body->has_enough = body->page > PAGE_MAX;
		return body->has_enough ? 0 : size;
	}
	if (announced > ENGINE_VALUE_MAX || size > ENGINE_VALUE_MAX - body->size) {
		body->too_large = true;
		return 0;
	}
	if (!make_room(body, size)) {
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

	if (transport->token != NULL) {
		curl_easy_setopt(http->handle, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
		curl_easy_setopt(http->handle, CURLOPT_XOAUTH2_BEARER, transport->token);
	} else if (transport->password != NULL) {
		curl_easy_setopt(http->handle, CURLOPT_USERNAME, transport->user != NULL ? transport->user : "");
		curl_easy_setopt(http->handle, CURLOPT_PASSWORD, transport->password);
		curl_easy_setopt(http->handle, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
	}
#if LIBCURL_VERSION_NUM >= 0x074b00
	if (http->signature != NULL) {
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

/* The dialect depends on the options, because servers do not identify themselves reliably. */
static enum http_dialect dialect_of(const struct engine_http *http)
{
	return http->signature != NULL ? HTTP_S3 : http->bazel ? HTTP_BAZEL : HTTP_PLAIN;
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
	answer = http_status_answer(status, request->method, dialect_of(http), &words);
	if (answer == ENGINE_DONE || answer == ENGINE_ABSENT) {
		return answer;
	}
	if (http->signature != NULL) {
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
	if (body->too_large) {
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
	if (code != CURLE_OK && !body->has_enough) {
		return transport_tell(&http->transport, http->handle, code, error);
	}
	return tell_status(http, request, body, error);
}

/* Names need no escaping, because they contain only unreserved characters of URLs. */
static char *url_of(const struct engine_http *http, const struct engine_name *name)
{
	char place[ENGINE_NAME_MAX];
	char *url;

	if (http->bazel) {
		engine_name_bazel(http->prefix, name, place);
	} else {
		engine_name_path(http->prefix, name, place);
	}
	return asprintf(&url, "%s/%s", http->base, place) < 0 ? NULL : url;
}

/* Sends a request. The caller frees the received body after every answer. */
static enum engine_answer send_request(struct engine_http *http, const struct engine_name *name,
                                       const struct request *request, struct body *ret_body, struct engine_error *error)
{
	struct timespec deadline = engine_deadline(request->limit_ms);
	char *url = url_of(http, name);
	enum engine_answer answer = ENGINE_BROKEN;
	CURLcode code;

	*ret_body = (struct body){.handle = http->handle};
	if (url != NULL) {
		prepare_handle(http, request, ret_body);
		curl_easy_setopt(http->handle, CURLOPT_URL, url);
		transport_limit(http->handle, &deadline);
		code = curl_easy_perform(http->handle);
		answer = judge_status(http, request, ret_body, code, error);
		free(url);
	}
	return answer;
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
	free(http->prefix);
	free(http->base);
	free(http->signature);
}

/* The port is always written, so that each address has a single form. */
int http_base(const struct engine_address *address, const char *bucket, char **ret_base)
{
	const char *slash = bucket != NULL ? "/" : "";

	bucket = bucket != NULL ? bucket : "";
	if (address->socket[0] != '\0') {
		return asprintf(ret_base, "http://localhost%s%s%s", address->path, slash, bucket) < 0 ? -1 : 0;
	}
	return asprintf(ret_base, "%s://%s:%u%s%s%s", address->tls ? "https" : "http", address->host, address->port,
	                address->path, slash, bucket) < 0
	           ? -1
	           : 0;
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

int http_new(const struct engine_kind *kind, const struct engine_options *options, const char *header,
             struct engine_http **ret_http, struct engine_error *ret_error)
{
	struct engine_http *http = (struct engine_http *)engine_new(kind, sizeof(*http));
	int error = http != NULL ? transport_open(options, &http->transport, ret_error) : -ENOMEM;

	if (error != 0) {
		free(http);
		return error;
	}
	http->handle = curl_easy_init();
	http->prefix = strdup(engine_prefix(options));
	if (http->handle == NULL || http->prefix == NULL || !make_headers(http, header)) {
		http_close(&http->engine);
		free(http);
		return -ENOMEM;
	}
	*ret_http = http;
	return 0;
}

/* Returns -EINVAL with a text if an option is wrong or two options conflict. */
static int judge_options(const struct engine_options *options, struct engine_error *error)
{
	if (options->layout != NULL && strcmp(options->layout, "plain") != 0 && strcmp(options->layout, "bazel") != 0) {
		engine_tell(error, "--layout: it takes plain or bazel");
		return -EINVAL;
	}
	if (options->token_file != NULL && options->password_file != NULL) {
		engine_tell(error, "--password-file and --token-file exclude each other");
		return -EINVAL;
	}
	if (options->user != NULL && options->password_file == NULL) {
		engine_tell(error, "--user: requires --password-file");
		return -EINVAL;
	}
	return 0;
}

static int http_open(const struct engine_options *options, struct engine **ret_engine, struct engine_error *ret_error)
{
	struct engine_http *http = NULL;
	int error = judge_options(options, ret_error);

	if (error == 0) {
		error = http_new(&engine_kind_http, options, NULL, &http, ret_error);
	}
	if (error != 0) {
		return error;
	}
	if (http_base(&http->transport.address, NULL, &http->base) != 0) {
		http->base = NULL;
		http_close(&http->engine);
		free(http);
		return -ENOMEM;
	}
	http->bazel = options->layout != NULL && strcmp(options->layout, "bazel") == 0;
	if (http->transport.address.socket[0] != '\0') {
		engine_say(&http->engine, "HTTP at unix:%s, %s/, %s layout, prefix %s", http->transport.address.socket,
		           http->transport.address.path, http->bazel ? "bazel" : "plain", http->prefix);
	} else {
		engine_say(&http->engine, "HTTP at %s/, %s layout, prefix %s", http->base,
		           http->bazel ? "bazel" : "plain", http->prefix);
	}
	*ret_engine = &http->engine;
	return 0;
}

static const char *const schemes[] = {"http://", "https://", "http+unix://", NULL};

const struct engine_kind engine_kind_http = {
    .schemes = schemes,
    .open = http_open,
    .close = http_close,
    .get = http_get,
    .has = http_has,
    .put = http_put,
    .probe = http_probe,
};
