/* SPDX-License-Identifier: MIT */
/*
 * redis_session: one connection to Redis or Valkey: a command, then its reply
 *
 * hiredis formats commands and parses replies. libcurl transports the bytes, because it has TLS, which older versions
 * of hiredis lack. AUTH and SELECT are sent with each new connection.
 *
 *     no connection --connect, AUTH, SELECT--> ready --command, its whole reply--> ready
 *           ^                                    |
 *           +------- anything else --------------+
 *
 * If a kept connection breaks before the first byte of a reply, the command is sent once more on a new one: servers
 * close idle connections.
 *
 * Calling sequence: a struct of zeros, transport_open() of its transport; redis_add() for each word, redis_ask(),
 * freeReplyObject(); redis_drop() and transport_close(). Errors: those of engines, with words. Threads: one.
 * Ownership: a command's words are the caller's, and so is a reply.
 */
#ifndef AGENT_ENGINE_REDIS_SESSION_H
#define AGENT_ENGINE_REDIS_SESSION_H

#include "agent/engine/transport.h"

#include "agent/engine/engine.h"

#include <hiredis/hiredis.h>
#include <stdbool.h>

#define REDIS_CHUNK 65536

struct redis_session {
	struct transport transport;
	struct connection *connection; /* NULL: none */
	bool only_read;                /* on it renewing was refused: a replica's, or of a user without that right */
	char chunk[REDIS_CHUNK];
};

#define REDIS_WORDS_MAX 5
struct redis_command {
	int count;
	const char *words[REDIS_WORDS_MAX];
	size_t sizes[REDIS_WORDS_MAX];
};

void redis_add(struct redis_command *command, const char *word);
void redis_add_bytes(struct redis_command *command, const void *bytes, size_t size);

/* A reply that is no error. */
enum engine_answer redis_ask(struct redis_session *session, const struct redis_command *command,
                             const struct timespec *deadline, redisReply **ret_reply, struct engine_error *error);
void redis_drop(struct redis_session *session);

/*
 * redis_reply: what Redis says, made an answer of
 *
 * Valkey and other servers of the same protocol say the same. Threads: no state.
 */

/* What was asked when an error came. */
enum redis_step {
	REDIS_STEP_LOGIN,    /* AUTH: what is not known here is a refusal, and its words may have a secret in them */
	REDIS_STEP_DATABASE, /* SELECT */
	REDIS_STEP_COMMAND,
};

/*
 * Of an error ("OOM command not allowed ..."); words that say what would be right, or NULL: the server's own say
 * enough.
 */
enum engine_answer redis_reply_error(const char *text, enum redis_step step, const char **ret_words);

enum redis_start {
	REDIS_START_UNFINISHED, /* more bytes are needed to tell */
	REDIS_START_FINE,
	REDIS_START_TOO_LARGE, /* a value that is longer than ENGINE_VALUE_MAX */
	REDIS_START_FOREIGN,   /* no reply of those that our commands have */
};

/* Of the first bytes of a reply, before the rest is read: how much is going to come? */
enum redis_start redis_reply_start(const char *bytes, size_t size);

#endif
