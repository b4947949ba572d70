/* SPDX-License-Identifier: MIT */
/*
 * redis: Redis and Valkey as the engine, over a Unix socket, TCP or TLS
 *
 * Uses only GET (or GETEX, which renews the expiry), SET, EXISTS and PING, and AUTH and SELECT after connecting, so
 * that an ACL can forbid all other commands.
 */
#include "agent/engine/kind.h"
#include "agent/engine/redis_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct engine_redis {
	struct engine engine;
	struct redis_session session;
};

/* Reports an unexpected reply. The connection stays open, because the reply was valid in the protocol. */
static enum engine_answer tell_unsuited(const struct engine_redis *redis, redisReply *reply, struct engine_error *error)
{
	freeReplyObject(reply);
	transport_words(&redis->session.transport, error, "unexpected type of reply");
	return ENGINE_UNSUITED;
}

enum renewal { RENEW, LEAVE };

/* GETEX reads a value and renews its expiry in one command, so that values in use do not expire. */
static enum engine_answer ask_value(struct engine_redis *redis, const struct engine_name *name, enum renewal renewal,
                                    const struct timespec *deadline, redisReply **ret_reply, struct engine_error *error)
{
	struct redis_command command = {.count = 0};
	char key[ENGINE_NAME_MAX];
	char seconds[16];

	redis_add(&command, renewal == RENEW ? "GETEX" : "GET");
	redis_add_bytes(&command, key, engine_name_redis(redis->engine.prefix, name, key));
	if (renewal == RENEW) {
		(void)snprintf(seconds, sizeof(seconds), "%u", redis->engine.options->expire_s);
		redis_add(&command, "EX");
		redis_add(&command, seconds);
	}
	return redis_ask(&redis->session, &command, deadline, ret_reply, error);
}

/* If GETEX is refused, by a replica or for lack of permission, this read and later ones use GET. */
static enum engine_answer redis_get(struct engine *engine, const struct engine_name *name, unsigned limit_ms,
                                    void **ret_value, size_t *ret_size, struct engine_error *ret_error)
{
	struct engine_redis *redis = (struct engine_redis *)engine;
	const struct timespec deadline = engine_deadline(limit_ms);
	enum renewal renewal = redis->engine.options->expire_s != 0 && !redis->session.only_read ? RENEW : LEAVE;
	redisReply *reply = NULL;
	enum engine_answer answer = ask_value(redis, name, renewal, &deadline, &reply, ret_error);
	void *value;

	if (answer == ENGINE_REFUSED && renewal == RENEW) {
		ret_error->text[0] = '\0';
		answer = ask_value(redis, name, LEAVE, &deadline, &reply, ret_error);
		redis->session.only_read = answer == ENGINE_DONE;
	}
	if (answer != ENGINE_DONE) {
		return answer;
	}
	if (reply->type == REDIS_REPLY_NIL) {
		freeReplyObject(reply);
		return ENGINE_ABSENT;
	}
	if (reply->type != REDIS_REPLY_STRING) {
		return tell_unsuited(redis, reply, ret_error);
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

/* Uses EXISTS and not GET, because a value may have megabytes. */
static enum engine_answer redis_has(struct engine *engine, const struct engine_name *name, unsigned limit_ms,
                                    struct engine_error *ret_error)
{
	struct engine_redis *redis = (struct engine_redis *)engine;
	const struct timespec deadline = engine_deadline(limit_ms);
	struct redis_command command = {.count = 0};
	char key[ENGINE_NAME_MAX];
	redisReply *reply = NULL;
	enum engine_answer answer;

	redis_add(&command, "EXISTS");
	redis_add_bytes(&command, key, engine_name_redis(redis->engine.prefix, name, key));
	answer = redis_ask(&redis->session, &command, &deadline, &reply, ret_error);
	if (answer != ENGINE_DONE) {
		return answer;
	}
	if (reply->type != REDIS_REPLY_INTEGER) {
		return tell_unsuited(redis, reply, ret_error);
	}
	answer = reply->integer == 1 ? ENGINE_DONE : ENGINE_ABSENT;
	freeReplyObject(reply);
	return answer;
}

/* Sends a command whose reply has to be +<word>. Another reply means that the server is not Redis. */
static enum engine_answer ask_for_word(struct engine_redis *redis, const struct redis_command *command,
                                       unsigned limit_ms, const char *word, struct engine_error *error)
{
	const struct timespec deadline = engine_deadline(limit_ms);
	redisReply *reply = NULL;
	enum engine_answer answer = redis_ask(&redis->session, command, &deadline, &reply, error);

	if (answer != ENGINE_DONE) {
		return answer;
	}
	if (reply->type != REDIS_REPLY_STATUS || strcmp(reply->str, word) != 0) {
		return tell_unsuited(redis, reply, error);
	}
	freeReplyObject(reply);
	return ENGINE_DONE;
}

/* SET has EX, because with a separate EXPIRE a value would never expire if the agent ended between the two. */
static enum engine_answer redis_put(struct engine *engine, const struct engine_name *name, const void *value,
                                    size_t size, unsigned limit_ms, struct engine_error *ret_error)
{
	struct engine_redis *redis = (struct engine_redis *)engine;
	struct redis_command command = {.count = 0};
	char key[ENGINE_NAME_MAX];
	char seconds[16];

	redis_add(&command, "SET");
	redis_add_bytes(&command, key, engine_name_redis(redis->engine.prefix, name, key));
	redis_add_bytes(&command, value, size);
	if (redis->engine.options->expire_s != 0) {
		(void)snprintf(seconds, sizeof(seconds), "%u", redis->engine.options->expire_s);
		redis_add(&command, "EX");
		redis_add(&command, seconds);
	}
	return ask_for_word(redis, &command, limit_ms, "OK", ret_error);
}

/* PING requires authentication, so a reply shows that both connection and password work. */
static enum engine_answer redis_probe(struct engine *engine, unsigned limit_ms, struct engine_error *ret_error)
{
	struct redis_command command = {.count = 0};

	redis_add(&command, "PING");
	return ask_for_word((struct engine_redis *)engine, &command, limit_ms, "PONG", ret_error);
}

static void redis_close(struct engine *engine)
{
	struct engine_redis *redis = (struct engine_redis *)engine;

	redis_drop(&redis->session);
	transport_close(&redis->session.transport);
}

/* Does not connect, because the agent has to start even if the engine is down. */
static int redis_open(struct engine *engine, const struct engine_address *address, struct engine_error *ret_error)
{
	char place[ADDRESS_HOST_MAX + 16];

	engine_address_place(address, place, sizeof(place));
	engine_say(engine, "Redis at %s%s, database %u, prefix %s", place, address->tls ? " (TLS)" : "",
	           address->database, engine->prefix);
	return transport_open(engine, address, &((struct engine_redis *)engine)->session.transport, ret_error);
}

const struct engine_kind engine_kind_redis = {
    .size = sizeof(struct engine_redis),
    .open = redis_open,
    .close = redis_close,
    .get = redis_get,
    .has = redis_has,
    .put = redis_put,
    .probe = redis_probe,
};
