/* SPDX-License-Identifier: MIT */
/*
 * s3: a bucket of S3, or of a compatible server such as MinIO (--s3-endpoint), as the engine
 *
 * Requests are those of engine_http, signed by libcurl (SigV4). The bucket is part of the path, or of the host name for
 * AWS itself if its name allows that. Session tokens of temporary credentials are not supported.
 */
#include "agent/engine/http.h"

#include <stdio.h>
#include <string.h>

/*
 * The signature covers the request and the user but not the bytes, which TLS and the signature in the value protect. S3
 * requires this header or a digest of the bytes, and libcurl 7.88 sends neither by itself.
 */
#define UNSIGNED "x-amz-content-sha256: UNSIGNED-PAYLOAD"

/* libcurl before 7.88 does not sign that header */
#define SIGNS (LIBCURL_VERSION_NUM >= 0x075800)

/* The characters are limited, because the region becomes part of a host name. */
static bool is_region(const char *text)
{
	return text[0] != '\0' && strlen(text) < 64 &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == strlen(text);
}

/* Checks the options when the agent starts, so that an error is not reported only at the first request. */
static int judge_options(const struct engine_options *options, struct engine_error *error)
{
	if (!SIGNS) {
		return engine_refuse(error,
		                     "s3:// needs libcurl 7.88 or later; this program was built with an older one");
	}
	if (options->user == NULL || options->password_file == NULL) {
		return engine_refuse(error,
		                     "s3:// requires an access key and a secret key: --user and --password-file");
	}
	if (options->token_file != NULL) {
		return engine_refuse(error, "--token-file: not for s3://");
	}
	if (options->layout != NULL && strcmp(options->layout, "plain") != 0) {
		return engine_refuse(error, "--layout: not for s3://");
	}
	if (options->s3_region != NULL && !is_region(options->s3_region)) {
		return engine_refuse(error, "--s3-region: it takes a name such as eu-central-1");
	}
	return 0;
}

/*
 * Writes https://<bucket>.s3.<region>.amazonaws.com. A bucket with a dot in its name is put into the path, because the
 * certificate of AWS does not match such a host name.
 */
static void write_aws_base(const struct engine_address *place, const char *region, char ret_base[HTTP_BASE_MAX])
{
	if (strchr(place->host, '.') == NULL) {
		(void)snprintf(ret_base, HTTP_BASE_MAX, "https://%s.s3.%s.amazonaws.com%s", place->host, region,
		               place->path);
	} else {
		(void)snprintf(ret_base, HTTP_BASE_MAX, "https://s3.%s.amazonaws.com/%s%s", region, place->host,
		               place->path);
	}
}

/* Writes <endpoint>/<bucket><path>. The address of the endpoint replaces that of the engine. */
static int use_endpoint(struct engine_http *http, const struct engine_address *place, struct engine_error *error)
{
	const char *endpoint = http->engine.options->s3_endpoint;
	const char *words;
	size_t length;

	if (strncmp(endpoint, "http", 4) != 0 ||
	    engine_address_parse(endpoint, &http->transport.address, &words) != 0) {
		return engine_refuse(
		    error, "--s3-endpoint: it takes https://host[:port], http://host[:port] or http+unix:///socket");
	}
	length = http_base(&http->transport.address, http->base);
	(void)snprintf(http->base + length, HTTP_BASE_MAX - length, "/%s%s", place->host, place->path);
	return 0;
}

/* Opens an HTTP engine whose requests are signed. */
static int s3_open(struct engine *engine, const struct engine_address *address, struct engine_error *ret_error)
{
	struct engine_http *http = (struct engine_http *)engine;
	const struct engine_options *options = engine->options;
	const char *region = options->s3_region != NULL ? options->s3_region : "us-east-1";
	int error = judge_options(options, ret_error);

	if (error == 0) {
		error = http_begin(http, address, UNSIGNED, ret_error);
	}
	if (error != 0) {
		return error;
	}
	http->dialect = HTTP_S3;
	(void)snprintf(http->signature, sizeof(http->signature), "aws:amz:%s:s3", region);
	if (options->s3_endpoint == NULL) {
		write_aws_base(address, region, http->base);
	} else {
		error = use_endpoint(http, address, ret_error);
	}
	engine_say(engine, "S3 bucket %s%s%s, %s%s, prefix %s", address->host,
	           address->path[0] != '\0' ? ", path " : "", address->path,
	           options->s3_endpoint != NULL ? "endpoint " : "region ",
	           options->s3_endpoint != NULL ? options->s3_endpoint : region, engine->prefix);
	return error;
}

const struct engine_kind engine_kind_s3 = {
    .size = sizeof(struct engine_http),
    .open = s3_open,
    .close = http_close,
    .get = http_get,
    .has = http_has,
    .put = http_put,
    .probe = http_probe,
};
