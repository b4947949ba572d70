/* SPDX-License-Identifier: MIT */
/*
 * s3: a bucket of S3, or of what speaks like it (MinIO and others, by their endpoint)
 *
 * Requests are engine_http's, signed by libcurl (SigV4). The bucket stands in the path, and in the host's name where
 * AWS itself is asked and the name allows it. A session's token of temporary credentials is not supported.
 */
#include "agent/engine/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The signature covers the request and the user. TLS and the signature in the value protect its bytes. S3 requires this
 * header or a digest of the bytes, and libcurl 7.88 sends neither by itself.
 */
#define UNSIGNED "x-amz-content-sha256: UNSIGNED-PAYLOAD"

/* older ones do not sign that header */
#define SIGNS (LIBCURL_VERSION_NUM >= 0x075800)

static int say_place(struct engine_error *error, const char *words)
{
	engine_tell(error, "%s", words);
	return -EINVAL;
}

/* It becomes part of a host's name. */
static bool is_region(const char *text)
{
	return text[0] != '\0' && strlen(text) < 64 &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == strlen(text);
}

/* Said when the agent starts, not at the first question. */
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

/* AWS's own: https://<bucket>.s3.<region>.amazonaws.com; dots in the bucket's name do not go with its certificate. */
static int aws_base(struct engine_http *http, const char *region)
{
	const char *bucket = http->transport.address.host;
	const char *path = http->transport.address.path;

	if (strchr(bucket, '.') == NULL) {
		return asprintf(&http->base, "https://%s.s3.%s.amazonaws.com%s", bucket, region, path);
	}
	return asprintf(&http->base, "https://s3.%s.amazonaws.com/%s%s", region, bucket, path);
}

/* <endpoint>/<bucket><path>; the endpoint's socket or host is what is connected to from now on. */
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

/* The same requests as HTTP, signed. */
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
