/* SPDX-License-Identifier: MIT */
/* The first word of a Redis error identifies it. The table maps the word to an answer and to advice. */
#include "agent/engine/redis_session.h"

#include <string.h>

#define DIGITS_MAX 8 /* ENGINE_VALUE_MAX has so many decimal digits */

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
 * Checks "$<length>\r\n", where a length of -1 means that the value is absent. The number of digits is limited, because
 * reading would not end if a server never ends the line.
 */
static enum redis_start start_of_value(const char *bytes, size_t size)
{
	static const char none[] = "$-1\r\n";
	static const char end[] = "\r\n";
	size_t length = 0;
	size_t at = 1;

	if (size > 1 && bytes[1] == '-') {
		size = size < sizeof(none) - 1 ? size : sizeof(none) - 1;
		return memcmp(bytes, none, size) != 0 ? REDIS_START_FOREIGN
		       : size < sizeof(none) - 1      ? REDIS_START_UNFINISHED
		                                      : REDIS_START_FINE;
	}
	for (; at < size && bytes[at] >= '0' && bytes[at] <= '9'; at++) {
		length = length * 10 + (size_t)(bytes[at] - '0');
		if (length > ENGINE_VALUE_MAX) {
			return REDIS_START_TOO_LARGE;
		}
	}
	if (at - 1 > DIGITS_MAX) {
		return REDIS_START_FOREIGN;
	}
	if (at == size) {
		return REDIS_START_UNFINISHED;
	}
	size = size - at < sizeof(end) - 1 ? size - at : sizeof(end) - 1;
	return at == 1 || memcmp(bytes + at, end, size) != 0 ? REDIS_START_FOREIGN
	       : size < sizeof(end) - 1                      ? REDIS_START_UNFINISHED
	                                                     : REDIS_START_FINE;
}

/* Arrays and the types of RESP3 are rejected, because our commands do not get them. */
enum redis_start redis_reply_start(const char *bytes, size_t size)
{
	if (size == 0) {
		return REDIS_START_UNFINISHED;
	}
	switch (bytes[0]) {
	case '$':
		return start_of_value(bytes, size);
	case '+':
	case '-':
	case ':':
		return REDIS_START_FINE;
	default:
		return REDIS_START_FOREIGN;
	}
}
