/* SPDX-License-Identifier: MIT */
/*
 * redis_session: a connection to Redis or Valkey that sends one command at a time and receives its reply
 *
 * hiredis formats commands and parses replies. libcurl transports the bytes, because older versions of hiredis do not
 * support TLS. AUTH and SELECT are sent on each new connection.
 *
 *     no connection --connect, AUTH, SELECT--> ready --command, its whole reply--> ready
 *           ^                                    |
 *           +------- anything else --------------+
 *
 * If a reused connection breaks before the first byte of a reply, the command is sent again on a new connection,
 * because servers close idle connections.
 *
 * libcurl connects (CURLOPT_CONNECT_ONLY) and then sends and receives bytes unchanged. It resolves names and checks
 * certificates within a time limit.
 *
 * Calling sequence: zero the struct, transport_open() for its transport; redis_add() for each word, redis_ask(),
 * freeReplyObject(); redis_drop() and transport_close(). Errors: those of engines, with a text. Threads: one.
 * Ownership: the words of a command belong to the caller, and so does a reply.
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
	CURL *handle; /* NULL: no connection */
	curl_socket_t socket;
	bool only_read; /* the server refused GETEX on it: a replica, or a user without permission */
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

/*
 * Sends a command and receives its reply; connects first if there is no connection. On ENGINE_DONE, *ret_reply is a
 * reply other than an error, which the caller frees.
 */
enum engine_answer redis_ask(struct redis_session *session, const struct redis_command *command,
                             const struct timespec *deadline, redisReply **ret_reply, struct engine_error *error);
void redis_drop(struct redis_session *session);

/*
 * redis_reply: maps replies of Redis to answers
 *
 * Valkey and other servers with the same protocol send the same replies. Threads: no state.
 */

/* Which command an error answers. */
enum redis_step {
	REDIS_STEP_LOGIN,    /* AUTH: an unknown error is a refusal, and its text may contain a secret */
	REDIS_STEP_DATABASE, /* SELECT */
	REDIS_STEP_COMMAND,
};

/*
 * Returns the answer for an error such as "OOM command not allowed ...". *ret_words is constant advice for the
 * operator, or NULL if the server's own text is enough.
 */
enum engine_answer redis_reply_error(const char *text, enum redis_step step, const char **ret_words);

enum redis_start {
	REDIS_START_FINE,
	REDIS_START_TOO_LARGE, /* a value longer than ENGINE_VALUE_MAX */
	REDIS_START_FOREIGN,   /* a type of reply that our commands never get, or a longer one than they get */
};

/* Checks the part of a reply that was received: its type, its length and its size. A NUL follows the bytes. */
enum redis_start redis_reply_start(const char *bytes, size_t size);

#endif
