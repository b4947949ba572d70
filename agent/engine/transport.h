/* SPDX-License-Identifier: MIT */
/*
 * transport: what all engines behind libcurl share: secrets, certificates, error texts
 *
 * Redis uses it too: one library then looks up names, connects and checks certificates, under one limit.
 *
 * Calling sequence: transport_open() reads the secrets; transport_handle() for each libcurl handle and after
 * curl_easy_reset(); transport_tell() for what libcurl returned; transport_close(). Certificates are always checked.
 * Proxies of the environment (http_proxy) apply to HTTP over a network only.
 * Errors: transport_open(): as engine_open(). Threads: a transport belongs to one. Ownership: it has its own copies.
 */
#ifndef AGENT_ENGINE_TRANSPORT_H
#define AGENT_ENGINE_TRANSPORT_H

#include "agent/engine/address.h"

#include <curl/curl.h>
#include <time.h>

struct transport {
	struct engine_address address;
	char *user;
	char *password; /* NULL: none */
	char *token;
	char *ca_file;
	char *certificate;
	char *certificate_key;
	char words[CURL_ERROR_SIZE]; /* libcurl's, of the last call */
};

/* The address is read and the prefix judged, too. On failure there is nothing to close. */
int transport_open(const struct engine_options *options, struct transport *ret_transport,
                   struct engine_error *ret_error);
void transport_close(struct transport *transport);

/* Options that do not hang on the request; `transport` must outlive the handle. */
void transport_handle(struct transport *transport, CURL *handle);
/* All that the handle does next ends by then. */
void transport_limit(CURL *handle, const struct timespec *deadline);

/* What a code that is not CURLE_OK comes to, with words about it. */
enum engine_answer transport_tell(const struct transport *transport, CURL *handle, CURLcode code,
                                  struct engine_error *ret_error);
/* "unix:/socket: " and so on before words of one's own, without what is secret. */
__attribute__((format(printf, 3, 4))) void transport_words(const struct transport *transport,
                                                           struct engine_error *ret_error, const char *format, ...);

#endif
