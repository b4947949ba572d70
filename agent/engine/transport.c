/* SPDX-License-Identifier: MIT */
/*
 * Sets the options of libcurl that every engine needs: certificates are checked, TLS is 1.2 or later, libcurl uses no
 * signals, and every call has a deadline.
 */
#include "agent/engine/transport.h"

#include "agent/engine/secret_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALLOWED "http,https"

static void start_curl(void)
{
	(void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* The error text names the file and never contains anything of its content. */
static int read_secret(const char *what, const char *path, char **ret_secret, struct engine_error *error)
{
	int failure = path != NULL ? secret_file_line(path, ret_secret) : 0;

	if (failure != 0) {
		engine_tell(error, "the %s file %s: %s", what, path, secret_file_reason(failure));
	}
	return failure == 0 || failure == -EACCES || failure == -ENOMEM ? failure : -EINVAL;
}

/* curl_global_init() is not thread-safe in old versions, so pthread_once() calls it. */
int transport_open(const struct engine *engine, const struct engine_address *address, struct transport *transport,
                   struct engine_error *ret_error)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const struct engine_options *options = engine->options;
	const char *words;
	int failure = engine_address_prefix(address, engine->prefix, &words);

	if (failure != 0) {
		engine_tell(ret_error, "--prefix: %s", words);
	} else if (options->user != NULL && options->password_file == NULL) {
		failure = engine_refuse(ret_error, "--user: requires --password-file");
	}
	(void)pthread_once(&once, start_curl);
	transport->options = options;
	transport->address = *address;
	if (failure == 0) {
		failure = read_secret("password", options->password_file, &transport->password, ret_error);
	}
	if (failure == 0) {
		failure = read_secret("token", options->token_file, &transport->token, ret_error);
	}
	return failure;
}

/* Zeroes the secrets before they are freed. */
void transport_close(struct transport *transport)
{
	secret_file_wipe(transport->password);
	secret_file_wipe(transport->token);
}

/* For Unix sockets and Redis, proxies of the environment are disabled, because they cannot forward these. */
void transport_handle(struct transport *transport, CURL *handle)
{
	const struct engine_options *options = transport->options;
	const struct engine_address *address = &transport->address;

	transport->words[0] = '\0';
	curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, transport->words);
	curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
	/* without this option, libcurl waits for its resolver thread past the limit if a name server does not answer */
	curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#endif
	/* set explicitly, because the system's configuration may allow older versions */
	curl_easy_setopt(handle, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	/* no engine needs another protocol, such as file:// */
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, ALLOWED);
#else
	curl_easy_setopt(handle, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	if (address->socket[0] != '\0') {
		curl_easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, address->socket);
	}
	if (address->socket[0] != '\0' || address->kind == ADDRESS_REDIS) {
		curl_easy_setopt(handle, CURLOPT_PROXY, "");
	}
	if (options->ca_file != NULL) {
		curl_easy_setopt(handle, CURLOPT_CAINFO, options->ca_file);
		curl_easy_setopt(handle, CURLOPT_CAPATH, NULL);
	}
	if (options->certificate != NULL) {
		curl_easy_setopt(handle, CURLOPT_SSLCERT, options->certificate);
		curl_easy_setopt(handle, CURLOPT_SSLKEY,
		                 options->certificate_key != NULL ? options->certificate_key : options->certificate);
	}
}

/* Sets both limits, because some versions of libcurl measure the connection time separately. */
void transport_limit(CURL *handle, const struct timespec *deadline)
{
	unsigned left = engine_left_ms(deadline);

	/* 0 would mean no limit */
	curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, left > 0 ? (long)left : 1L);
	curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, left > 0 ? (long)left : 1L);
}

/* An unverified certificate counts as unreachable, because the server may be another one. */
static enum engine_answer answer_of(const struct transport *transport, CURLcode code)
{
	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:
		return ENGINE_SLOW;
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
		return strstr(transport->words, "certificate required") != NULL ? ENGINE_REFUSED : ENGINE_BROKEN;
#if LIBCURL_VERSION_NUM >= 0x074d00
	case CURLE_SSL_CLIENTCERT:
		return ENGINE_REFUSED;
#endif
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_CONNECT:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_ISSUER_ERROR:
		return ENGINE_UNREACHABLE;
	default:
		return ENGINE_BROKEN;
	}
}

/*
 * With TLS 1.3, a server that requires a client certificate closes the connection after the handshake, and the reason
 * may be lost.
 */
static const char *guess_cause(const struct transport *transport, enum engine_answer answer)
{
	return answer == ENGINE_BROKEN && transport->address.tls && transport->options->certificate == NULL
	           ? " (if the server requires a client certificate: --certificate)"
	           : "";
}

/*
 * Returns the variable that names a proxy for this address; NULL: none. libcurl may not have used that proxy, because
 * of no_proxy, and does not report whether it did.
 */
static const char *proxy_of(const struct engine_address *address)
{
	static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
	bool is_proxied = address->socket[0] == '\0' && address->kind != ADDRESS_REDIS;

	for (size_t i = 0; is_proxied && i < sizeof(names) / sizeof(names[0]); i++) {
		bool is_for_tls = names[i][4] == 's' || names[i][4] == 'S';
		bool is_for_all = names[i][0] == 'a' || names[i][0] == 'A';
		const char *value = getenv(names[i]);

		if ((is_for_all || is_for_tls == address->tls) && value != NULL && value[0] != '\0') {
			return names[i];
		}
	}
	return NULL;
}

enum engine_answer transport_tell(const struct transport *transport, CURL *handle, CURLcode code,
                                  struct engine_error *ret_error)
{
	/* libcurl's text about an invalid proxy repeats the variable, which may contain a password (user:pw@host) */
	bool plain = transport->words[0] != '\0' && strchr(transport->words, '@') == NULL;
	const char *words = plain ? transport->words : curl_easy_strerror(code);
	enum engine_answer answer = answer_of(transport, code);
	long error = 0;

	(void)curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &error);
	if (code == CURLE_COULDNT_CONNECT && (error != 0 || transport->address.socket[0] != '\0')) {
		const char *proxy = proxy_of(&transport->address);

		transport_words(transport, ret_error, "no connection: %s%s%s%s",
		                error != 0 ? strerror((int)error) : "closed immediately",
		                proxy != NULL ? " (at the server, or at the proxy that is set in " : "",
		                proxy != NULL ? proxy : "", proxy != NULL ? ")" : "");
	} else {
		transport_words(transport, ret_error, "%s%s", words, guess_cause(transport, answer));
	}
	return answer;
}

/* Returns whether the text contains the secret, because a server may repeat what it was sent. */
static bool tells_secret(const char *text, const char *secret)
{
	return secret != NULL && strstr(text, secret) != NULL;
}

void transport_words(const struct transport *transport, struct engine_error *ret_error, const char *format, ...)
{
	char place[ADDRESS_HOST_MAX + 16];
	char *text = NULL; /* not truncated, because a truncated secret would not be found in it */
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0) {
		text = NULL;
	}
	va_end(arguments);
	engine_address_place(&transport->address, place, sizeof(place));
	if (text == NULL) {
		engine_tell(ret_error, "%s: out of memory", place);
	} else if (tells_secret(text, transport->password) || tells_secret(text, transport->token)) {
		engine_tell(ret_error, "%s: (message not shown, because it contains the password or token)", place);
	} else {
		engine_tell(ret_error, "%s: %s", place, text);
	}
	free(text);
}
