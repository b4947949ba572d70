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
 * Uses only GET (or GETEX, which renews the expiry) and SET, and AUTH and SELECT after connecting, so that an ACL can
 * forbid all other commands. A cut connection is retried once if it was idle before, because servers close idle
 * connections.
 */
#include "agent/engine/kind.h"
#include "agent/engine/redis_reply.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 65536

struct engine_redis {
	struct engine engine;
	CURL *handle; /* NULL: no connection */
	curl_socket_t socket;
	char chunk[CHUNK_BYTES];
};

/* A command on its way, and what is known of its reply. */
struct exchange {
	struct engine_redis *redis;
	const struct timespec *deadline;
	struct engine_error *error;
	enum redis_step step;
	bool heard; /* a byte of the reply was received */
};

static void drop_connection(struct engine_redis *redis)
{
	curl_easy_cleanup(redis->handle);
	redis->handle = NULL;
}

/* Connects with an HTTP URL, which libcurl does not send in this mode. For a Unix socket its host is not used. */
static enum engine_answer open_connection(struct exchange *exchange)
{
	struct engine_redis *redis = exchange->redis;
	const struct engine_address *address = &redis->engine.address;
	bool is_local = address->socket[0] != '\0';
	char url[ADDRESS_HOST_MAX + 32];
	CURLcode code;

	redis->handle = curl_easy_init();
	if (redis->handle == NULL) {
		engine_tell(&redis->engine, exchange->error, "out of memory");
		return ENGINE_BROKEN;
	}
	(void)snprintf(url, sizeof(url), "%s://%s:%u", address->tls ? "https" : "http",
	               is_local ? "localhost" : address->host, is_local ? 80 : address->port);
	engine_prepare(&redis->engine, redis->handle, exchange->deadline);
	curl_easy_setopt(redis->handle, CURLOPT_URL, url);
	curl_easy_setopt(redis->handle, CURLOPT_CONNECT_ONLY, 1L);
	curl_easy_setopt(redis->handle, CURLOPT_SSL_ENABLE_ALPN, 0L);
	code = curl_easy_perform(redis->handle);
	if (code == CURLE_OK) {
		code = curl_easy_getinfo(redis->handle, CURLINFO_ACTIVESOCKET, &redis->socket);
	}
	return code == CURLE_OK ? ENGINE_DONE : engine_failed(&redis->engine, redis->handle, code, exchange->error);
}

/* Between two commands nothing should be readable: the server has closed the connection or sent unexpected bytes. */
static bool is_stale(const struct engine_redis *redis)
{
	struct pollfd at = {.fd = redis->socket, .events = POLLIN};

	return poll(&at, 1, 0) != 0;
}

static enum engine_answer wait_for(const struct exchange *exchange, short events)
{
	struct pollfd at = {.fd = exchange->redis->socket, .events = events};
	unsigned left = engine_left_ms(exchange->deadline);
	int ready = left > 0 ? poll(&at, 1, (int)left) : 0;

	if (ready > 0 || (ready < 0 && errno == EINTR)) {
		return ENGINE_DONE;
	}
	engine_tell(&exchange->redis->engine, exchange->error, "no answer in time");
	return ENGINE_SLOW;
}

static enum engine_answer send_bytes(const struct exchange *exchange, const char *bytes, size_t size)
{
	struct engine_redis *redis = exchange->redis;
	enum engine_answer answer = ENGINE_DONE;

	for (size_t done = 0; done < size && answer == ENGINE_DONE;) {
		size_t sent = 0;
		CURLcode code = curl_easy_send(redis->handle, bytes + done, size - done, &sent);

		if (code == CURLE_AGAIN) {
			answer = wait_for(exchange, POLLOUT);
		} else if (code != CURLE_OK) {
			answer = engine_failed(&redis->engine, redis->handle, code, exchange->error);
		}
		done += sent;
	}
	return answer;
}

/* Receives at least one byte. The deadline is checked in each call, because a server may send bytes without end. */
static enum engine_answer receive_bytes(struct exchange *exchange, size_t *ret_got)
{
	struct engine_redis *redis = exchange->redis;
	CURLcode code = CURLE_AGAIN;

	while (code == CURLE_AGAIN) {
		if (engine_left_ms(exchange->deadline) > 0) {
			code = curl_easy_recv(redis->handle, redis->chunk, CHUNK_BYTES, ret_got);
		}
		if (code == CURLE_AGAIN && wait_for(exchange, POLLIN) != ENGINE_DONE) {
			return ENGINE_SLOW;
		}
	}
	if (code != CURLE_OK) {
		return engine_failed(&redis->engine, redis->handle, code, exchange->error);
	}
	if (*ret_got == 0) {
		engine_tell(&redis->engine, exchange->error, "the connection was closed before the end of the answer");
		return ENGINE_BROKEN;
	}
	exchange->heard = true;
	return ENGINE_DONE;
}

/* Bytes after the reply are an error, because they would be taken for the reply to the next command. */
static enum engine_answer receive_reply(struct exchange *exchange, redisReader *reader, redisReply **ret_reply)
{
	struct engine_redis *redis = exchange->redis;
	void *reply = NULL;

	while (reply == NULL) {
		size_t got = 0;
		enum engine_answer answer = receive_bytes(exchange, &got);

		if (answer != ENGINE_DONE) {
			return answer;
		}
		if (redisReaderFeed(reader, redis->chunk, got) == REDIS_OK) {
			answer = redis_reply_start(reader->buf, reader->len);
		}
		if (answer == ENGINE_TOO_LARGE) {
			engine_tell(&redis->engine, exchange->error, "the value has more than %u bytes",
			            ENGINE_VALUE_MAX);
			return answer;
		}
		if (answer != ENGINE_DONE || redisReaderGetReply(reader, &reply) != REDIS_OK) {
			engine_tell(&redis->engine, exchange->error, "the server does not speak the protocol of Redis");
			return ENGINE_BROKEN;
		}
	}
	if (reader->pos < reader->len) {
		freeReplyObject(reply);
		engine_tell(&redis->engine, exchange->error, "the server sent more than one answer");
		return ENGINE_BROKEN;
	}
	*ret_reply = reply;
	return ENGINE_DONE;
}

/* The server's own text is shown only for commands, because after AUTH it may contain the password. */
static enum engine_answer judge_error(const struct exchange *exchange, const char *text)
{
	const char *words;
	enum engine_answer answer = redis_reply_error(text, exchange->step, &words);

	if (words == NULL || exchange->step == REDIS_STEP_COMMAND) {
		engine_tell(&exchange->redis->engine, exchange->error, "%s%s%s", words != NULL ? words : "",
		            words != NULL ? ": " : "", text);
	} else {
		engine_tell(&exchange->redis->engine, exchange->error, "%s", words);
	}
	return answer;
}

/*
 * Sends a command, which hiredis has formatted to `size` bytes, and receives its reply. On ENGINE_DONE the reply is no
 * error, and the caller frees it.
 */
static enum engine_answer ask_once(struct exchange *exchange, const char *command, int size, redisReply **ret_reply)
{
	redisReply *reply = NULL;
	redisReader *reader = redisReaderCreate();
	enum engine_answer answer;

	if (size < 0 || reader == NULL) {
		redisReaderFree(reader);
		engine_tell(&exchange->redis->engine, exchange->error, "out of memory");
		return ENGINE_SLOW;
	}
	answer = send_bytes(exchange, command, (size_t)size);
	/* a reply is read even after ENGINE_BROKEN: a server that rejects a command sends the reason, then closes */
	if (answer != ENGINE_DONE && answer != ENGINE_BROKEN) {
		redisReaderFree(reader);
		return answer;
	}
	answer = receive_reply(exchange, reader, &reply);
	redisReaderFree(reader);
	if (answer == ENGINE_DONE && reply->type == REDIS_REPLY_ERROR) {
		answer = judge_error(exchange, reply->str);
		freeReplyObject(reply);
		return answer;
	}
	*ret_reply = reply;
	return answer;
}

/* Sends AUTH or SELECT on a new connection. The bytes of AUTH are zeroed, because they contain the password. */
static enum engine_answer introduce(const struct exchange *of, char *command, int size, enum redis_step step)
{
	struct exchange exchange = *of;
	redisReply *reply = NULL;
	enum engine_answer answer;

	exchange.step = step;
	answer = ask_once(&exchange, command, size, &reply);
	freeReplyObject(reply);
	if (size > 0) {
		explicit_bzero(command, (size_t)size);
		redisFreeCommand(command);
	}
	return answer;
}

/* AUTH with a user name requires Redis 6; without one, the password is that of the default user. */
static enum engine_answer connect_to(struct exchange *exchange)
{
	const struct engine *engine = &exchange->redis->engine;
	const char *user = engine->options->user;
	enum engine_answer answer = open_connection(exchange);
	char *command = NULL;
	int size;

	if (answer == ENGINE_DONE && engine->password != NULL) {
		size = user != NULL ? redisFormatCommand(&command, "AUTH %s %s", user, engine->password)
		                    : redisFormatCommand(&command, "AUTH %s", engine->password);
		answer = introduce(exchange, command, size, REDIS_STEP_LOGIN);
	}
	if (answer == ENGINE_DONE && engine->address.database != 0) {
		size = redisFormatCommand(&command, "SELECT %u", engine->address.database);
		answer = introduce(exchange, command, size, REDIS_STEP_DATABASE);
	}
	if (answer != ENGINE_DONE) { /* without AUTH and SELECT the connection cannot be used */
		drop_connection(exchange->redis);
	}
	return answer;
}

/*
 * Tries at most twice. The connection stays open only after a reply. It is also closed after ENGINE_REFUSED: a master
 * that became a replica refuses writes, and a new connection to the same name may reach the new master. Frees the
 * command. Returns NULL if the answer is not ENGINE_DONE.
 */
static redisReply *ask(struct engine *engine, char *command, int size, const struct timespec *deadline,
                       enum engine_answer *ret_answer, struct engine_error *error)
{
	struct engine_redis *redis = (struct engine_redis *)engine;
	bool stood = redis->handle != NULL && !is_stale(redis);
	redisReply *reply = NULL;
	bool is_done = false;

	if (!stood) {
		drop_connection(redis);
	}
	while (!is_done) {
		struct exchange exchange = {redis, deadline, error, REDIS_STEP_COMMAND, false};
		enum engine_answer answer = redis->handle == NULL ? connect_to(&exchange) : ENGINE_DONE;

		if (answer == ENGINE_DONE) {
			answer = ask_once(&exchange, command, size, &reply);
		}
		if (answer != ENGINE_DONE && answer != ENGINE_FULL && answer != ENGINE_UNSUITED) {
			drop_connection(redis);
		}
		is_done = answer != ENGINE_BROKEN || !stood || exchange.heard;
		stood = false;
		error->text[0] = is_done ? error->text[0] : '\0';
		*ret_answer = answer;
	}
	redisFreeCommand(command);
	return reply;
}

/* Copies a value out of a reply, and frees the reply. */
static enum engine_answer take_value(struct engine *engine, redisReply *reply, void **ret_value, size_t *ret_size,
                                     struct engine_error *error)
{
	enum engine_answer answer = ENGINE_DONE;
	void *value = NULL;

	if (reply->type == REDIS_REPLY_NIL) {
		answer = ENGINE_ABSENT;
	} else if (reply->type != REDIS_REPLY_STRING) {
		engine_tell(engine, error, "unexpected type of reply");
		answer = ENGINE_UNSUITED;
	} else if ((value = malloc((size_t)reply->len + 1)) == NULL) {
		engine_tell(engine, error, "out of memory");
		answer = ENGINE_BROKEN;
	} else {
		memcpy(value, reply->str, (size_t)reply->len);
		*ret_value = value;
		*ret_size = (size_t)reply->len;
	}
	freeReplyObject(reply);
	return answer;
}

/* GETEX reads a value and renews its expiry. */
static enum engine_answer redis_get(struct engine *engine, const struct engine_name *name,
                                    const struct timespec *deadline, void **ret_value, size_t *ret_size,
                                    struct engine_error *error)
{
	unsigned expire_s = engine->options->expire_s;
	char key[ENGINE_NAME_MAX];
	size_t length = engine_name_redis(engine->prefix, name, key);
	char *command = NULL;
	int size = expire_s != 0 ? redisFormatCommand(&command, "GETEX %b EX %u", key, length, expire_s)
	                         : redisFormatCommand(&command, "GET %b", key, length);
	enum engine_answer answer;
	redisReply *reply = ask(engine, command, size, deadline, &answer, error);

	return reply != NULL ? take_value(engine, reply, ret_value, ret_size, error) : answer;
}

/* SET has EX, because with a separate EXPIRE a value would never expire if the agent ended between the two. */
static enum engine_answer redis_put(struct engine *engine, const struct engine_name *name, const void *value,
                                    size_t bytes, const struct timespec *deadline, struct engine_error *error)
{
	unsigned expire_s = engine->options->expire_s;
	char key[ENGINE_NAME_MAX];
	size_t length = engine_name_redis(engine->prefix, name, key);
	char *command = NULL;
	int size = expire_s != 0 ? redisFormatCommand(&command, "SET %b %b EX %u", key, length, value, bytes, expire_s)
	                         : redisFormatCommand(&command, "SET %b %b", key, length, value, bytes);
	enum engine_answer answer;
	redisReply *reply = ask(engine, command, size, deadline, &answer, error);

	if (reply != NULL && (reply->type != REDIS_REPLY_STATUS || strcmp(reply->str, "OK") != 0)) {
		engine_tell(engine, error, "unexpected type of reply");
		answer = ENGINE_UNSUITED;
	}
	freeReplyObject(reply);
	return answer;
}

static void redis_close(struct engine *engine)
{
	drop_connection((struct engine_redis *)engine);
}

/* Does not connect, because the agent has to start even if the engine is down. */
static int redis_open(struct engine *engine, struct engine_error *error)
{
	char place[ADDRESS_HOST_MAX + 16];

	(void)error;
	engine_address_place(&engine->address, place, sizeof(place));
	engine_say(engine, "Redis at %s%s, database %u, prefix %s", place, engine->address.tls ? " (TLS)" : "",
	           engine->address.database, engine->prefix);
	return 0;
}

const struct engine_kind engine_kind_redis = {
    .size = sizeof(struct engine_redis),
    .open = redis_open,
    .close = redis_close,
    .get = redis_get,
    .put = redis_put,
};
