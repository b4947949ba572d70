/* SPDX-License-Identifier: MIT */
/*
 * A table has the form of each scheme as a regular expression. Each part of an address may contain only characters
 * without a special meaning in a URL, a file name or a log. libcurl's parser is not used, because it also accepts
 * users, queries, escapes and "..".
 */
#include "agent/engine/address.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 65535 /* of ports and databases */
#define GROUPS     6

/* characters that are never escaped in a URL, so that all clients and servers write them in the same way */
#define UNRESERVED "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"

#define HOST     "(\\[[0-9a-fA-F:.]+\\]|[[:alnum:]_][[:alnum:]._-]*)"
#define PORT     "(:([0-9]{1,5}))?"
#define DATABASE "(\\?db=([0-9]{1,5}))?"
#define BUCKET   "([[:alnum:]_-][[:alnum:]._-]{2,62})"
/* no part begins with a dot, because a server may resolve ".." to a path outside the prefix */
#define PATH "((/[[:alnum:]_~-][[:alnum:]._~-]*)*)/*"
/* ":/" ends the path of the socket, as in the configuration of nginx */
#define SOCKET_OF_HTTP "(/([^:]|:[^/])+)"

static const struct scheme {
	const char *text, *pattern;
	enum address_kind kind;
	bool tls;
	unsigned default_port;
	int socket, host, port, path, database; /* groups of the pattern; 0: the scheme has no such part */
} schemes[] = {
    {"redis://", "^" HOST PORT DATABASE "$", ADDRESS_REDIS, false, 6379, .host = 1, .port = 3, .database = 5},
    {"rediss://", "^" HOST PORT DATABASE "$", ADDRESS_REDIS, true, 6379, .host = 1, .port = 3, .database = 5},
    {"redis+unix://", "^(/[^?]+)" DATABASE "$", ADDRESS_REDIS, false, 0, .socket = 1, .database = 3},
    {"http://", "^" HOST PORT PATH "$", ADDRESS_HTTP, false, 80, .host = 1, .port = 3, .path = 4},
    {"https://", "^" HOST PORT PATH "$", ADDRESS_HTTP, true, 443, .host = 1, .port = 3, .path = 4},
    {"http+unix://", "^" SOCKET_OF_HTTP "(:" PATH ")?$", ADDRESS_HTTP, false, 0, .socket = 1, .path = 4},
    {"s3://", "^" BUCKET PATH "$", ADDRESS_S3, true, 0, .host = 1, .path = 2},
};

/* No scheme is a prefix of another, because each ends with "://". */
static const struct scheme *scheme_of(const char *text)
{
	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		if (strncmp(text, schemes[i].text, strlen(schemes[i].text)) == 0) {
			return &schemes[i];
		}
	}
	return NULL;
}

/* Copies what a group has matched, or "". Returns false if it does not fit. */
static bool copy_group(const char *text, const regmatch_t *groups, int group, char *ret_text, size_t size)
{
	const regmatch_t *at = &groups[group];
	size_t length = group != 0 && at->rm_so >= 0 ? (size_t)(at->rm_eo - at->rm_so) : 0;

	if (length >= size) {
		return false;
	}
	memcpy(ret_text, length > 0 ? text + at->rm_so : "", length);
	ret_text[length] = '\0';
	return true;
}

/* The number stays if the group has matched nothing. Returns false if it is too large. */
static bool read_group(const char *text, const regmatch_t *groups, int group, unsigned *number)
{
	if (group != 0 && groups[group].rm_so >= 0) {
		*number = (unsigned)strtoul(text + groups[group].rm_so, NULL, 10);
	}
	return *number <= NUMBER_MAX;
}

static bool match(const struct scheme *scheme, const char *text, struct engine_address *address)
{
	regmatch_t groups[GROUPS];
	regex_t pattern;
	bool has_matched;

	if (strlen(text) > ADDRESS_LONGEST || regcomp(&pattern, scheme->pattern, REG_EXTENDED) != 0) {
		return false;
	}
	has_matched = regexec(&pattern, text, GROUPS, groups, 0) == 0;
	regfree(&pattern);
	return has_matched && copy_group(text, groups, scheme->socket, address->socket, sizeof(address->socket)) &&
	       copy_group(text, groups, scheme->host, address->host, sizeof(address->host)) &&
	       copy_group(text, groups, scheme->path, address->path, sizeof(address->path)) &&
	       read_group(text, groups, scheme->port, &address->port) &&
	       read_group(text, groups, scheme->database, &address->database) &&
	       (scheme->port == 0 || address->port != 0);
}

/* Passwords in addresses are rejected: any user could read them in the process list. */
static bool holds_secret(const char *after_scheme)
{
	return memchr(after_scheme, '@', strcspn(after_scheme, "/?")) != NULL;
}

int engine_address_parse(const char *text, struct engine_address *ret_address, const char **ret_words)
{
	const struct scheme *scheme = scheme_of(text);
	struct engine_address address = {.kind = ADDRESS_REDIS};

	*ret_words =
	    "it takes redis[s]://host[:port][?db=N], redis+unix:///socket[?db=N], http[s]://host[:port][/path], "
	    "http+unix:///socket[:/path] or s3://bucket[/path]; no part of a path may begin with '.'";
	if (scheme == NULL) {
		return -EINVAL;
	}
	text += strlen(scheme->text);
	address.kind = scheme->kind;
	address.tls = scheme->tls;
	address.port = scheme->default_port;
	if (holds_secret(text)) {
		*ret_words = "it must not contain a user or password: use --user and --password-file";
		return -EINVAL;
	}
	if (!match(scheme, text, &address)) {
		return -EINVAL;
	}
	*ret_address = address;
	return 0;
}

/* The user name is never shown, because some servers use it as a token. */
void engine_address_place(const struct engine_address *address, char *ret_text, size_t size)
{
	if (address->socket[0] != '\0') {
		(void)snprintf(ret_text, size, "unix:%s", address->socket);
	} else if (address->port != 0) {
		(void)snprintf(ret_text, size, "%s:%u", address->host, address->port);
	} else {
		(void)snprintf(ret_text, size, "%s", address->host);
	}
}

/* Colons are allowed for Redis, where they separate the parts of names. For the others a prefix is one directory. */
bool engine_address_prefix(const struct engine_address *address, const char *prefix)
{
	size_t length = strlen(prefix);

	return length > 0 && length <= ADDRESS_PREFIX_MAX && prefix[0] != '.' &&
	       strspn(prefix, address->kind == ADDRESS_REDIS ? UNRESERVED ":" : UNRESERVED) == length;
}
