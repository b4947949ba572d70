/* SPDX-License-Identifier: MIT */
/* Redis says what is wrong by the first word of an error. The table makes an answer and advice of it. */
#include "agent/engine/redis_session.h"

#include <string.h>

#define DIGITS_MAX 8 /* of ENGINE_VALUE_MAX */

static const struct reply {
	const char *begins;
	enum engine_answer answer;
	const char *words;
} replies[] = {
    {"OOM ", ENGINE_FULL, "it has no room left (maxmemory, and maxmemory-policy noeviction)"},
    {"NOAUTH", ENGINE_REFUSED, "it asks for a password: --password-file, and --user where it knows users"},
    {"WRONGPASS", ENGINE_REFUSED, "user and password do not match"},
    {"NOPERM", ENGINE_REFUSED, NULL},
    {"READONLY", ENGINE_REFUSED, "a replica, which takes no values: writers need the master"},
    {"DENIED", ENGINE_REFUSED, "protected mode: it takes connections of other machines only with a password"},
    {"WRONGTYPE", ENGINE_UNSUITED, "what it has under this name is no value of ours: another prefix would help"},
    {"MOVED", ENGINE_UNSUITED,
     "a node of a cluster, which this program does not follow: a proxy for clusters would help"},
    {"ASK ", ENGINE_UNSUITED,
     "a node of a cluster, which this program does not follow: a proxy for clusters would help"},
    {"LOADING", ENGINE_BROKEN, "it is reading its data from disk"},
    {"BUSY ", ENGINE_BROKEN, "a script keeps it busy"},
    {"MASTERDOWN", ENGINE_BROKEN, "a replica that has lost its master"},
    {"CLUSTERDOWN", ENGINE_BROKEN, NULL},
    {"MISCONF", ENGINE_BROKEN, "it takes no values while it cannot write its data to disk"},
    {"ERR max number of clients", ENGINE_BROKEN, NULL},
    {"ERR unknown command", ENGINE_UNSUITED,
     "it lacks a command: GET, SET, EXISTS, PING, and GETEX (6.2) where values expire"},
    {"ERR string exceeds maximum", ENGINE_TOO_LARGE, "larger than its proto-max-bulk-len"},
    {"ERR Protocol error: invalid bulk", ENGINE_TOO_LARGE, "larger than its proto-max-bulk-len"},
};

/* "ERR" of AUTH is not looked up: it may repeat the password. */
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
		*ret_words = "it does not take this user and password";
		return ENGINE_REFUSED;
	}
	if (step == REDIS_STEP_DATABASE) {
		*ret_words = "it has no such database (?db=)";
		return ENGINE_UNSUITED;
	}
	*ret_words = NULL;
	return ENGINE_BROKEN;
}

/* $<length>\r\n; -1: there is none. Whoever goes on with digits, or does not end the line, would be read for ever. */
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

/* Arrays and the types of RESP3 are never answers to our commands. */
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
