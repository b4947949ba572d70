/* SPDX-License-Identifier: MIT */
/*
 * redis_reply: what Redis says, made an answer of
 *
 * Valkey and other servers of the same protocol say the same. Threads: no state.
 */
#ifndef AGENT_ENGINE_REDIS_REPLY_H
#define AGENT_ENGINE_REDIS_REPLY_H

#include "agent/engine/engine.h"

#include <stdbool.h>

/* What was asked when an error came. */
enum redis_step {
	REDIS_STEP_LOGIN,    /* AUTH: what is not known here is a refusal, and its words may have a secret in them */
	REDIS_STEP_DATABASE, /* SELECT */
	REDIS_STEP_COMMAND,
};

/* Of an error ("OOM command not allowed ..."); words that say what would be right, or NULL: the server's own say enough. */
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
