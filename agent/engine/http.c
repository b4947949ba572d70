/* SPDX-License-Identifier: MIT */
/*
 * http: an HTTP server, or S3, as the engine, with GET and PUT
 *
 * HTTP and S3 send the same requests to different URLs; those to S3 are signed by libcurl (SigV4). Each engine has one
 * libcurl handle, so that connections are reused; libcurl repeats a request if the server has closed an idle one.
 * Redirects are not followed, because they could lead to any host. The body of a response is a value only with status
 * 200. Another body is not read to its end.
 */
#include "agent/engine/kind.h"

#include "cache/digits.h"

#include <blake2.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_MAX    65536 /* bytes of the headers and trailers of a response */
#define PAGE_MAX    65536 /* bytes read of a response that is not a value */
#define CONTINUE_MS 100L  /* how long the client waits for "100 Continue" before it sends a large value */

#define SIGNS (LIBCURL_VERSION_NUM >= 0x075800)

enum method { GET = 1, PUT = 2 };
enum { ANY = ~0 };

/*
 * The headers of each request. There is a content type, because libcurl would otherwise send that of a form with a PUT.
 * The signature of S3 covers the request but not the bytes, which TLS and the signature in the value protect. S3
 * requires a header that says so, or a digest of the bytes, and libcurl 7.88, the first that signs it, sends neither.
 */
static char content_type[] = "Content-Type: application/octet-stream";
static char unsigned_payload[] = "x-amz-content-sha256: UNSIGNED-PAYLOAD";
static struct curl_slist headers = {content_type, NULL}, headers_of_s3 = {unsigned_payload, &headers};

/* The response to one request. */
struct response {
	CURL *handle;
	char *bytes; /* NULL: no body */
	size_t size, head;
	bool is_long; /* has more bytes than a value may have */
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
	return response->head > HEAD_MAX ? 0 : one * count;
}

/* Callback of libcurl for the body. Ends the transfer if there is more than the limit, or no memory. */
static size_t take_body(char *bytes, size_t one, size_t count, void *context)
{
	struct response *response = context;
	size_t size = one * count;
	curl_off_t announced = -1;
	long status = 0;
	char *longer;

	(void)curl_easy_getinfo(response->handle, CURLINFO_RESPONSE_CODE, &status);
	(void)curl_easy_getinfo(response->handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
	response->is_long = status == 200 && (announced > ENGINE_VALUE_MAX || response->size + size > ENGINE_VALUE_MAX);
	if (response->is_long || (status != 200 && response->size + size > PAGE_MAX)) {
		return 0;
	}
	longer = realloc(response->bytes, response->size + size + 1); /* never 0, which would free them */
	if (longer == NULL) {
		return 0;
	}
	memcpy(longer + response->size, bytes, size);
	response->bytes = longer;
	response->size += size;
	return size;
}

/* ---- what a status means */

/*
 * The first row that fits counts. For GET only 200 is a success, because the body of a 203 or 206 may differ from the
 * stored value.
 */
static const struct status {
	long first;
	long last;
	int methods;
	int dialects;
	enum engine_answer answer;
	const char *words;
} statuses[] = {
    {200, 200, ANY, ANY, ENGINE_DONE, ""},
    {200, 299, PUT, ANY, ENGINE_DONE, ""},
    {404, 404, PUT, ENGINE_S3, ENGINE_UNSUITED, ": no such bucket"},
    {404, 404, GET, ANY, ENGINE_ABSENT, ""},
    {410, 410, GET, ANY, ENGINE_ABSENT, ""},
    {401, 401, ANY, ANY, ENGINE_REFUSED, ": authentication required: --user with --password-file"},
    {403, 403, ANY, ENGINE_S3, ENGINE_REFUSED,
     ": S3 also answers this for absent objects, unless s3:ListBucket is allowed"},
    {403, 403, ANY, ANY, ENGINE_REFUSED, ": permission denied"},
    {407, 407, ANY, ANY, ENGINE_REFUSED, ": a proxy requires authentication"},
    {413, 413, ANY, ANY, ENGINE_TOO_LARGE,
     ": the value is larger than the server accepts (nginx: client_max_body_size)"},
    {507, 507, ANY, ANY, ENGINE_FULL, ": no space left"},
    {408, 408, ANY, ANY, ENGINE_BROKEN, ""},
    {429, 429, ANY, ANY, ENGINE_BROKEN, ": too many requests"},
    {500, 500, PUT, ~ENGINE_S3, ENGINE_BROKEN, ": nginx needs create_full_put_path on, and permission to write"},
    {501, 501, PUT, ANY, ENGINE_BROKEN, ": the server does not accept PUT: nginx needs dav_methods PUT"},
    {500, 599, ANY, ANY, ENGINE_BROKEN, ""},
    {300, 399, ANY, ANY, ENGINE_UNSUITED, ": redirects are not followed: use the address that the server redirects to"},
    {400, 400, ANY, ENGINE_BAZEL, ENGINE_UNSUITED, ": bazel-remote needs --disable_http_ac_validation"},
    {405, 405, PUT, ANY, ENGINE_UNSUITED, ": the server does not accept PUT: nginx needs dav_methods PUT"},
    {409, 409, PUT, ANY, ENGINE_UNSUITED, ": the server does not create directories"},
    {0, 999, ANY, ANY, ENGINE_UNSUITED, ""},
};

/* The error page is not part of the message, because it is HTML, XML or repeats the request. */
static enum engine_answer judge_status(const struct engine *engine, enum method method, long status)
{
	const struct status *row = statuses;

	while (status < row->first || status > row->last || !(row->methods & (int)method) ||
	       !(row->dialects & (int)engine->dialect)) {
		row++;
	}
	if (row->answer == ENGINE_DONE || row->answer == ENGINE_ABSENT) {
		return row->answer;
	}
	return engine_tell(engine, row->answer, "%ld to %s%s", status, method == PUT ? "PUT" : "GET", row->words);
}

/* A transfer that our callbacks ended is a failed write to libcurl. Of an error page its beginning suffices. */
static enum engine_answer judge_response(const struct engine *engine, enum method method,
                                         const struct response *response, CURLcode code)
{
	long status = 0;

	(void)curl_easy_getinfo(engine->handle, CURLINFO_RESPONSE_CODE, &status);
	if (response->head > HEAD_MAX) {
		return engine_tell(engine, ENGINE_BROKEN, "the headers of the response are too long");
	}
	if (response->is_long && method == GET) {
		return engine_tell(engine, ENGINE_TOO_LARGE, "the value has more than %u bytes", ENGINE_VALUE_MAX);
	}
	if (code != CURLE_OK && (code != CURLE_WRITE_ERROR || (status == 200 && !response->is_long))) {
		return engine_failed(engine, code);
	}
	return judge_status(engine, method, status);
}

/* ---- requests */

static void prove_identity(const struct engine *engine)
{

	if (engine->password != NULL) {
		curl_easy_setopt(engine->handle, CURLOPT_USERNAME, engine->options->user ? engine->options->user : "");
		curl_easy_setopt(engine->handle, CURLOPT_PASSWORD, engine->password);
		curl_easy_setopt(engine->handle, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
	}
#if LIBCURL_VERSION_NUM >= 0x074b00
	if (engine->dialect == ENGINE_S3) {
		curl_easy_setopt(engine->handle, CURLOPT_AWS_SIGV4, engine->signature);
	}
#endif
}

/* The first byte of the key names a subdirectory, so that no directory of an HTTP server gets too many files. */
static void name_path(const char *prefix, const uint8_t key[ENTRY_KEY_BYTES], char ret_name[ENGINE_NAME_MAX])
{
	char digits[DIGITS_BYTES(ENTRY_KEY_BYTES)];

	(void)digits_spell(key, ENTRY_KEY_BYTES, digits);
	(void)snprintf(ret_name, ENGINE_NAME_MAX, "%s/%d-%u/%.2s/%s", prefix, ENGINE_NAMING, ENTRY_FORMAT, digits,
	               digits + 2);
}

/* The digest is that of the Redis name, because a name of 64 digits has no room for version, format and prefix. */
static void name_bazel(const char *prefix, const uint8_t key[ENTRY_KEY_BYTES], char ret_name[ENGINE_NAME_MAX])
{
	char text[ENGINE_NAME_MAX];
	size_t size = engine_name_redis(prefix, key, text);
	uint8_t digest[32];
	char digits[DIGITS_BYTES(sizeof(digest))];

	(void)blake2b(digest, text, NULL, sizeof(digest), size, 0);
	(void)snprintf(ret_name, ENGINE_NAME_MAX, "ac/%s", digits_spell(digest, sizeof(digest), digits));
}

/* Names need no escaping, because they contain only unreserved characters of URLs. */
static void set_url(const struct engine *engine, const uint8_t *key)
{
	char place[ENGINE_NAME_MAX];
	char url[ENGINE_BASE_MAX + ENGINE_NAME_MAX];

	if (engine->dialect == ENGINE_BAZEL) {
		name_bazel(engine->options->prefix, key, place);
	} else {
		name_path(engine->options->prefix, key, place);
	}
	(void)snprintf(url, sizeof(url), "%s/%s", engine->base, place);
	curl_easy_setopt(engine->handle, CURLOPT_URL, url);
}

/*
 * Sets every option for each request, so that no option of the previous request remains. A value to put is set with
 * POSTFIELDS and not with a read callback, so that libcurl can send it again without rewinding.
 */
static void prepare_request(struct engine *engine, const struct engine_request *request, struct response *ret_response)
{
	CURL *handle = engine->handle;

	*ret_response = (struct response){.handle = handle};
	curl_easy_reset(handle); /* does not close connections */
	engine_prepare(engine);
	prove_identity(engine);
	set_url(engine, request->key);
	curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(handle, CURLOPT_USERAGENT, "nvrtccache-agent");
	curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_head);
	curl_easy_setopt(handle, CURLOPT_HEADERDATA, ret_response);
	curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(handle, CURLOPT_WRITEDATA, ret_response);
	curl_easy_setopt(handle, CURLOPT_HTTPHEADER, engine->dialect == ENGINE_S3 ? &headers_of_s3 : &headers);
	if (request->is_put) {
		curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->size);
		curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request->size > 0 ? request->value : "");
		curl_easy_setopt(handle, CURLOPT_EXPECT_100_TIMEOUT_MS, CONTINUE_MS);
		curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, "PUT");
	}
}

enum engine_answer engine_http_ask(struct engine *engine, struct engine_request *request)
{
	struct response response;
	enum engine_answer answer;

	prepare_request(engine, request, &response);
	answer = judge_response(engine, request->is_put ? PUT : GET, &response, curl_easy_perform(engine->handle));
	if (answer == ENGINE_DONE && !request->is_put) {
		request->value = response.bytes;
		request->size = response.size;
	} else {
		free(response.bytes);
	}
	return answer;
}

/* ---- opening */

/* Writes "https://host:port/path". The port is always written, so that each address has a single form. */
static size_t write_base(const struct engine_address *address, char ret_base[ENGINE_BASE_MAX])
{
	if (address->socket[0] != '\0') {
		return (size_t)snprintf(ret_base, ENGINE_BASE_MAX, "http://localhost%s", address->path);
	}
	return (size_t)snprintf(ret_base, ENGINE_BASE_MAX, "%s://%s:%u%s", address->tls ? "https" : "http",
	                        address->host, address->port, address->path);
}

/* Writes <endpoint>/<bucket><path>. The address of the endpoint replaces that of the engine. */
static int use_endpoint(struct engine *engine, const char *endpoint)
{
	const struct engine_address bucket = engine->address;
	const char *words;
	size_t length;

	if (strncmp(endpoint, "http", 4) != 0 || engine_address_parse(endpoint, &engine->address, &words) != 0) {
		return engine_refuse(
		    engine->error,
		    "--s3-endpoint: it takes https://host[:port], http://host[:port] or http+unix:///socket");
	}
	length = write_base(&engine->address, engine->base);
	(void)snprintf(engine->base + length, ENGINE_BASE_MAX - length, "/%s%s", bucket.host, bucket.path);
	return 0;
}

/*
 * The bucket is part of AWS's host name. A bucket with a dot in its name is put into the path, because the certificate
 * of AWS does not match such a host name.
 */
static int open_s3(struct engine *engine)
{
	const struct engine_options *options = engine->options;
	const struct engine_address bucket = engine->address;
	const char *region = options->s3_region != NULL ? options->s3_region : "us-east-1";
	bool is_in_path = strchr(bucket.host, '.') != NULL;

	if (!SIGNS) {
		return engine_refuse(engine->error,
		                     "s3:// needs libcurl 7.88 or later; this program was built with an older one");
	}
	if (options->user == NULL || options->password_file == NULL) {
		return engine_refuse(engine->error,
		                     "s3:// requires an access key and a secret key: --user and --password-file");
	}
	(void)snprintf(engine->signature, sizeof(engine->signature), "aws:amz:%s:s3", region);
	(void)snprintf(engine->base, ENGINE_BASE_MAX, "https://%s%ss3.%s.amazonaws.com%s%s%s",
	               is_in_path ? "" : bucket.host, is_in_path ? "" : ".", region, is_in_path ? "/" : "",
	               is_in_path ? bucket.host : "", bucket.path);
	return options->s3_endpoint != NULL ? use_endpoint(engine, options->s3_endpoint) : 0;
}

int engine_http_open(struct engine *engine)
{
	bool is_s3 = engine->address.kind == ADDRESS_S3;
	const char *layout = engine->options->layout != NULL ? engine->options->layout : "plain";

	(void)write_base(&engine->address, engine->base);
	if (strcmp(layout, "plain") != 0 && strcmp(layout, "bazel") != 0) {
		return engine_refuse(engine->error, "--layout: it takes plain or bazel");
	}
	engine->dialect = is_s3 ? ENGINE_S3 : strcmp(layout, "bazel") == 0 ? ENGINE_BAZEL : ENGINE_PLAIN;
	engine->handle = curl_easy_init();
	if (engine->handle == NULL) {
		return engine_refuse(engine->error, "out of memory");
	}
	return is_s3 ? open_s3(engine) : 0;
}
