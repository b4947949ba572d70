/* SPDX-License-Identifier: MIT */
#include "agent/engine/redis_session.h"

#include "agent/engine/kind.h"
#include "agent/engine/transport.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * connection: a byte stream to an engine that does not use HTTP, over a Unix socket, TCP or TLS
 *
 * libcurl connects (CURLOPT_CONNECT_ONLY) and then sends and receives bytes unchanged. It is used because it resolves
 * names and checks certificates within a time limit. The program must ignore SIGPIPE.
 *
 * Calling sequence: connection_open(), connection_send() and connection_receive() in any order, connection_close().
 * After any answer other than ENGINE_DONE the connection must be closed, because a late reply would be taken for the
 * reply to the next command.
 * Errors: SLOW, UNREACHABLE, REFUSED, BROKEN, with a text. Threads: one. Ownership: the transport must outlive it.
 */

struct connection {
	struct transport *transport;
	CURL *handle;
	int socket;
};

/* Connects with an HTTP URL, which libcurl does not send in this mode. For a Unix socket its host is not used. */
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

static void connection_close(struct connection *connection)
{
	if (connection != NULL) {
		curl_easy_cleanup(connection->handle);
		free(connection);
	}
}

/* Connecting includes the check of certificates and host names, within the same deadline. */
static enum engine_answer connection_open(struct transport *transport, const struct timespec *deadline,
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

/*
 * Returns whether the server has closed the connection or sent unexpected bytes. Between two commands nothing should be
 * readable.
 */
static bool connection_is_stale(const struct connection *connection)
{
	struct pollfd at = {.fd = connection->socket, .events = POLLIN};

	return poll(&at, 1, 0) != 0;
}

static enum engine_answer too_late(const struct connection *connection, struct engine_error *error)
{
	transport_words(connection->transport, error, "no answer in time");
	return ENGINE_SLOW;
}

/* Waits until the socket is ready or the deadline has passed. */
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

/* Sends all bytes, in several steps because a large value may fill the socket's buffer. */
static enum engine_answer connection_send(struct connection *connection, const void *bytes, size_t size,
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

/* Receives at least one byte and at most `size` bytes. */
static enum engine_answer connection_receive(struct connection *connection, void *bytes, size_t size,
                                             const struct timespec *deadline, size_t *ret_got,
                                             struct engine_error *ret_error)
{
	/* the deadline is checked in each call, because a server may send bytes without end */
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
			                "the connection was closed before the end of the answer");
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

#define WORDS_MAX 65536 /* bytes of a reply that is not a value */

/* A command that has been sent and its reply. */
struct exchange {
	const struct timespec *deadline;
	struct engine_error *error;
	enum redis_step step;
	bool heard; /* a byte of the reply was received */
};

void redis_add_bytes(struct redis_command *command, const void *bytes, size_t size)
{
	command->words[command->count] = bytes;
	command->sizes[command->count] = size;
	command->count++;
}

void redis_add(struct redis_command *command, const char *word)
{
	redis_add_bytes(command, word, strlen(word));
}

/* Sends a command. The buffer of AUTH is zeroed before it is freed, because it contains the password. */
static enum engine_answer send_command(struct redis_session *session, const struct redis_command *command,
                                       struct exchange *exchange)
{
	const char *words[REDIS_WORDS_MAX];
	char *text = NULL;
	long long size;
	enum engine_answer answer;

	memcpy(words, command->words, sizeof(words));
	size = redisFormatCommandArgv(&text, command->count, words, command->sizes);
	if (size < 0) {
		transport_words(&session->transport, exchange->error, "out of memory");
		return ENGINE_BROKEN;
	}
	answer = connection_send(session->connection, text, (size_t)size, exchange->deadline, exchange->error);
	if (exchange->step == REDIS_STEP_LOGIN) {
		explicit_bzero(text, (size_t)size);
	}
	redisFreeCommand(text);
	return answer;
}

/*
 * Checks the received part of a reply. `head` has its first bytes, and `come` is the size so far. The check precedes
 * the parser, so that memory of the announced size is allocated only for valid replies.
 */
static enum engine_answer judge_start(const struct redis_session *session, const char *head, size_t size, size_t come,
                                      struct engine_error *error)
{
	switch (redis_reply_start(head, size)) {
	case REDIS_START_TOO_LARGE:
		transport_words(&session->transport, error, "the value has more than %u bytes", ENGINE_VALUE_MAX);
		return ENGINE_TOO_LARGE;
	case REDIS_START_FOREIGN:
		break;
	default:
		if (head[0] == '$' || come <= WORDS_MAX) {
			return ENGINE_DONE;
		}
		break;
	}
	transport_words(&session->transport, error, "the server does not speak the protocol of Redis");
	return ENGINE_BROKEN;
}

/* judge_start() limits the size of the reply, because the buffer of hiredis grows without a limit. */
static enum engine_answer receive_reply(struct redis_session *session, struct exchange *exchange, redisReader *reader,
                                        redisReply **ret_reply)
{
	char head[16];
	size_t head_size = 0;
	size_t come = 0;
	void *reply = NULL;

	while (reply == NULL) {
		size_t got = 0;
		size_t wanted;
		enum engine_answer answer = connection_receive(session->connection, session->chunk, REDIS_CHUNK,
		                                               exchange->deadline, &got, exchange->error);

		if (answer != ENGINE_DONE) {
			return answer;
		}
		exchange->heard = true;
		come += got;
		wanted = got < sizeof(head) - head_size ? got : sizeof(head) - head_size;
		memcpy(head + head_size, session->chunk, wanted);
		head_size += wanted;
		answer = judge_start(session, head, head_size, come, exchange->error);
		if (answer != ENGINE_DONE) {
			return answer;
		}
		if (redisReaderFeed(reader, session->chunk, got) != REDIS_OK ||
		    redisReaderGetReply(reader, &reply) != REDIS_OK) {
			transport_words(&session->transport, exchange->error,
			                "the server does not speak the protocol of Redis (%s)", reader->errstr);
			return ENGINE_BROKEN;
		}
	}
	*ret_reply = reply;
	return ENGINE_DONE;
}

/*
 * Sends a command and receives its reply. Bytes after the reply are an error, because they would be taken for the reply
 * to the next command. The server's own text is shown only for commands, because after AUTH it may contain the
 * password.
 */
static enum engine_answer ask_once(struct redis_session *session, const struct redis_command *command,
                                   struct exchange *exchange, redisReply **ret_reply)
{
	redisReader *reader;
	redisReply *reply = NULL;
	enum engine_answer answer = send_command(session, command, exchange);
	const char *words;

	/* a reply is read even after ENGINE_BROKEN: a server that rejects a command sends the reason, then closes */
	if (answer != ENGINE_DONE && answer != ENGINE_BROKEN) {
		return answer;
	}
	reader = redisReaderCreate();
	if (reader == NULL) {
		return ENGINE_BROKEN;
	}
	answer = receive_reply(session, exchange, reader, &reply);
	if (answer == ENGINE_DONE && reader->pos < reader->len) {
		freeReplyObject(reply);
		transport_words(&session->transport, exchange->error, "the server sent more than one answer");
		answer = ENGINE_BROKEN;
	}
	redisReaderFree(reader);
	if (answer != ENGINE_DONE || reply->type != REDIS_REPLY_ERROR) {
		*ret_reply = reply;
		return answer;
	}
	answer = redis_reply_error(reply->str, exchange->step, &words);
	if (words == NULL || exchange->step == REDIS_STEP_COMMAND) {
		transport_words(&session->transport, exchange->error, "%s%s%s", words != NULL ? words : "",
		                words != NULL ? ": " : "", reply->str);
	} else {
		transport_words(&session->transport, exchange->error, "%s", words);
	}
	freeReplyObject(reply);
	return answer;
}

/* Closes the connection and resets `only_read`, because the next connection may have the permission. */
void redis_drop(struct redis_session *session)
{
	connection_close(session->connection);
	session->connection = NULL;
	session->only_read = false;
}

/* Sends AUTH or SELECT on a new connection. The content of a reply other than an error is ignored. */
static enum engine_answer send_introduction(struct redis_session *session, const struct redis_command *command,
                                            enum redis_step step, const struct exchange *of)
{
	struct exchange exchange = {.deadline = of->deadline, .error = of->error, .step = step};
	redisReply *reply = NULL;
	enum engine_answer answer = ask_once(session, command, &exchange, &reply);

	if (answer == ENGINE_DONE) {
		freeReplyObject(reply);
	}
	return answer;
}

/* AUTH with a user name requires Redis 6; without one, the password is that of the default user. */
static enum engine_answer connect_to(struct redis_session *session, const struct exchange *exchange)
{
	struct redis_command login = {.count = 0};
	struct redis_command select = {.count = 0};
	char number[16];
	enum engine_answer answer =
	    connection_open(&session->transport, exchange->deadline, &session->connection, exchange->error);

	if (answer == ENGINE_DONE && session->transport.password != NULL) {
		redis_add(&login, "AUTH");
		if (session->transport.user != NULL) {
			redis_add(&login, session->transport.user);
		}
		redis_add(&login, session->transport.password);
		answer = send_introduction(session, &login, REDIS_STEP_LOGIN, exchange);
	}
	if (answer == ENGINE_DONE && session->transport.address.database != 0) {
		(void)snprintf(number, sizeof(number), "%u", session->transport.address.database);
		redis_add(&select, "SELECT");
		redis_add(&select, number);
		answer = send_introduction(session, &select, REDIS_STEP_DATABASE, exchange);
	}
	return answer;
}

/*
 * Returns whether the connection has to be closed. ENGINE_REFUSED is among these: a master that became a replica
 * refuses writes on its open connections, and a new connection to the same name may reach the new master.
 */
static bool has_ended(enum engine_answer answer)
{
	return answer == ENGINE_BROKEN || answer == ENGINE_SLOW || answer == ENGINE_UNREACHABLE ||
	       answer == ENGINE_TOO_LARGE || answer == ENGINE_REFUSED;
}

/* Tries at most twice. A server that closes the second connection too is broken. */
enum engine_answer redis_ask(struct redis_session *session, const struct redis_command *command,
                             const struct timespec *deadline, redisReply **ret_reply, struct engine_error *error)
{
	bool stood = session->connection != NULL && !connection_is_stale(session->connection);

	if (!stood) {
		redis_drop(session);
	}
	for (;;) {
		struct exchange exchange = {.deadline = deadline, .error = error, .step = REDIS_STEP_COMMAND};
		enum engine_answer answer = ENGINE_DONE;

		if (session->connection == NULL) {
			answer = connect_to(session, &exchange);
			if (answer != ENGINE_DONE) { /* without AUTH and SELECT the connection cannot be used */
				redis_drop(session);
				return answer;
			}
		}
		answer = ask_once(session, command, &exchange, ret_reply);
		if (has_ended(answer)) {
			redis_drop(session);
		}
		if (answer != ENGINE_BROKEN || !stood || exchange.heard) {
			return answer;
		}
		stood = false;
		error->text[0] = '\0';
	}
}
