/* SPDX-License-Identifier: MIT */
/*
 * s3: a bucket of S3, or of a compatible server such as MinIO (--s3-endpoint), as the engine
 *
 * Requests are those of engine_http, signed by libcurl (SigV4). The bucket is part of the path, or of the host name for
 * AWS itself if its name allows that. Session tokens of temporary credentials are not supported.
 */
#include "agent/engine/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The signature covers the request and the user but not the bytes, which TLS and the signature in the value protect. S3
 * requires this header or a digest of the bytes, and libcurl 7.88 sends neither by itself.
 */
#define UNSIGNED "x-amz-content-sha256: UNSIGNED-PAYLOAD"

/* libcurl before 7.88 does not sign that header */
#define SIGNS (LIBCURL_VERSION_NUM >= 0x075800)

static int say_place(struct engine_error *error, const char *words)
{
	engine_tell(error, "%s", words);
	return -EINVAL;
}

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
		return say_place(error, "s3:// needs libcurl 7.88 or later; this program was built with an older one");
	}
	if (options->user == NULL || options->password_file == NULL) {
		return say_place(error, "s3:// requires an access key and a secret key: --user and --password-file");
	}
	if (options->token_file != NULL) {
		return say_place(error, "--token-file: not for s3://");
	}
	if (options->layout != NULL && strcmp(options->layout, "plain") != 0) {
		return say_place(error, "--layout: not for s3://");
	}
	if (options->s3_region != NULL && !is_region(options->s3_region)) {
		return say_place(error, "--s3-region: it takes a name such as eu-central-1");
	}
	return 0;
}

/*
 * Writes https://<bucket>.s3.<region>.amazonaws.com. A bucket with a dot in its name is put into the path, because the
 * certificate of AWS does not match such a host name.
 */
static int aws_base(struct engine_http *http, const char *region)
{
	const char *bucket = http->transport.address.host;
	const char *path = http->transport.address.path;

	if (strchr(bucket, '.') == NULL) {
		return asprintf(&http->base, "https://%s.s3.%s.amazonaws.com%s", bucket, region, path);
	}
	return asprintf(&http->base, "https://s3.%s.amazonaws.com/%s%s", region, bucket, path);
}

/* Writes <endpoint>/<bucket><path>. The address of the endpoint replaces that of the engine. */
static int endpoint_base(struct engine_http *http, const char *endpoint, struct engine_error *error)
{
	struct engine_address of_endpoint;
	char *with_bucket;
	int written;

	if (strncmp(endpoint, "http", 4) != 0 || engine_address_parse(endpoint, &of_endpoint, error) != 0) {
		return say_place(
		    error, "--s3-endpoint: it takes https://host[:port], http://host[:port] or http+unix:///socket");
	}
	if (http_base(&of_endpoint, http->transport.address.host, &with_bucket) != 0) {
		return -ENOMEM;
	}
	written = asprintf(&http->base, "%s%s", with_bucket, http->transport.address.path);
	free(with_bucket);
	http->transport.address = of_endpoint;
	return written < 0 ? -ENOMEM : 0;
}

/* Bucket and path are copied first, because an endpoint replaces the address. */
static int fill_in(struct engine_http *http, const struct engine_options *options, struct engine_error *error)
{
	const char *region = options->s3_region != NULL ? options->s3_region : "us-east-1";
	char bucket[ADDRESS_HOST_MAX + 1];
	char path[ADDRESS_PATH_MAX + 1];
	int failure = 0;

	memcpy(bucket, http->transport.address.host, sizeof(bucket));
	memcpy(path, http->transport.address.path, sizeof(path));
	if (asprintf(&http->signature, "aws:amz:%s:s3", region) < 0) {
		http->signature = NULL;
		return -ENOMEM;
	}
	if (options->s3_endpoint != NULL) {
		failure = endpoint_base(http, options->s3_endpoint, error);
	} else if (aws_base(http, region) < 0) {
		failure = -ENOMEM;
	}
	if (failure != 0) {
		http->base = NULL;
		return failure;
	}
	engine_say(&http->engine, "S3 bucket %s%s%s, %s%s, prefix %s", bucket, path[0] != '\0' ? ", path " : "", path,
	           options->s3_endpoint != NULL ? "endpoint " : "region ",
	           options->s3_endpoint != NULL ? options->s3_endpoint : region, http->prefix);
	return 0;
}

/* Opens an HTTP engine whose requests are signed. */
static int s3_open(const struct engine_options *options, struct engine **ret_engine, struct engine_error *ret_error)
{
	struct engine_http *http = NULL;
	int error = judge_options(options, ret_error);

	if (error == 0) {
		error = http_new(&engine_kind_s3, options, UNSIGNED, &http, ret_error);
	}
	if (error != 0) {
		return error;
	}
	error = fill_in(http, options, ret_error);
	if (error != 0) {
		http_close(&http->engine);
		free(http);
		return error;
	}
	*ret_engine = &http->engine;
	return 0;
}

static const char *const schemes[] = {"s3://", NULL};

const struct engine_kind engine_kind_s3 = {
    .schemes = schemes,
    .open = s3_open,
    .close = http_close,
    .get = http_get,
    .has = http_has,
    .put = http_put,
    .probe = http_probe,
};
