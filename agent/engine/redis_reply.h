/* SPDX-License-Identifier: MIT */
/*
 * redis_reply: maps replies of Redis to answers
 *
 * Valkey and other servers with the same protocol send the same replies. Threads: no state. Errors: none.
 */
#ifndef AGENT_ENGINE_REDIS_REPLY_H
#define AGENT_ENGINE_REDIS_REPLY_H

#include "agent/engine/engine.h"

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

/*
 * Checks the part of a reply that was received, before hiredis parses it: its type, its length and its size. A NUL
 * follows the bytes. DONE: it may be parsed. TOO_LARGE: a value longer than ENGINE_VALUE_MAX. BROKEN: a type of reply
 * that our commands never get, or a longer one than they get.
 */
enum engine_answer redis_reply_start(const char *bytes, size_t size);

#endif
