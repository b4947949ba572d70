/* SPDX-License-Identifier: MIT */
/*
 * redis: Redis and Valkey as the engine, over a Unix socket, TCP or TLS
 *
 * hiredis formats commands and parses replies. libcurl connects (CURLOPT_CONNECT_ONLY) and transports the bytes,
 * because older versions of hiredis do not support TLS.
 *
 *     no connection --connect, AUTH, SELECT--> ready --command, its whole reply--> ready
 *           ^                                    |
 *           +------- anything else --------------+
 *
 * Uses only GET and SET, and AUTH and SELECT after connecting, so that an ACL can
 * forbid all other commands. A connection that the server has closed while it was idle is made again.
 */
#include "agent/engine/kind.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 16384
#define LENGTH_MAX  32    /* bytes of the line with the length of a value */
#define WORDS_MAX   65536 /* bytes of a reply that is not a value */

/* What a command is for: some errors mean something else during the steps after connecting. */
enum step { LOGIN, DATABASE, COMMAND };

static enum engine_answer wait_for(const struct engine *engine, short events)
{
	struct pollfd at = {.fd = engine->socket, .events = events};
	unsigned left = engine_left_ms(engine);

	/* after an error, which is an interruption, the caller tries again */
	if (left > 0 && poll(&at, 1, (int)left) != 0) {
		return ENGINE_DONE;
	}
	return engine_tell(engine, ENGINE_SLOW, "no answer in time");
}

static enum engine_answer send_command(struct engine *engine, const char *bytes, size_t size)
{
	while (size > 0) {
		size_t sent = 0;
		CURLcode code = curl_easy_send(engine->handle, bytes, size, &sent);

		if (code == CURLE_AGAIN && wait_for(engine, POLLOUT) != ENGINE_DONE) {
			return ENGINE_SLOW;
		}
		if (code != CURLE_OK && code != CURLE_AGAIN) {
			return engine_failed(engine, code);
		}
		bytes += sent;
		size -= sent;
	}
	return ENGINE_DONE;
}

/*
 * Judges the beginning of a reply. hiredis checks its form, but would buffer one of any length, and would search a line
 * without an end again and again. Arrays and the types of RESP3 are rejected, because hiredis allocates memory for the
 * announced number of elements.
 */
static enum engine_answer judge_start(const char *bytes, size_t size)
{
	if (bytes[0] != '$') {
		return size > WORDS_MAX || strchr("+-:", bytes[0]) == NULL ? ENGINE_BROKEN : ENGINE_DONE;
	}
	if (size >= LENGTH_MAX && memmem(bytes, LENGTH_MAX, "\r\n", 2) == NULL) {
		return ENGINE_BROKEN;
	}
	return strtoll(bytes + 1, NULL, 10) > ENGINE_VALUE_MAX ? ENGINE_TOO_LARGE : ENGINE_DONE;
}

/*
 * Receives one reply. The deadline is checked before each read, because a server may send bytes without end. Bytes
 * after the reply are an error, because they would be taken for the reply to the next command.
 */
static enum engine_answer receive_reply(struct engine *engine, redisReader *reader, redisReply **ret_reply)
{
	char chunk[CHUNK_BYTES];
	void *reply = NULL;

	while (reply == NULL) {
		enum engine_answer answer = ENGINE_BROKEN;
		CURLcode code = CURLE_AGAIN;
		size_t got = 0;

		if (engine_left_ms(engine) > 0) {
			code = curl_easy_recv(engine->handle, chunk, sizeof(chunk), &got);
		}
		if (code == CURLE_AGAIN) {
			if (wait_for(engine, POLLIN) != ENGINE_DONE) {
				return ENGINE_SLOW;
			}
			continue;
		}
		if (code != CURLE_OK) {
			return engine_failed(engine, code);
		}
		if (got == 0) {
			return engine_tell(engine, ENGINE_BROKEN,
			                   "the connection was closed before the end of the answer");
		}
		if (redisReaderFeed(reader, chunk, got) == REDIS_OK) {
			answer = judge_start(reader->buf, reader->len);
		}
		if (answer == ENGINE_TOO_LARGE) {
			return engine_tell(engine, answer, "the value has more than %u bytes", ENGINE_VALUE_MAX);
		}
		if (answer != ENGINE_DONE || redisReaderGetReply(reader, &reply) != REDIS_OK) {
			return engine_tell(engine, ENGINE_BROKEN, "the server does not speak the protocol of Redis");
		}
	}
	if (reader->pos < reader->len) {
		freeReplyObject(reply);
		return engine_tell(engine, ENGINE_BROKEN, "the server sent more than one answer");
	}
	*ret_reply = reply;
	return ENGINE_DONE;
}

/* The first words of a Redis error identify it. */
static const struct reply {
	const char *begins;
	enum engine_answer answer;
	const char *words;
} replies[] = {
    {"OOM ", ENGINE_FULL, "no space left (maxmemory, and maxmemory-policy noeviction)"},
    {"NOAUTH", ENGINE_REFUSED, "authentication required: --password-file, with ACLs also --user"},
    {"WRONGPASS", ENGINE_REFUSED, "wrong user or password"},
    {"NOPERM", ENGINE_REFUSED, "permission denied"},
    {"READONLY", ENGINE_REFUSED, "the server is a read-only replica: use the address of the master"},
    {"DENIED", ENGINE_REFUSED, "protected mode: connections from other machines require a password"},
    {"WRONGTYPE", ENGINE_UNSUITED, "the name is used by other data: use another --prefix"},
    {"MOVED", ENGINE_UNSUITED, "the server is a cluster node, and clusters are not supported: use a proxy"},
    {"ASK ", ENGINE_UNSUITED, "the server is a cluster node, and clusters are not supported: use a proxy"},
    {"ERR unknown command", ENGINE_UNSUITED, "the server lacks a required command: GET, SET"},
    {"ERR string exceeds maximum", ENGINE_TOO_LARGE, "the value is larger than proto-max-bulk-len"},
    {"ERR Protocol error: invalid bulk", ENGINE_TOO_LARGE, "the value is larger than proto-max-bulk-len"},
    {"", ENGINE_BROKEN, "error"},
};

/* The server's own text is shown only for commands, because after AUTH it may contain the password. */
static enum engine_answer judge_error(const struct engine *engine, const char *text, enum step step)
{
	const struct reply *reply = replies;
	bool is_err = strncmp(text, "ERR ", 4) == 0;

	if (is_err && step == LOGIN) {
		return engine_tell(engine, ENGINE_REFUSED, "wrong user or password");
	}
	if (is_err && step == DATABASE) {
		return engine_tell(engine, ENGINE_UNSUITED, "no such database (?db=)");
	}
	while (strncmp(text, reply->begins, strlen(reply->begins)) != 0) {
		reply++;
	}
	return step == COMMAND ? engine_tell(engine, reply->answer, "%s: %s", reply->words, text)
	                       : engine_tell(engine, reply->answer, "%s", reply->words);
}

/* Sends a command and receives its reply. On ENGINE_DONE it is no error, and the caller frees it unless it is NULL. */
static enum engine_answer run_command(struct engine *engine, enum step step, redisReply **ret_reply, const char *format,
                                      ...)
{
	redisReader *reader = redisReaderCreate();
	enum engine_answer answer = ENGINE_BROKEN;
	redisReply *reply = NULL;
	char *command = NULL;
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = redisvFormatCommand(&command, format, arguments);
	va_end(arguments);
	if (size < 0 || reader == NULL) {
		(void)engine_tell(engine, ENGINE_BROKEN, "out of memory");
	} else {
		answer = send_command(engine, command, (size_t)size);
		/* a reply is read even after ENGINE_BROKEN: a server that rejects a command says why, then closes */
		if (answer == ENGINE_DONE || answer == ENGINE_BROKEN) {
			answer = receive_reply(engine, reader, &reply);
		}
	}
	redisFreeCommand(command);
	redisReaderFree(reader);
	if (answer == ENGINE_DONE && reply->type == REDIS_REPLY_ERROR) {
		answer = judge_error(engine, reply->str, step);
	}
	if (answer == ENGINE_DONE && ret_reply != NULL) {
		*ret_reply = reply;
	} else {
		freeReplyObject(reply);
	}
	return answer;
}

static void drop_connection(struct engine *engine)
{
	curl_easy_cleanup(engine->handle);
	engine->handle = NULL;
}

/* Connects with an HTTP URL, which libcurl does not send in this mode. For a Unix socket its host is not used. */
static enum engine_answer open_connection(struct engine *engine)
{
	const struct engine_address *address = &engine->address;
	bool is_local = address->socket[0] != '\0';
	char url[ADDRESS_HOST_MAX + 32];
	CURLcode code;

	engine->handle = curl_easy_init();
	if (engine->handle == NULL) {
		return engine_tell(engine, ENGINE_BROKEN, "out of memory");
	}
	(void)snprintf(url, sizeof(url), "%s://%s:%u", address->tls ? "https" : "http",
	               is_local ? "localhost" : address->host, is_local ? 80 : address->port);
	engine_prepare(engine);
	curl_easy_setopt(engine->handle, CURLOPT_URL, url);
	curl_easy_setopt(engine->handle, CURLOPT_CONNECT_ONLY, 1L);
	curl_easy_setopt(engine->handle, CURLOPT_SSL_ENABLE_ALPN, 0L);
	code = curl_easy_perform(engine->handle);
	if (code == CURLE_OK) {
		code = curl_easy_getinfo(engine->handle, CURLINFO_ACTIVESOCKET, &engine->socket);
	}
	return code == CURLE_OK ? ENGINE_DONE : engine_failed(engine, code);
}

/* AUTH with a user name requires Redis 6; without one, the password is that of the default user. */
static enum engine_answer connect_to(struct engine *engine)
{
	const char *user = engine->options->user;
	enum engine_answer answer = open_connection(engine);

	if (answer == ENGINE_DONE && engine->password != NULL) {
		answer = user != NULL ? run_command(engine, LOGIN, NULL, "AUTH %s %s", user, engine->password)
		                      : run_command(engine, LOGIN, NULL, "AUTH %s", engine->password);
	}
	if (answer == ENGINE_DONE && engine->address.database != 0) {
		answer = run_command(engine, DATABASE, NULL, "SELECT %u", engine->address.database);
	}
	return answer;
}

/* Between two commands nothing should be readable: the server has closed the connection or sent unexpected bytes. */
static bool is_stale(const struct engine *engine)
{
	struct pollfd at = {.fd = engine->socket, .events = POLLIN};

	return poll(&at, 1, 0) != 0;
}

static enum engine_answer run_request(struct engine *engine, const struct engine_request *request,
                                      redisReply **ret_reply)
{
	char name[ENGINE_NAME_MAX];
	size_t length = engine_name_redis(engine->options->prefix, request->key, name);

	return run_command(engine, COMMAND, ret_reply, request->is_put ? "SET %b %b" : "GET %b", name, length,
	                   request->value, request->size);
}

static enum engine_answer take_reply(const struct engine *engine, redisReply *reply, struct engine_request *request)
{
	if (request->is_put && reply->type == REDIS_REPLY_STATUS && strcmp(reply->str, "OK") == 0) {
		return ENGINE_DONE;
	}
	if (!request->is_put && reply->type == REDIS_REPLY_NIL) {
		return ENGINE_ABSENT;
	}
	if (!request->is_put && reply->type == REDIS_REPLY_STRING) {
		request->value = reply->str; /* taken out of the reply, and not copied */
		request->size = (size_t)reply->len;
		reply->str = NULL;
		return ENGINE_DONE;
	}
	return engine_tell(engine, ENGINE_UNSUITED, "unexpected type of reply");
}

/*
 * The connection stays open only after a reply, with AUTH and SELECT done. It is also closed after ENGINE_REFUSED: a
 * master that became a replica refuses writes, and a new connection to the same name may reach the new master.
 */
enum engine_answer engine_redis_ask(struct engine *engine, struct engine_request *request)
{
	enum engine_answer answer;
	redisReply *reply = NULL;

	if (engine->handle != NULL && is_stale(engine)) {
		drop_connection(engine);
	}
	answer = engine->handle == NULL ? connect_to(engine) : ENGINE_DONE;
	if (answer != ENGINE_DONE) {
		drop_connection(engine);
		return answer;
	}
	answer = run_request(engine, request, &reply);
	if (answer != ENGINE_DONE && answer != ENGINE_FULL && answer != ENGINE_UNSUITED) {
		drop_connection(engine);
	}
	if (reply != NULL) {
		answer = take_reply(engine, reply, request);
		freeReplyObject(reply);
	}
	return answer;
}
