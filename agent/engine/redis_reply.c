/* SPDX-License-Identifier: MIT */
/* The first word of a Redis error identifies it. The table maps the word to an answer and to advice. */
#include "agent/engine/redis_reply.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_MAX 32    /* bytes of the line with the length of a value */
#define WORDS_MAX  65536 /* bytes of a reply that is not a value */

static const struct reply {
	const char *begins;
	enum engine_answer answer;
	const char *words;
} replies[] = {
    {"OOM ", ENGINE_FULL, "no space left (maxmemory, and maxmemory-policy noeviction)"},
    {"NOAUTH", ENGINE_REFUSED, "authentication required: --password-file, with ACLs also --user"},
    {"WRONGPASS", ENGINE_REFUSED, "wrong user or password"},
    {"NOPERM", ENGINE_REFUSED, NULL},
    {"READONLY", ENGINE_REFUSED, "the server is a read-only replica: use the address of the master"},
    {"DENIED", ENGINE_REFUSED, "protected mode: connections from other machines require a password"},
    {"WRONGTYPE", ENGINE_UNSUITED, "the name is used by other data: use another --prefix"},
    {"MOVED", ENGINE_UNSUITED, "the server is a cluster node, and clusters are not supported: use a proxy"},
    {"ASK ", ENGINE_UNSUITED, "the server is a cluster node, and clusters are not supported: use a proxy"},
    {"LOADING", ENGINE_BROKEN, "the server is loading its data"},
    {"MISCONF", ENGINE_BROKEN, "the server cannot write its data to disk, so it accepts no values"},
    {"ERR unknown command", ENGINE_UNSUITED,
     "the server lacks a required command: GET, SET; with --expire GETEX (Redis 6.2)"},
    {"ERR string exceeds maximum", ENGINE_TOO_LARGE, "the value is larger than proto-max-bulk-len"},
    {"ERR Protocol error: invalid bulk", ENGINE_TOO_LARGE, "the value is larger than proto-max-bulk-len"},
};

/* An "ERR" in reply to AUTH is not looked up, because its text may repeat the password. */
enum engine_answer redis_reply_error(const char *text, enum redis_step step, const char **ret_words)
{
	bool is_secret = step == REDIS_STEP_LOGIN && strncmp(text, "ERR ", 4) == 0;

	for (size_t i = 0; !is_secret && i < sizeof(replies) / sizeof(replies[0]); i++) {
		if (strncmp(text, replies[i].begins, strlen(replies[i].begins)) == 0) {
			*ret_words = replies[i].words;
			return replies[i].answer;
		}
	}
	*ret_words = step == REDIS_STEP_LOGIN      ? "wrong user or password"
	             : step == REDIS_STEP_DATABASE ? "no such database (?db=)"
	                                           : NULL;
	return step == REDIS_STEP_LOGIN      ? ENGINE_REFUSED
	       : step == REDIS_STEP_DATABASE ? ENGINE_UNSUITED
	                                     : ENGINE_BROKEN;
}

/*
 * hiredis checks the form of a reply, but would buffer one of any length, and would search a line without an end again
 * and again. Arrays and the types of RESP3 are rejected, because hiredis allocates memory for the announced number of
 * elements.
 */
enum engine_answer redis_reply_start(const char *bytes, size_t size)
{
	if (bytes[0] != '$') {
		return size > WORDS_MAX || strchr("+-:", bytes[0]) == NULL ? ENGINE_BROKEN : ENGINE_DONE;
	}
	if (size >= LENGTH_MAX && memmem(bytes, LENGTH_MAX, "\r\n", 2) == NULL) {
		return ENGINE_BROKEN;
	}
	return strtoll(bytes + 1, NULL, 10) > ENGINE_VALUE_MAX ? ENGINE_TOO_LARGE : ENGINE_DONE;
}
