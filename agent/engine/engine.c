/* SPDX-License-Identifier: MIT */
/*
 * A request is forwarded to the kind that the scheme of the address selected. This file also contains what all kinds
 * share: secrets, the options of libcurl, error texts, names.
 */
#include "agent/engine/engine.h"

#include "agent/engine/kind.h"
#include "cache/calls.h"
#include "cache/digits.h"
#include "cache/harmless.h"
#include "cache/tools/keyring.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

int engine_refuse(struct engine_error *error, const char *words)
{
	snprintf(error->text, sizeof(error->text), "%s", words);
	return -EINVAL;
}

/* The error text names the password's file and never contains anything of its content. */
static int read_options(struct engine *engine)
{
	const struct engine_options *options = engine->options;
	struct engine_error *error = engine->error;
	int failure = 0;

	if (!engine_address_prefix(&engine->address, options->prefix)) {
		return engine_refuse(error, "--prefix: it takes 1 to 128 letters, digits, '-', '_', '~', '.' and, for "
		                            "Redis, ':', and must not begin with '.'");
	}
	if (options->password_file != NULL) {
		failure = keyring_password(options->password_file, &engine->password);
	} else if (options->user != NULL) {
		return engine_refuse(error, "--user: requires --password-file");
	}
	if (failure != 0) {
		snprintf(error->text, sizeof(error->text), "the password file %s: %s", options->password_file,
		         keyring_reason(failure));
		harmless_text(error->text);
	}
	return failure;
}

/*
 * Parses the address first, because a wrong one may contain a password: the error text is constant. An engine that
 * cannot be opened is not freed, because the program ends then.
 */
int engine_open(const struct engine_options *options, struct engine **ret_engine, struct engine_error *ret_error)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	const char *words = "out of memory";
	int error;

	ret_error->text[0] = '\0';
	if (engine == NULL || engine_address_parse(options->address, &engine->address, &words) != 0) {
		return engine_refuse(ret_error, words);
	}
	(void)curl_global_init(CURL_GLOBAL_DEFAULT);
	engine->ask = engine->address.kind == ADDRESS_REDIS ? engine_redis_ask : engine_http_ask;
	engine->options = options;
	engine->error = ret_error;
	*ret_engine = engine;
	error = read_options(engine);
	return error != 0 || engine->address.kind == ADDRESS_REDIS ? error : engine_http_open(engine);
}

/*
 * All steps of a call share one deadline, because separate limits for each step would add up. A value that is too large
 * for readers is not sent.
 */
enum engine_answer engine_ask(struct engine *engine, struct engine_request *request)
{
	request->error.text[0] = '\0';
	engine->error = &request->error;
	engine->deadline_ns = request->until_ns;
	if (request->is_put && request->size > ENGINE_VALUE_MAX) {
		return engine_tell(engine, ENGINE_TOO_LARGE, "the value has %zu bytes, and at most %u are sent",
		                   request->size, ENGINE_VALUE_MAX);
	}
	return engine->ask(engine, request);
}

/* 0 means that the deadline has passed, and never that there is no limit. */
unsigned engine_left_ms(const struct engine *engine)
{
	int64_t left = (engine->deadline_ns - call_clock_straight()) / MS;

	return left > 0 ? (unsigned)left : 0;
}

/* ---- libcurl */

/* For Unix sockets and Redis, proxies of the environment are disabled, because they cannot forward these. */
void engine_prepare(struct engine *engine)
{
	const struct engine_options *options = engine->options;
	CURL *handle = engine->handle;
	bool is_local = engine->address.socket[0] != '\0';
	unsigned left = engine_left_ms(engine);
	long limit = left > 0 ? (long)left : 1; /* 0 would mean no limit */

	engine->words[0] = '\0';
	curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, engine->words);
	curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
	/* both limits, because some versions measure the connection time separately */
	curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, limit);
	curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, limit);
#if LIBCURL_VERSION_NUM >= 0x075700
	/* without this option, libcurl waits for its resolver thread past the limit if a name server does not answer */
	curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#endif
	/* set explicitly, because the system's configuration may allow older versions */
	curl_easy_setopt(handle, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (is_local) {
		curl_easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, engine->address.socket);
	}
	if (is_local || engine->address.kind == ADDRESS_REDIS) {
		curl_easy_setopt(handle, CURLOPT_PROXY, "");
	}
	if (options->ca_file != NULL) {
		curl_easy_setopt(handle, CURLOPT_CAINFO, options->ca_file);
		curl_easy_setopt(handle, CURLOPT_CAPATH, NULL);
	}
}

/* An unverified certificate counts as unreachable, because the server may be another one. */
static enum engine_answer answer_of(CURLcode code)
{
	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:
		return ENGINE_SLOW;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_CONNECT:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
		return ENGINE_UNREACHABLE;
	default:
		return ENGINE_BROKEN;
	}
}

enum engine_answer engine_failed(const struct engine *engine, CURLcode code)
{
	/* libcurl's text about an invalid proxy repeats the variable, which may contain a password (user:pw@host) */
	bool is_plain = engine->words[0] != '\0' && strchr(engine->words, '@') == NULL;
	enum engine_answer answer = answer_of(code);
	long number = 0;

	(void)curl_easy_getinfo(engine->handle, CURLINFO_OS_ERRNO, &number);
	if (code == CURLE_COULDNT_CONNECT && (number != 0 || engine->address.socket[0] != '\0')) {
		return engine_tell(engine, answer, "no connection: %s",
		                   number != 0 ? strerror((int)number) : "closed immediately");
	}
	return engine_tell(engine, answer, "%s", is_plain ? engine->words : curl_easy_strerror(code));
}

/* ---- texts */

enum engine_answer engine_tell(const struct engine *engine, enum engine_answer answer, const char *format, ...)
{
	char place[ADDRESS_HOST_MAX + 16];
	char *text = NULL; /* not truncated, because a truncated secret would not be found in it */
	const char *shown = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0) {
		text = NULL;
	}
	va_end(arguments);
	engine_address_place(&engine->address, place, sizeof(place));
	if (text == NULL) {
		shown = "out of memory";
	} else if (engine->password != NULL && strstr(text, engine->password) != NULL) {
		/* a server may repeat what it was sent */
		shown = "(message not shown, because it contains the password)";
	}
	snprintf(engine->error->text, sizeof(engine->error->text), "%.160s: %s", place, shown != NULL ? shown : text);
	harmless_text(engine->error->text);
	free(text);
	return answer;
}

/* ---- names of values (kind.h) */

size_t engine_name_redis(const char *prefix, const uint8_t key[ENTRY_KEY_BYTES], char ret_name[ENGINE_NAME_MAX])
{
	char digits[DIGITS_BYTES(ENTRY_KEY_BYTES)];

	return (size_t)snprintf(ret_name, ENGINE_NAME_MAX, "%s:%d:%u:%s", prefix, ENGINE_NAMING, ENTRY_FORMAT,
	                        digits_spell(key, ENTRY_KEY_BYTES, digits));
}
