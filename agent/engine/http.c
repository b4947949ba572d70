/* SPDX-License-Identifier: MIT */
/*
 * http: an HTTP server, or S3, as the engine, with GET and PUT
 *
 * HTTP and S3 send the same requests to different URLs; those to S3 are signed by libcurl (SigV4). Each engine has one
 * libcurl handle, so that connections are reused; libcurl repeats a request if the server has closed an idle one.
 * Redirects are not followed, because they could lead to any host. The body of a response is a value only with status
 * 200. Another body is read only up to a limit; it may contain an error code.
 */
#include "agent/engine/http_status.h"
#include "agent/engine/kind.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_MAX    65536 /* bytes of the headers and trailers of a response */
#define PAGE_MAX    65536 /* bytes read of a response that is not a value */
#define BASE_MAX    1024  /* a host, the path of an endpoint, a bucket and a path */
#define CONTINUE_MS 100L  /* how long the client waits for "100 Continue" before it sends a large value */

/*
 * The signature of S3 covers the request but not the bytes, which TLS and the signature in the value protect. S3
 * requires this header or a digest of the bytes, and libcurl 7.88, the first that signs it, sends neither by itself.
 */
#define UNSIGNED "x-amz-content-sha256: UNSIGNED-PAYLOAD"
#define SIGNS    (LIBCURL_VERSION_NUM >= 0x075800)

struct engine_http {
	struct engine engine;
	CURL *handle;
	struct curl_slist *headers;     /* of GET */
	struct curl_slist *put_headers; /* of PUT: the same headers and more */
	enum http_dialect dialect;
	char base[BASE_MAX]; /* "https://host:port/path", without '/' at the end */
	char signature[96];  /* S3: value of CURLOPT_AWS_SIGV4 */
};

struct request {
	enum http_method method;
	const void *value; /* of a PUT */
	size_t size;
	const struct timespec *deadline;
};

enum cut { CUT_NOT, CUT_HEAD, CUT_BODY, CUT_MEMORY };

/* The response to one request. */
struct response {
	CURL *handle;
	char *bytes;
	size_t size, room, head;
	long status;
	enum cut cut; /* why our callbacks ended the transfer */
};

/*
 * Callback of libcurl for header lines. Returning less than the size ends the transfer. The headers are limited here,
 * because libcurl stores all lines and not every version has a limit.
 */
static size_t take_head(char *bytes, size_t one, size_t count, void *context)
{
	struct response *response = context;

	(void)bytes;
	response->head += one * count;
	response->cut = response->head > HEAD_MAX ? CUT_HEAD : response->cut;
	return response->head > HEAD_MAX ? 0 : one * count;
}

/* Makes room for `more` bytes, and one more, so that an empty body has a buffer too. */
static bool make_room(struct response *response, size_t more)
{
	size_t room = 2 * response->room;
	char *bytes;

	if (response->size + more < response->room) {
		return true;
	}
	room = room < response->size + more + 1 ? response->size + more + 1 : room;
	bytes = realloc(response->bytes, room);
	if (bytes == NULL) {
		response->cut = CUT_MEMORY;
		return false;
	}
	response->bytes = bytes;
	response->room = room;
	return true;
}

/* Callback of libcurl for the body. Takes what fits, and ends the transfer if there is more. */
static size_t take_body(char *bytes, size_t one, size_t count, void *context)
{
	struct response *response = context;
	size_t size = one * count;
	size_t room;
	curl_off_t announced = -1;
	bool is_value;

	(void)curl_easy_getinfo(response->handle, CURLINFO_RESPONSE_CODE, &response->status);
	(void)curl_easy_getinfo(response->handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
	is_value = response->status == 200;
	room = (is_value ? ENGINE_VALUE_MAX : PAGE_MAX) - response->size;
	if (size > room || (is_value && announced > ENGINE_VALUE_MAX)) {
		response->cut = CUT_BODY;
		size = size < room ? size : room;
	}
	if (!make_room(response, size)) {
		return 0;
	}
	memcpy(response->bytes + response->size, bytes, size);
	response->size += size;
	return response->cut == CUT_NOT ? size : 0;
}

/* A token file takes precedence over user and password. */
static void prove_identity(const struct engine_http *http)
{
	const struct engine *engine = &http->engine;

	if (engine->token != NULL) {
		curl_easy_setopt(http->handle, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
		curl_easy_setopt(http->handle, CURLOPT_XOAUTH2_BEARER, engine->token);
	} else if (engine->password != NULL) {
		curl_easy_setopt(http->handle, CURLOPT_USERNAME, engine->options->user ? engine->options->user : "");
		curl_easy_setopt(http->handle, CURLOPT_PASSWORD, engine->password);
		curl_easy_setopt(http->handle, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
	}
#if LIBCURL_VERSION_NUM >= 0x074b00
	if (http->dialect == HTTP_S3) {
		curl_easy_setopt(http->handle, CURLOPT_AWS_SIGV4, http->signature);
	}
#endif
}

static void prepare_method(const struct engine_http *http, const struct request *request)
{
	curl_easy_setopt(http->handle, CURLOPT_HTTPHEADER, http->headers);
	if (request->method == HTTP_PUT) {
		/* POSTFIELDS and not a read callback, so that libcurl can send the value again without rewinding */
		curl_easy_setopt(http->handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->size);
		curl_easy_setopt(http->handle, CURLOPT_POSTFIELDS, request->size > 0 ? request->value : "");
		curl_easy_setopt(http->handle, CURLOPT_EXPECT_100_TIMEOUT_MS, CONTINUE_MS);
		curl_easy_setopt(http->handle, CURLOPT_CUSTOMREQUEST, "PUT");
		curl_easy_setopt(http->handle, CURLOPT_HTTPHEADER, http->put_headers);
	}
}

/* Sets every option for each request, so that no option of the previous request remains. */
static void prepare_handle(struct engine_http *http, const struct request *request, struct response *response)
{
	CURL *handle = http->handle;

	curl_easy_reset(handle); /* does not close connections */
	engine_prepare(&http->engine, handle, request->deadline);
	prove_identity(http);
	curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(handle, CURLOPT_USERAGENT, "nvrtccache-agent");
	curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_head);
	curl_easy_setopt(handle, CURLOPT_HEADERDATA, response);
	curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(handle, CURLOPT_WRITEDATA, response);
	prepare_method(http, request);
}

/* The error page is not part of the message, because it is HTML or repeats the request. */
static enum engine_answer judge_status(const struct engine_http *http, const struct request *request,
                                       const struct response *response, struct engine_error *error)
{
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
		http_status_code_of_s3(response->bytes, response->size, code);
	}
	engine_tell(&http->engine, error, "%ld to %s%s%s%s%s%s", status, request->method == HTTP_PUT ? "PUT" : "GET",
	            code[0] != '\0' ? " (" : "", code, code[0] != '\0' ? ")" : "", words != NULL ? ": " : "",
	            words != NULL ? words : "");
	return answer;
}

/* The reasons of our callbacks are checked first, because libcurl reports all of them as a failed write. */
static enum engine_answer judge_response(const struct engine_http *http, const struct request *request,
                                         const struct response *response, CURLcode code, struct engine_error *error)
{
	if (response->cut == CUT_HEAD || response->cut == CUT_MEMORY) {
		engine_tell(&http->engine, error, "%s",
		            response->cut == CUT_HEAD ? "the headers of the response are too long" : "out of memory");
		return ENGINE_BROKEN;
	}
	if (response->cut == CUT_BODY && response->status == 200 && request->method == HTTP_GET) {
		engine_tell(&http->engine, error, "the value has more than %u bytes", ENGINE_VALUE_MAX);
		return ENGINE_TOO_LARGE;
	}
	if (code != CURLE_OK && response->cut == CUT_NOT) {
		return engine_failed(&http->engine, http->handle, code, error);
	}
	return judge_status(http, request, response, error);
}

/* Names need no escaping, because they contain only unreserved characters of URLs. The caller frees the body. */
static enum engine_answer send_request(struct engine *engine, const struct engine_name *name,
                                       const struct request *request, struct response *ret_response,
                                       struct engine_error *error)
{
	struct engine_http *http = (struct engine_http *)engine;
	char place[ENGINE_NAME_MAX];
	char url[BASE_MAX + ENGINE_NAME_MAX];

	if (http->dialect == HTTP_BAZEL) {
		engine_name_bazel(engine->prefix, name, place);
	} else {
		engine_name_path(engine->prefix, name, place);
	}
	(void)snprintf(url, sizeof(url), "%s/%s", http->base, place);
	*ret_response = (struct response){.handle = http->handle};
	prepare_handle(http, request, ret_response);
	curl_easy_setopt(http->handle, CURLOPT_URL, url);
	return judge_response(http, request, ret_response, curl_easy_perform(http->handle), error);
}

/* An empty body is a valid value, so that `ret_value` is never NULL on success. */
static enum engine_answer http_get(struct engine *engine, const struct engine_name *name,
                                   const struct timespec *deadline, void **ret_value, size_t *ret_size,
                                   struct engine_error *error)
{
	const struct request request = {HTTP_GET, NULL, 0, deadline};
	struct response response;
	enum engine_answer answer = send_request(engine, name, &request, &response, error);

	if (answer == ENGINE_DONE && !make_room(&response, 0)) {
		answer = ENGINE_BROKEN;
	}
	if (answer != ENGINE_DONE) {
		free(response.bytes);
		return answer;
	}
	*ret_value = response.bytes;
	*ret_size = response.size;
	return ENGINE_DONE;
}

static enum engine_answer http_put(struct engine *engine, const struct engine_name *name, const void *value,
                                   size_t size, const struct timespec *deadline, struct engine_error *error)
{
	const struct request request = {HTTP_PUT, value, size, deadline};
	struct response response;
	enum engine_answer answer = send_request(engine, name, &request, &response, error);

	free(response.bytes);
	return answer;
}

/* The handle is freed before the header lists, because libcurl does not copy them. */
static void http_close(struct engine *engine)
{
	struct engine_http *http = (struct engine_http *)engine;

	curl_easy_cleanup(http->handle);
	curl_slist_free_all(http->headers);
	curl_slist_free_all(http->put_headers);
}

/* ---- opening */

/* Writes "https://host:port/path". The port is always written, so that each address has a single form. */
static size_t write_base(const struct engine_address *address, char ret_base[BASE_MAX])
{
	if (address->socket[0] != '\0') {
		return (size_t)snprintf(ret_base, BASE_MAX, "http://localhost%s", address->path);
	}
	return (size_t)snprintf(ret_base, BASE_MAX, "%s://%s:%u%s", address->tls ? "https" : "http", address->host,
	                        address->port, address->path);
}

/* The characters are limited, because the region becomes part of a host name. */
static bool is_region(const char *text)
{
	return text[0] != '\0' && strlen(text) < 64 &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == strlen(text);
}

/* Writes <endpoint>/<bucket><path>. The address of the endpoint replaces that of the engine. */
static int use_endpoint(struct engine_http *http, const char *endpoint, struct engine_error *error)
{
	const struct engine_address bucket = http->engine.address;
	const char *words;
	size_t length;

	if (strncmp(endpoint, "http", 4) != 0 || engine_address_parse(endpoint, &http->engine.address, &words) != 0) {
		return engine_refuse(
		    error, "--s3-endpoint: it takes https://host[:port], http://host[:port] or http+unix:///socket");
	}
	length = write_base(&http->engine.address, http->base);
	(void)snprintf(http->base + length, BASE_MAX - length, "/%s%s", bucket.host, bucket.path);
	return 0;
}

/*
 * The bucket is part of AWS's host name. A bucket with a dot in its name is put into the path, because the certificate
 * of AWS does not match such a host name.
 */
static int open_s3(struct engine_http *http, struct engine_error *error)
{
	const struct engine_options *options = http->engine.options;
	const struct engine_address bucket = http->engine.address;
	const char *region = options->s3_region != NULL ? options->s3_region : "us-east-1";
	bool is_in_path = strchr(bucket.host, '.') != NULL;

	if (!SIGNS) {
		return engine_refuse(error,
		                     "s3:// needs libcurl 7.88 or later; this program was built with an older one");
	}
	if (options->user == NULL || options->password_file == NULL) {
		return engine_refuse(error,
		                     "s3:// requires an access key and a secret key: --user and --password-file");
	}
	if (!is_region(region)) {
		return engine_refuse(error, "--s3-region: it takes a name such as eu-central-1");
	}
	http->dialect = HTTP_S3;
	(void)snprintf(http->signature, sizeof(http->signature), "aws:amz:%s:s3", region);
	(void)snprintf(http->base, BASE_MAX, "https://%s%ss3.%s.amazonaws.com%s%s%s", is_in_path ? "" : bucket.host,
	               is_in_path ? "" : ".", region, is_in_path ? "/" : "", is_in_path ? bucket.host : "",
	               bucket.path);
	engine_say(&http->engine, "S3 bucket %s%s, %s, prefix %s", bucket.host, bucket.path,
	           options->s3_endpoint != NULL ? options->s3_endpoint : region, http->engine.prefix);
	return options->s3_endpoint != NULL ? use_endpoint(http, options->s3_endpoint, error) : 0;
}

static int open_http(struct engine_http *http, struct engine_error *error)
{
	const char *layout = http->engine.options->layout != NULL ? http->engine.options->layout : "plain";
	bool is_local = http->engine.address.socket[0] != '\0';

	if (strcmp(layout, "plain") != 0 && strcmp(layout, "bazel") != 0) {
		return engine_refuse(error, "--layout: it takes plain or bazel");
	}
	http->dialect = strcmp(layout, "bazel") == 0 ? HTTP_BAZEL : HTTP_PLAIN;
	(void)write_base(&http->engine.address, http->base);
	engine_say(&http->engine, "HTTP at %s%s%s/, %s layout, prefix %s", is_local ? "unix:" : http->base,
	           http->engine.address.socket, is_local ? http->engine.address.path : "", layout, http->engine.prefix);
	return 0;
}

static bool add_header(struct curl_slist **headers, const char *header)
{
	struct curl_slist *longer = curl_slist_append(*headers, header);

	*headers = longer != NULL ? longer : *headers;
	return longer != NULL;
}

/* A PUT has a content type, because libcurl would otherwise send that of a form. */
static int http_open(struct engine *engine, struct engine_error *error)
{
	struct engine_http *http = (struct engine_http *)engine;
	bool is_s3 = engine->address.kind == ADDRESS_S3;
	int failure = is_s3 ? open_s3(http, error) : open_http(http, error);

	http->handle = curl_easy_init();
	if (failure == 0 &&
	    (http->handle == NULL || !add_header(&http->put_headers, "Content-Type: application/octet-stream"))) {
		failure = -ENOMEM;
	}
	if (failure == 0 && is_s3 &&
	    (!add_header(&http->headers, UNSIGNED) || !add_header(&http->put_headers, UNSIGNED))) {
		failure = -ENOMEM;
	}
	return failure;
}

const struct engine_kind engine_kind_http = {
    .size = sizeof(struct engine_http),
    .open = http_open,
    .close = http_close,
    .get = http_get,
    .put = http_put,
};
