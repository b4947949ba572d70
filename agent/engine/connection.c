/* SPDX-License-Identifier: MIT */
#include "agent/engine/connection.h"

#include "agent/engine/kind.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

struct connection {
	struct transport *transport;
	CURL *handle;
	int socket;
};

/* An address that libcurl understands; behind a socket's path the host is a mere name. */
static CURLcode connect_only(struct connection *connection, const struct timespec *deadline)
{
	const struct engine_address *address = &connection->transport->address;
	char url[ADDRESS_HOST_MAX + 32];
	curl_socket_t socket;
	CURLcode code;

	if (address->socket[0] != '\0') {
		(void)snprintf(url, sizeof(url), "http://localhost");
	} else {
		(void)snprintf(url, sizeof(url), "%s://%s:%u", address->tls ? "https" : "http", address->host,
		               address->port);
	}
	transport_handle(connection->transport, connection->handle);
	transport_limit(connection->handle, deadline);
	curl_easy_setopt(connection->handle, CURLOPT_URL, url);
	curl_easy_setopt(connection->handle, CURLOPT_CONNECT_ONLY, 1L);
	curl_easy_setopt(connection->handle, CURLOPT_SSL_ENABLE_ALPN, 0L);
	code = curl_easy_perform(connection->handle);
	if (code == CURLE_OK) {
		code = curl_easy_getinfo(connection->handle, CURLINFO_ACTIVESOCKET, &socket);
	}
	if (code == CURLE_OK) {
		connection->socket = socket;
	}
	return code;
}

enum engine_answer connection_open(struct transport *transport, const struct timespec *deadline,
                                   struct connection **ret_connection, struct engine_error *ret_error)
{
	struct connection *connection = calloc(1, sizeof(*connection));
	enum engine_answer answer;
	CURLcode code;

	if (connection == NULL) {
		return ENGINE_BROKEN;
	}
	connection->transport = transport;
	connection->handle = curl_easy_init();
	code = connection->handle != NULL ? connect_only(connection, deadline) : CURLE_OUT_OF_MEMORY;
	if (code == CURLE_OK) {
		*ret_connection = connection;
		return ENGINE_DONE;
	}
	answer = transport_tell(transport, connection->handle, code, ret_error);
	connection_close(connection);
	return answer;
}

void connection_close(struct connection *connection)
{
	if (connection != NULL) {
		curl_easy_cleanup(connection->handle);
		free(connection);
	}
}

bool connection_is_stale(const struct connection *connection)
{
	struct pollfd at = {.fd = connection->socket, .events = POLLIN};

	return poll(&at, 1, 0) != 0;
}

static enum engine_answer too_late(const struct connection *connection, struct engine_error *error)
{
	transport_words(connection->transport, error, "no answer in time");
	return ENGINE_SLOW;
}

/* Until libcurl may be asked again. */
static enum engine_answer wait_for(const struct connection *connection, short events, const struct timespec *deadline,
                                   struct engine_error *error)
{
	struct pollfd at = {.fd = connection->socket, .events = events};
	unsigned left = engine_left_ms(deadline);
	int ready = left > 0 ? poll(&at, 1, (int)left) : 0;

	if (ready > 0 || (ready < 0 && errno == EINTR)) {
		return ENGINE_DONE;
	}
	return too_late(connection, error);
}

enum engine_answer connection_send(struct connection *connection, const void *bytes, size_t size,
                                   const struct timespec *deadline, struct engine_error *ret_error)
{
	for (size_t done = 0; done < size;) {
		size_t sent = 0;
		CURLcode code = curl_easy_send(connection->handle, (const char *)bytes + done, size - done, &sent);

		if (code == CURLE_AGAIN) {
			enum engine_answer answer = wait_for(connection, POLLOUT, deadline, ret_error);

			if (answer != ENGINE_DONE) {
				return answer;
			}
		} else if (code != CURLE_OK) {
			return transport_tell(connection->transport, connection->handle, code, ret_error);
		}
		done += sent;
	}
	return ENGINE_DONE;
}

enum engine_answer connection_receive(struct connection *connection, void *bytes, size_t size,
                                      const struct timespec *deadline, size_t *ret_got, struct engine_error *ret_error)
{
	/* also of one that has always more to say */
	while (engine_left_ms(deadline) > 0) {
		size_t got = 0;
		CURLcode code = curl_easy_recv(connection->handle, bytes, size, &got);
		enum engine_answer answer;

		if (code == CURLE_OK && got > 0) {
			*ret_got = got;
			return ENGINE_DONE;
		}
		if (code == CURLE_OK) {
			transport_words(connection->transport, ret_error,
			                "the connection was closed before the answer was whole");
			return ENGINE_BROKEN;
		}
		if (code != CURLE_AGAIN) {
			return transport_tell(connection->transport, connection->handle, code, ret_error);
		}
		answer = wait_for(connection, POLLIN, deadline, ret_error);
		if (answer != ENGINE_DONE) {
			return answer;
		}
	}
	return too_late(connection, ret_error);
}
