/* SPDX-License-Identifier: MIT */
/*
 * engine_redis: Redis and Valkey, over a Unix socket, TCP or TLS
 *
 * GET (GETEX where values expire, which renews), SET, EXISTS, PING; AUTH and SELECT when connecting, and nothing else, so that
 * its ACL can be tight. hiredis writes commands and reads replies; bytes go by engine_connection, which has TLS with every
 * version of hiredis.
 *
 *     no connection --connect, AUTH, SELECT--> ready --command, its whole reply--> ready
 *           ^                                    |
 *           +------- anything else --------------+     a connection that stood before is tried once more, if not one byte
 *                                                      of a reply had come: the server closes what is idle
 */
#include "agent/engine_connection.h"
#include "agent/engine_kind.h"
#include "agent/engine_name.h"
#include "agent/engine_redis_reply.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK     65536
#define WORDS_MAX 65536 /* of a reply that is no value */

struct engine_redis {
	struct engine engine;
	struct transport transport;
	char *prefix;
	unsigned expire_s;
	struct connection *connection; /* NULL: none */
	bool only_read;                /* on it renewing was refused: a replica's, or of a user without that right */
	char chunk[CHUNK];
};

struct command {
	int count;
	const char *words[5];
	size_t sizes[5];
};

/* One on its way. */
struct exchange {
	const struct timespec *deadline;
	struct engine_error *error;
	enum redis_step step;
	bool heard; /* a byte of the reply has come */
};

static void add_bytes(struct command *command, const void *bytes, size_t size)
{
	command->words[command->count] = bytes;
	command->sizes[command->count] = size;
	command->count++;
}

static void add(struct command *command, const char *word)
{
	add_bytes(command, word, strlen(word));
}

static enum engine_answer send_command(struct engine_redis *redis, const struct command *command,
                                       struct exchange *exchange)
{
	const char *words[5];
	char *text = NULL;
	long long size;
	enum engine_answer answer;

	memcpy(words, command->words, sizeof(words));
	size = redisFormatCommandArgv(&text, command->count, words, command->sizes);
	if (size < 0) {
		transport_words(&redis->transport, exchange->error, "no memory for a command");
		return ENGINE_BROKEN;
	}
	answer = connection_send(redis->connection, text, (size_t)size, exchange->deadline, exchange->error);
	if (exchange->step == REDIS_STEP_LOGIN) {
		explicit_bzero(text, (size_t)size);
	}
	redisFreeCommand(text);
	return answer;
}

/* What has come of a reply so far: is it one of ours? */
static enum engine_answer judge(const struct engine_redis *redis, const char *head, size_t size, size_t come,
                                struct engine_error *error)
{
	switch (redis_reply_start(head, size)) {
	case REDIS_START_TOO_LARGE:
		transport_words(&redis->transport, error, "a value of more than %u bytes", ENGINE_VALUE_MAX);
		return ENGINE_TOO_LARGE;
	case REDIS_START_FOREIGN:
		break;
	default:
		if (head[0] == '$' || come <= WORDS_MAX) {
			return ENGINE_DONE;
		}
		break;
	}
	transport_words(&redis->transport, error, "what answers there does not speak as Redis does");
	return ENGINE_BROKEN;
}

static enum engine_answer receive_reply(struct engine_redis *redis, struct exchange *exchange, redisReader *reader,
                                        redisReply **ret_reply)
{
	char head[16];
	size_t head_size = 0;
	size_t come = 0;
	void *reply = NULL;

	while (reply == NULL) {
		size_t got;
		size_t wanted;
		enum engine_answer answer = connection_receive(redis->connection, redis->chunk, CHUNK,
		                                               exchange->deadline, &got, exchange->error);

		if (answer != ENGINE_DONE) {
			return answer;
		}
		exchange->heard = true;
		come += got;
		wanted = got < sizeof(head) - head_size ? got : sizeof(head) - head_size;
		memcpy(head + head_size, redis->chunk, wanted);
		head_size += wanted;
		answer = judge(redis, head, head_size, come, exchange->error);
		if (answer != ENGINE_DONE) {
			return answer;
		}
		if (redisReaderFeed(reader, redis->chunk, got) != REDIS_OK ||
		    redisReaderGetReply(reader, &reply) != REDIS_OK) {
			transport_words(&redis->transport, exchange->error,
			                "what answers there does not speak as Redis does (%s)", reader->errstr);
			return ENGINE_BROKEN;
		}
	}
	*ret_reply = reply;
	return ENGINE_DONE;
}

/* A reply that is no error. What comes after it would be taken for the next command's. */
static enum engine_answer ask_once(struct engine_redis *redis, const struct command *command, struct exchange *exchange,
                                   redisReply **ret_reply)
{
	redisReader *reader;
	redisReply *reply = NULL;
	enum engine_answer answer = send_command(redis, command, exchange);
	const char *words;

	/* one that has had enough of a command says why, closes, and breaks our writing */
	if (answer != ENGINE_DONE && answer != ENGINE_BROKEN) {
		return answer;
	}
	reader = redisReaderCreate();
	if (reader == NULL) {
		return ENGINE_BROKEN;
	}
	answer = receive_reply(redis, exchange, reader, &reply);
	if (answer == ENGINE_DONE && reader->pos < reader->len) {
		freeReplyObject(reply);
		transport_words(&redis->transport, exchange->error, "it says more than it was asked");
		answer = ENGINE_BROKEN;
	}
	redisReaderFree(reader);
	if (answer != ENGINE_DONE || reply->type != REDIS_REPLY_ERROR) {
		*ret_reply = reply;
		return answer;
	}
	answer = redis_reply_error(reply->str, exchange->step, &words);
	if (words == NULL || exchange->step == REDIS_STEP_COMMAND) {
		transport_words(&redis->transport, exchange->error, "%s%s%s", words != NULL ? words : "",
		                words != NULL ? ": " : "", reply->str);
	} else {
		transport_words(&redis->transport, exchange->error, "%s", words);
	}
	freeReplyObject(reply);
	return answer;
}

static void drop(struct engine_redis *redis)
{
	connection_close(redis->connection);
	redis->connection = NULL;
	redis->only_read = false;
}

/* One of the commands that come with a connection; its reply says no more than that it went well. */
static enum engine_answer introduce(struct engine_redis *redis, const struct command *command, enum redis_step step,
                                    const struct exchange *of)
{
	struct exchange exchange = {.deadline = of->deadline, .error = of->error, .step = step};
	redisReply *reply = NULL;
	enum engine_answer answer = ask_once(redis, command, &exchange, &reply);

	if (answer == ENGINE_DONE) {
		freeReplyObject(reply);
	}
	return answer;
}

static enum engine_answer connect_to(struct engine_redis *redis, const struct exchange *exchange)
{
	struct command login = {.count = 0};
	struct command select = {.count = 0};
	char number[16];
	enum engine_answer answer =
	    connection_open(&redis->transport, exchange->deadline, &redis->connection, exchange->error);

	if (answer == ENGINE_DONE && redis->transport.password != NULL) {
		add(&login, "AUTH");
		if (redis->transport.user != NULL) {
			add(&login, redis->transport.user);
		}
		add(&login, redis->transport.password);
		answer = introduce(redis, &login, REDIS_STEP_LOGIN, exchange);
	}
	if (answer == ENGINE_DONE && redis->transport.address.database != 0) {
		(void)snprintf(number, sizeof(number), "%u", redis->transport.address.database);
		add(&select, "SELECT");
		add(&select, number);
		answer = introduce(redis, &select, REDIS_STEP_DATABASE, exchange);
	}
	return answer;
}

/* Refused, too: a master that has become a replica says so for as long as the connection stands, and its name is another's. */
static bool has_ended(enum engine_answer answer)
{
	return answer == ENGINE_BROKEN || answer == ENGINE_SLOW || answer == ENGINE_UNREACHABLE ||
	       answer == ENGINE_TOO_LARGE || answer == ENGINE_REFUSED;
}

static enum engine_answer ask_until(struct engine_redis *redis, const struct command *command,
                                    const struct timespec *deadline, redisReply **ret_reply, struct engine_error *error)
{
	bool stood = redis->connection != NULL && !connection_is_stale(redis->connection);

	if (!stood) {
		drop(redis);
	}
	for (;;) {
		struct exchange exchange = {.deadline = deadline, .error = error, .step = REDIS_STEP_COMMAND};
		enum engine_answer answer = ENGINE_DONE;

		if (redis->connection == NULL) {
			answer = connect_to(redis, &exchange);
			if (answer != ENGINE_DONE) { /* half introduced */
				drop(redis);
				return answer;
			}
		}
		answer = ask_once(redis, command, &exchange, ret_reply);
		if (has_ended(answer)) {
			drop(redis);
		}
		if (answer != ENGINE_BROKEN || !stood || exchange.heard) {
			return answer;
		}
		stood = false;
		error->text[0] = '\0';
	}
}

static enum engine_answer ask(struct engine_redis *redis, const struct command *command, unsigned limit_ms,
                              redisReply **ret_reply, struct engine_error *error)
{
	const struct timespec deadline = engine_deadline(limit_ms);

	return ask_until(redis, command, &deadline, ret_reply, error);
}

static enum engine_answer unsuited(const struct engine_redis *redis, redisReply *reply, struct engine_error *error)
{
	freeReplyObject(reply);
	transport_words(&redis->transport, error, "a reply of another kind than the command has");
	return ENGINE_UNSUITED;
}

enum renewal { RENEW, LEAVE };

static enum engine_answer ask_value(struct engine_redis *redis, const struct engine_name *name, enum renewal renewal,
                                    const struct timespec *deadline, redisReply **ret_reply, struct engine_error *error)
{
	struct command command = {.count = 0};
	char key[ENGINE_NAME_MAX];
	char seconds[16];

	add(&command, renewal == RENEW ? "GETEX" : "GET");
	add_bytes(&command, key, engine_name_redis(redis->prefix, name, key));
	if (renewal == RENEW) {
		(void)snprintf(seconds, sizeof(seconds), "%u", redis->expire_s);
		add(&command, "EX");
		add(&command, seconds);
	}
	return ask_until(redis, &command, deadline, ret_reply, error);
}

static enum engine_answer redis_get(struct engine *engine, const struct engine_name *name, unsigned limit_ms,
                                    void **ret_value, size_t *ret_size, struct engine_error *ret_error)
{
	struct engine_redis *redis = (struct engine_redis *)engine;
	const struct timespec deadline = engine_deadline(limit_ms);
	enum renewal renewal = redis->expire_s != 0 && !redis->only_read ? RENEW : LEAVE;
	redisReply *reply = NULL;
	enum engine_answer answer = ask_value(redis, name, renewal, &deadline, &reply, ret_error);
	void *value;

	if (answer == ENGINE_REFUSED && renewal == RENEW) {
		ret_error->text[0] = '\0';
		answer = ask_value(redis, name, LEAVE, &deadline, &reply, ret_error);
		redis->only_read = answer == ENGINE_DONE;
	}
	if (answer != ENGINE_DONE) {
		return answer;
	}
	if (reply->type == REDIS_REPLY_NIL) {
		freeReplyObject(reply);
		return ENGINE_ABSENT;
	}
	if (reply->type != REDIS_REPLY_STRING) {
		return unsuited(redis, reply, ret_error);
	}
	value = malloc((size_t)reply->len + 1);
	if (value == NULL) {
		freeReplyObject(reply);
		return ENGINE_BROKEN;
	}
	memcpy(value, reply->str, (size_t)reply->len);
	*ret_value = value;
	*ret_size = (size_t)reply->len;
	freeReplyObject(reply);
	return ENGINE_DONE;
}

static enum engine_answer redis_has(struct engine *engine, const struct engine_name *name, unsigned limit_ms,
                                    struct engine_error *ret_error)
{
	struct engine_redis *redis = (struct engine_redis *)engine;
	struct command command = {.count = 0};
	char key[ENGINE_NAME_MAX];
	redisReply *reply = NULL;
	enum engine_answer answer;

	add(&command, "EXISTS");
	add_bytes(&command, key, engine_name_redis(redis->prefix, name, key));
	answer = ask(redis, &command, limit_ms, &reply, ret_error);
	if (answer != ENGINE_DONE) {
		return answer;
	}
	if (reply->type != REDIS_REPLY_INTEGER) {
		return unsuited(redis, reply, ret_error);
	}
	answer = reply->integer == 1 ? ENGINE_DONE : ENGINE_ABSENT;
	freeReplyObject(reply);
	return answer;
}

/* A reply that says +<word>. */
static enum engine_answer ask_for_word(struct engine_redis *redis, const struct command *command, unsigned limit_ms,
                                       const char *word, struct engine_error *error)
{
	redisReply *reply = NULL;
	enum engine_answer answer = ask(redis, command, limit_ms, &reply, error);

	if (answer != ENGINE_DONE) {
		return answer;
	}
	if (reply->type != REDIS_REPLY_STATUS || strcmp(reply->str, word) != 0) {
		return unsuited(redis, reply, error);
	}
	freeReplyObject(reply);
	return ENGINE_DONE;
}

static enum engine_answer redis_put(struct engine *engine, const struct engine_name *name, const void *value,
                                    size_t size, unsigned limit_ms, struct engine_error *ret_error)
{
	struct engine_redis *redis = (struct engine_redis *)engine;
	struct command command = {.count = 0};
	char key[ENGINE_NAME_MAX];
	char seconds[16];

	add(&command, "SET");
	add_bytes(&command, key, engine_name_redis(redis->prefix, name, key));
	add_bytes(&command, value, size);
	if (redis->expire_s != 0) {
		(void)snprintf(seconds, sizeof(seconds), "%u", redis->expire_s);
		add(&command, "EX");
		add(&command, seconds);
	}
	return ask_for_word(redis, &command, limit_ms, "OK", ret_error);
}

static enum engine_answer redis_probe(struct engine *engine, unsigned limit_ms, struct engine_error *ret_error)
{
	struct command command = {.count = 0};

	add(&command, "PING");
	return ask_for_word((struct engine_redis *)engine, &command, limit_ms, "PONG", ret_error);
}

static void redis_close(struct engine *engine)
{
	struct engine_redis *redis = (struct engine_redis *)engine;

	drop(redis);
	transport_close(&redis->transport);
	free(redis->prefix);
}

static int redis_open(const struct engine_options *options, struct engine **ret_engine, struct engine_error *ret_error)
{
	struct engine_redis *redis;
	char place[ADDRESS_HOST_MAX + 16];
	int error;

	if (options->user != NULL && options->password_file == NULL) {
		engine_tell(ret_error, "a user of Redis has a password: --password-file");
		return -EINVAL;
	}
	redis = (struct engine_redis *)engine_new(&engine_kind_redis, sizeof(*redis));
	if (redis == NULL) {
		return -ENOMEM;
	}
	error = transport_open(options, &redis->transport, ret_error);
	if (error != 0) {
		free(redis);
		return error;
	}
	redis->prefix = strdup(engine_prefix(options));
	redis->expire_s = options->expire_s;
	if (redis->prefix == NULL) {
		redis_close(&redis->engine);
		free(redis);
		return -ENOMEM;
	}
	engine_address_place(&redis->transport.address, place, sizeof(place));
	engine_say(&redis->engine, "Redis at %s%s, database %u, prefix %s", place,
	           redis->transport.address.tls ? " (TLS)" : "", redis->transport.address.database, redis->prefix);
	*ret_engine = &redis->engine;
	return 0;
}

static const char *const schemes[] = {"redis://", "rediss://", "redis+unix://", NULL};

const struct engine_kind engine_kind_redis = {
    .schemes = schemes,
    .open = redis_open,
    .close = redis_close,
    .get = redis_get,
    .has = redis_has,
    .put = redis_put,
    .probe = redis_probe,
};
