/* SPDX-License-Identifier: MIT */
#include "agent/engine/redis_session.h"

#include "agent/engine/kind.h"
#include "agent/engine/transport.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A command that has been sent and its reply. */
struct exchange {
	const struct timespec *deadline;
	struct engine_error *error;
	enum redis_step step;
	bool heard; /* a byte of the reply was received */
};

/* Writes the error text for a code of libcurl. */
static enum engine_answer tell_code(const struct redis_session *session, const struct exchange *exchange, CURLcode code)
{
	return transport_tell(&session->transport, session->handle, code, exchange->error);
}

/*
 * Connects with an HTTP URL, which libcurl does not send in this mode. For a Unix socket its host is not used.
 * Connecting includes the check of certificates and host names, within the same deadline.
 */
static enum engine_answer open_connection(struct redis_session *session, const struct exchange *exchange)
{
	const struct engine_address *address = &session->transport.address;
	char url[ADDRESS_HOST_MAX + 32];
	CURLcode code;

	session->handle = curl_easy_init();
	if (session->handle == NULL) {
		return tell_code(session, exchange, CURLE_OUT_OF_MEMORY);
	}
	(void)snprintf(url, sizeof(url), "%s://%s:%u", address->tls ? "https" : "http",
	               address->socket[0] != '\0' ? "localhost" : address->host,
	               address->socket[0] != '\0' ? 80 : address->port);
	transport_handle(&session->transport, session->handle);
	transport_limit(session->handle, exchange->deadline);
	curl_easy_setopt(session->handle, CURLOPT_URL, url);
	curl_easy_setopt(session->handle, CURLOPT_CONNECT_ONLY, 1L);
	curl_easy_setopt(session->handle, CURLOPT_SSL_ENABLE_ALPN, 0L);
	code = curl_easy_perform(session->handle);
	if (code == CURLE_OK) {
		code = curl_easy_getinfo(session->handle, CURLINFO_ACTIVESOCKET, &session->socket);
	}
	return code == CURLE_OK ? ENGINE_DONE : tell_code(session, exchange, code);
}

/*
 * Returns whether the server has closed the connection or sent unexpected bytes. Between two commands nothing should be
 * readable.
 */
static bool is_stale(const struct redis_session *session)
{
	struct pollfd at = {.fd = session->socket, .events = POLLIN};

	return poll(&at, 1, 0) != 0;
}

/* Waits until the socket is ready or the deadline has passed. */
static enum engine_answer wait_for(const struct redis_session *session, short events, const struct exchange *exchange)
{
	struct pollfd at = {.fd = session->socket, .events = events};
	unsigned left = engine_left_ms(exchange->deadline);
	int ready = left > 0 ? poll(&at, 1, (int)left) : 0;

	if (ready > 0 || (ready < 0 && errno == EINTR)) {
		return ENGINE_DONE;
	}
	transport_words(&session->transport, exchange->error, "no answer in time");
	return ENGINE_SLOW;
}

/* Sends all bytes, in several steps because a large value may fill the socket's buffer. */
static enum engine_answer send_bytes(struct redis_session *session, const char *bytes, size_t size,
                                     const struct exchange *exchange)
{
	enum engine_answer answer = ENGINE_DONE;

	for (size_t done = 0; done < size && answer == ENGINE_DONE;) {
		size_t sent = 0;
		CURLcode code = curl_easy_send(session->handle, bytes + done, size - done, &sent);

		if (code == CURLE_AGAIN) {
			answer = wait_for(session, POLLOUT, exchange);
		} else if (code != CURLE_OK) {
			answer = tell_code(session, exchange, code);
		}
		done += sent;
	}
	return answer;
}

/* Receives at least one byte. The deadline is checked in each call, because a server may send bytes without end. */
static enum engine_answer receive_bytes(struct redis_session *session, const struct exchange *exchange, size_t *ret_got)
{
	for (;;) {
		CURLcode code = CURLE_AGAIN;

		if (engine_left_ms(exchange->deadline) > 0) {
			code = curl_easy_recv(session->handle, session->chunk, REDIS_CHUNK, ret_got);
		}
		if (code == CURLE_AGAIN) {
			enum engine_answer answer = wait_for(session, POLLIN, exchange);

			if (answer != ENGINE_DONE) {
				return answer;
			}
		} else if (code != CURLE_OK) {
			return tell_code(session, exchange, code);
		} else if (*ret_got > 0) {
			return ENGINE_DONE;
		} else {
			transport_words(&session->transport, exchange->error,
			                "the connection was closed before the end of the answer");
			return ENGINE_BROKEN;
		}
	}
}

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
	answer = send_bytes(session, text, (size_t)size, exchange);
	if (exchange->step == REDIS_STEP_LOGIN) {
		explicit_bzero(text, (size_t)size);
	}
	redisFreeCommand(text);
	return answer;
}

/* Checks the received part of a reply before hiredis parses it. */
static enum engine_answer judge_start(const struct redis_session *session, const redisReader *reader,
                                      struct engine_error *error)
{
	switch (redis_reply_start(reader->buf, reader->len)) {
	case REDIS_START_FINE:
		return ENGINE_DONE;
	case REDIS_START_TOO_LARGE:
		transport_words(&session->transport, error, "the value has more than %u bytes", ENGINE_VALUE_MAX);
		return ENGINE_TOO_LARGE;
	default:
		transport_words(&session->transport, error, "the server does not speak the protocol of Redis");
		return ENGINE_BROKEN;
	}
}

static enum engine_answer receive_reply(struct redis_session *session, struct exchange *exchange, redisReader *reader,
                                        redisReply **ret_reply)
{
	void *reply = NULL;

	while (reply == NULL) {
		size_t got = 0;
		enum engine_answer answer = receive_bytes(session, exchange, &got);
		bool fed = answer == ENGINE_DONE && redisReaderFeed(reader, session->chunk, got) == REDIS_OK;

		exchange->heard |= answer == ENGINE_DONE;
		if (fed) {
			answer = judge_start(session, reader, exchange->error);
		}
		if (answer != ENGINE_DONE) {
			return answer;
		}
		if (!fed || redisReaderGetReply(reader, &reply) != REDIS_OK) {
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
	curl_easy_cleanup(session->handle);
	session->handle = NULL;
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
	enum engine_answer answer = open_connection(session, exchange);

	if (answer == ENGINE_DONE && session->transport.password != NULL) {
		redis_add(&login, "AUTH");
		if (session->transport.options->user != NULL) {
			redis_add(&login, session->transport.options->user);
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
	bool stood = session->handle != NULL && !is_stale(session);

	if (!stood) {
		redis_drop(session);
	}
	for (;;) {
		struct exchange exchange = {.deadline = deadline, .error = error, .step = REDIS_STEP_COMMAND};
		enum engine_answer answer = ENGINE_DONE;

		if (session->handle == NULL) {
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
