/* SPDX-License-Identifier: MIT */
/*
 * The parser is strict: each part of an address may contain only characters without a special meaning in a URL, a file
 * name or a log. Error texts show a correct form.
 */
#include "agent/engine/address.h"

#include "cache/digits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PORT_MAX     65535
#define DATABASE_MAX 65535
#define LETTERS      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS       "0123456789"
/* characters that are never escaped in a URL, so that all clients and servers write them in the same way */
#define UNRESERVED LETTERS DIGITS "-._~"

static const struct scheme {
	const char *text;
	enum address_kind kind;
	bool socket;
	bool tls;
	unsigned port;
} schemes[] = {
    {"http://", ADDRESS_HTTP, false, false, 80},     {"https://", ADDRESS_HTTP, false, true, 443},
    {"http+unix://", ADDRESS_HTTP, true, false, 0},  {"redis://", ADDRESS_REDIS, false, false, 6379},
    {"rediss://", ADDRESS_REDIS, false, true, 6379}, {"redis+unix://", ADDRESS_REDIS, true, false, 0},
    {"s3://", ADDRESS_S3, false, true, 0},
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

static int tell_wrong(const char **ret_words, const char *words)
{
	*ret_words = words;
	return -EINVAL;
}

/* Copies the first `length` bytes of the text if they fit into `size` bytes with a NUL. */
static bool copy_text(char *ret_text, size_t size, const char *text, size_t length)
{
	if (length >= size) {
		return false;
	}
	memcpy(ret_text, text, length);
	ret_text[length] = '\0';
	return true;
}

/* Rejects empty, "." and ".." components, because a server may resolve ".." to a path outside the prefix. */
static bool parts_are_plain(const char *path)
{
	while (*path == '/') {
		size_t length = strcspn(++path, "/");

		if (length == 0 || (length == 1 && path[0] == '.') ||
		    (length == 2 && path[0] == '.' && path[1] == '.')) {
			return false;
		}
		path += length;
	}
	return *path == '\0';
}

/* Accepts only characters that need no escaping, so that the path is the same in a URL, a signature and a log. */
static int take_path(const char *text, struct engine_address *address, const char **ret_words)
{
	size_t length = strlen(text);

	while (length > 0 && text[length - 1] == '/') {
		length--;
	}
	if (!copy_text(address->path, sizeof(address->path), text, length)) {
		return tell_wrong(ret_words, "the path is longer than 255 characters");
	}
	if (strspn(address->path, UNRESERVED "/") != length || !parts_are_plain(address->path)) {
		return tell_wrong(ret_words, "the path may contain only letters, digits, '-', '.', '_', '~' and single "
		                             "slashes; no query, no \"..\"");
	}
	return 0;
}

/* Parses "?db=N" or an empty text. */
static int take_database(const char *text, struct engine_address *address, const char **ret_words)
{
	uint64_t number;

	if (*text == '\0') {
		return 0;
	}
	if (strncmp(text, "?db=", 4) == 0) {
		text = digits_number(text + 4, DATABASE_MAX, &number);
		if (text != NULL && *text == '\0') {
			address->database = (unsigned)number;
			return 0;
		}
	}
	return tell_wrong(ret_words, "the database must be ?db=NUMBER, after host and port or after the socket");
}

/* In http+unix addresses, ":/" ends the path of the socket, as in the configuration of nginx. */
static int take_socket(const char *text, struct engine_address *address, const char **ret_words)
{
	const char *end = text + strlen(text);
	const char *rest = end;

	if (address->kind == ADDRESS_REDIS) {
		rest = text + strcspn(text, "?");
	} else if (address->kind == ADDRESS_HTTP) {
		rest = strstr(text, ":/");
		rest = rest != NULL ? rest : end;
	}
	if (text[0] != '/' || rest == text + 1) {
		return tell_wrong(
		    ret_words,
		    "the scheme must be followed by the absolute path of a socket (redis+unix:///run/redis.sock, "
		    "http+unix:///run/http.sock:/path)");
	}
	if (!copy_text(address->socket, sizeof(address->socket), text, (size_t)(rest - text))) {
		return tell_wrong(ret_words, "the path of a socket has at most 107 characters");
	}
	if (address->kind == ADDRESS_REDIS) {
		return take_database(rest, address, ret_words);
	}
	return *rest == ':' ? take_path(rest + 1, address, ret_words) : 0;
}

/* Returns the end of a host name, an IPv4 address, or an IPv6 address in brackets; NULL if there is none. */
static const char *end_of_host(const char *text)
{
	size_t length;

	if (text[0] == '[') {
		length = strspn(text + 1, DIGITS "abcdefABCDEF:.");
		return length > 1 && text[length + 1] == ']' ? text + length + 2 : NULL;
	}
	length = strspn(text, LETTERS DIGITS "-._");
	return length > 0 && text[0] != '-' && text[0] != '.' ? text + length : NULL;
}

static int take_host(const char *text, struct engine_address *address, const char **ret_words)
{
	const char *rest = end_of_host(text);
	uint64_t port;

	if (rest == NULL || !copy_text(address->host, sizeof(address->host), text, (size_t)(rest - text))) {
		return tell_wrong(ret_words, "the scheme must be followed by a host name or address");
	}
	if (*rest == ':') {
		rest = digits_number(rest + 1, PORT_MAX, &port);
		if (rest == NULL || port == 0) {
			return tell_wrong(ret_words, "the port must be a number from 1 to 65535");
		}
		address->port = (unsigned)port;
	}
	return address->kind == ADDRESS_REDIS ? take_database(rest, address, ret_words)
	                                      : take_path(rest, address, ret_words);
}

/* Checks the bucket's name, because it becomes part of a host name. */
static int take_bucket(const char *text, struct engine_address *address, const char **ret_words)
{
	size_t length = strspn(text, LETTERS DIGITS "-._");

	if (length < 3 || length > 63 || text[0] == '.' || (text[length] != '\0' && text[length] != '/')) {
		return tell_wrong(ret_words,
		                  "s3:// must be followed by a bucket name of 3 to 63 letters, digits, '-' and '.'");
	}
	(void)copy_text(address->host, sizeof(address->host), text, length);
	return take_path(text + length, address, ret_words);
}

/* Passwords in addresses are rejected: any user could read them in the process list. */
static bool holds_secret(const char *after_scheme)
{
	return memchr(after_scheme, '@', strcspn(after_scheme, "/?")) != NULL;
}

/* libcurl's parser is not used, because it also accepts users, queries and escapes. */
int engine_address_parse(const char *text, struct engine_address *ret_address, const char **ret_words)
{
	const struct scheme *scheme = scheme_of(text);
	struct engine_address address = {.kind = ADDRESS_REDIS};
	int error;

	if (scheme == NULL) {
		return tell_wrong(ret_words,
		                  "unknown scheme, not one of http://, https://, http+unix://, redis://, rediss://, "
		                  "redis+unix://, s3://");
	}
	text += strlen(scheme->text);
	if (holds_secret(text)) {
		return tell_wrong(ret_words, "it must not contain a user or password: use --user and --password-file");
	}
	address.kind = scheme->kind;
	address.tls = scheme->tls;
	address.port = scheme->port;
	if (scheme->socket) {
		error = take_socket(text, &address, ret_words);
	} else if (scheme->kind == ADDRESS_S3) {
		error = take_bucket(text, &address, ret_words);
	} else {
		error = take_host(text, &address, ret_words);
	}
	if (error == 0) {
		*ret_address = address;
	}
	return error;
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
int engine_address_prefix(const struct engine_address *address, const char *prefix, const char **ret_words)
{
	bool colons = address->kind == ADDRESS_REDIS;
	size_t length = strlen(prefix);

	if (length > 0 && length <= ADDRESS_PREFIX_MAX && prefix[0] != '.' &&
	    strspn(prefix, colons ? UNRESERVED ":" : UNRESERVED) == length) {
		return 0;
	}
	return tell_wrong(
	    ret_words,
	    colons ? "it takes 1 to 128 letters, digits, '-', '_', '~', ':' and '.', and must not begin with '.'"
	           : "it takes 1 to 128 letters, digits, '-', '_', '~' and '.', and must not begin with '.'");
}
