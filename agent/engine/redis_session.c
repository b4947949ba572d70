/* SPDX-License-Identifier: MIT */
#include "agent/engine/redis_session.h"

#include "agent/engine/connection.h"
#include "agent/engine/kind.h"
#include "agent/engine/redis_reply.h"

#include <stdio.h>
#include <string.h>

#define WORDS_MAX 65536 /* of a reply that is no value */

/* One on its way. */
struct exchange {
	const struct timespec *deadline;
	struct engine_error *error;
	enum redis_step step;
	bool heard; /* a byte of the reply has come */
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
		transport_words(&session->transport, exchange->error, "no memory for a command");
		return ENGINE_BROKEN;
	}
	answer = connection_send(session->connection, text, (size_t)size, exchange->deadline, exchange->error);
	if (exchange->step == REDIS_STEP_LOGIN) {
		explicit_bzero(text, (size_t)size);
	}
	redisFreeCommand(text);
	return answer;
}

/* What has come of a reply so far: is it one of ours? */
static enum engine_answer judge_start(const struct redis_session *session, const char *head, size_t size, size_t come,
                                      struct engine_error *error)
{
	switch (redis_reply_start(head, size)) {
	case REDIS_START_TOO_LARGE:
		transport_words(&session->transport, error, "a value of more than %u bytes", ENGINE_VALUE_MAX);
		return ENGINE_TOO_LARGE;
	case REDIS_START_FOREIGN:
		break;
	default:
		if (head[0] == '$' || come <= WORDS_MAX) {
			return ENGINE_DONE;
		}
		break;
	}
	transport_words(&session->transport, error, "what answers there does not speak as Redis does");
	return ENGINE_BROKEN;
}

static enum engine_answer receive_reply(struct redis_session *session, struct exchange *exchange, redisReader *reader,
                                        redisReply **ret_reply)
{
	char head[16];
	size_t head_size = 0;
	size_t come = 0;
	void *reply = NULL;

	while (reply == NULL) {
		size_t got;
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
			                "what answers there does not speak as Redis does (%s)", reader->errstr);
			return ENGINE_BROKEN;
		}
	}
	*ret_reply = reply;
	return ENGINE_DONE;
}

/* A reply that is no error. What comes after it would be taken for the next command's. */
static enum engine_answer ask_once(struct redis_session *session, const struct redis_command *command,
                                   struct exchange *exchange, redisReply **ret_reply)
{
	redisReader *reader;
	redisReply *reply = NULL;
	enum engine_answer answer = send_command(session, command, exchange);
	const char *words;

	/* one that has had enough of a command says why, closes, and breaks our writing */
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
		transport_words(&session->transport, exchange->error, "it says more than it was asked");
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

void redis_drop(struct redis_session *session)
{
	connection_close(session->connection);
	session->connection = NULL;
	session->only_read = false;
}

/* One of the commands that come with a connection; its reply says no more than that it went well. */
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

/* Refused, too: a master that has become a replica says so for as long as the connection stands, and its name is another's. */
static bool has_ended(enum engine_answer answer)
{
	return answer == ENGINE_BROKEN || answer == ENGINE_SLOW || answer == ENGINE_UNREACHABLE ||
	       answer == ENGINE_TOO_LARGE || answer == ENGINE_REFUSED;
}

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
			if (answer != ENGINE_DONE) { /* half introduced */
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
