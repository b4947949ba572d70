/* SPDX-License-Identifier: MIT */
/* The first word of a Redis error identifies it. The table maps the word to an answer and to advice. */
#include "agent/engine/redis_session.h"

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
    {"BUSY ", ENGINE_BROKEN, "the server is busy with a script"},
    {"MASTERDOWN", ENGINE_BROKEN, "the server is a replica that has lost its master"},
    {"CLUSTERDOWN", ENGINE_BROKEN, NULL},
    {"MISCONF", ENGINE_BROKEN, "the server cannot write its data to disk, so it accepts no values"},
    {"ERR max number of clients", ENGINE_BROKEN, NULL},
    {"ERR unknown command", ENGINE_UNSUITED,
     "the server lacks a required command: GET, SET, EXISTS, PING; with --expire GETEX (Redis 6.2)"},
    {"ERR string exceeds maximum", ENGINE_TOO_LARGE, "the value is larger than proto-max-bulk-len"},
    {"ERR Protocol error: invalid bulk", ENGINE_TOO_LARGE, "the value is larger than proto-max-bulk-len"},
};

/* An "ERR" in reply to AUTH is not looked up, because its text may repeat the password. */
enum engine_answer redis_reply_error(const char *text, enum redis_step step, const char **ret_words)
{
	if (step != REDIS_STEP_LOGIN || strncmp(text, "ERR ", 4) != 0) {
		for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
			if (strncmp(text, replies[i].begins, strlen(replies[i].begins)) == 0) {
				*ret_words = replies[i].words;
				return replies[i].answer;
			}
		}
	}
	if (step == REDIS_STEP_LOGIN) {
		*ret_words = "wrong user or password";
		return ENGINE_REFUSED;
	}
	if (step == REDIS_STEP_DATABASE) {
		*ret_words = "no such database (?db=)";
		return ENGINE_UNSUITED;
	}
	*ret_words = NULL;
	return ENGINE_BROKEN;
}

/*
 * hiredis checks the form of a reply, but would buffer one of any length, and would search a line without an end again
 * and again. The announced length decides as soon as it is there. Arrays and the types of RESP3 are rejected, because
 * our commands do not get them, and hiredis allocates memory for the announced number of elements.
 */
enum redis_start redis_reply_start(const char *bytes, size_t size)
{
	if (bytes[0] != '$') {
		return size > WORDS_MAX || strchr("+-:", bytes[0]) == NULL ? REDIS_START_FOREIGN : REDIS_START_FINE;
	}
	if (size >= LENGTH_MAX && memmem(bytes, LENGTH_MAX, "\r\n", 2) == NULL) {
		return REDIS_START_FOREIGN;
	}
	return strtoll(bytes + 1, NULL, 10) > ENGINE_VALUE_MAX ? REDIS_START_TOO_LARGE : REDIS_START_FINE;
}
