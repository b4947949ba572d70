/* SPDX-License-Identifier: MIT */
/*
 * address: parses the address of an engine
 *
 *     redis+unix:///socket[?db=N]  redis://host[:port][?db=N]  rediss://host[:port][?db=N]
 *     http+unix:///socket[:/path]  http://host[:port][/path]   https://host[:port][/path]
 *     s3://bucket[/path]
 *
 * Nothing is unescaped, resolved or opened. Ambiguous parts are rejected: users and passwords (which are read from
 * files), queries of HTTP, fragments, components of a path that begin with a dot.
 * Errors: -EINVAL with a constant text for people, so that a password in the address does not appear in a message.
 * Threads: no state. Ownership: the struct contains everything.
 */
#ifndef AGENT_ENGINE_ADDRESS_H
#define AGENT_ENGINE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#define ADDRESS_SOCKET_MAX 107 /* sun_path has 108 bytes, with the NUL */
#define ADDRESS_HOST_MAX   255
#define ADDRESS_PATH_MAX   255
#define ADDRESS_PREFIX_MAX 128
#define ADDRESS_LONGEST    1024

enum address_kind { ADDRESS_REDIS, ADDRESS_HTTP, ADDRESS_S3 };

struct engine_address {
	enum address_kind kind;
	bool tls;
	char socket[ADDRESS_SOCKET_MAX + 1]; /* path of a Unix socket; "": host and port are used */
	char host[ADDRESS_HOST_MAX + 1];     /* [::1] with the brackets; S3: the bucket */
	unsigned port;                       /* default: the scheme's port; 0: S3, sockets */
	char path[ADDRESS_PATH_MAX + 1];     /* "" or "/a/b", without '/' at the end */
	unsigned database;                   /* Redis only */
};

int engine_address_parse(const char *text, struct engine_address *ret_address, const char **ret_words);

/* Writes "unix:/socket" or "host:port" for messages; for S3, the bucket. */
void engine_address_place(const struct engine_address *address, char *ret_text, size_t size);

/* Checks whether names of this kind of engine can have the prefix. */
bool engine_address_prefix(const struct engine_address *address, const char *prefix);

#endif
