/* SPDX-License-Identifier: MIT */
/*
 * transport: the part that all engines on libcurl share: secrets, certificates, error texts
 *
 * Redis uses libcurl too, so that one library resolves names, connects and checks certificates, within one time limit.
 *
 * Calling sequence: transport_open() reads the secrets; transport_handle() for each libcurl handle and after
 * curl_easy_reset(); transport_tell() for an error of libcurl; transport_close(). Certificates are always checked.
 * Proxies from the environment (http_proxy) are used only for HTTP over a network.
 * Errors: transport_open(): as engine_open(). Threads: a transport belongs to one thread. Ownership: the options must
 * outlive the transport.
 */
#ifndef AGENT_ENGINE_TRANSPORT_H
#define AGENT_ENGINE_TRANSPORT_H

#include "agent/engine/kind.h"

#include <curl/curl.h>
#include <time.h>

struct transport {
	const struct engine_options *options;
	struct engine_address address;
	char *password; /* NULL: none */
	char *token;
	char words[CURL_ERROR_SIZE]; /* error text of libcurl for the last call */
};

/*
 * Reads the secrets and checks the prefix of an engine. The transport, zeroed before, is also closed after a failure.
 */
int transport_open(const struct engine *engine, const struct engine_address *address, struct transport *transport,
                   struct engine_error *ret_error);
void transport_close(struct transport *transport);

/* Sets the options that do not depend on the request. `transport` must outlive the handle. */
void transport_handle(struct transport *transport, CURL *handle);
/* Sets the time limit of the handle's next transfer. */
void transport_limit(CURL *handle, const struct timespec *deadline);

/* Returns the answer for a code other than CURLE_OK, and writes an error text. */
enum engine_answer transport_tell(const struct transport *transport, CURL *handle, CURLcode code,
                                  struct engine_error *ret_error);
/* Writes an error text that begins with the engine's place, such as "unix:/socket: ", and contains no secret. */
__attribute__((format(printf, 3, 4))) void transport_words(const struct transport *transport,
                                                           struct engine_error *ret_error, const char *format, ...);

#endif
