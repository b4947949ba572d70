/* SPDX-License-Identifier: MIT */
/*
 * address: what an engine's address says
 *
 *     redis+unix:///socket[?db=N]  redis://host[:port][?db=N]  rediss://host[:port][?db=N]
 *     http+unix:///socket[:/path]  http://host[:port][/path]   https://host[:port][/path]
 *     s3://bucket[/path]
 *
 * Nothing is unescaped, looked up or opened. What could be misunderstood is refused: users and passwords (they have
 * files of their own), queries of HTTP, fragments, "." and ".." as parts of a path.
 * Errors: -EINVAL, with words that never repeat the address: who put a password there would find it in a log.
 * Threads: no state. Ownership: everything lies in the struct.
 */
#ifndef AGENT_ENGINE_ADDRESS_H
#define AGENT_ENGINE_ADDRESS_H

#include "agent/engine/engine.h"

#include <stdbool.h>

#define ADDRESS_SOCKET_MAX 107 /* of sun_path, with its NUL 108 */
#define ADDRESS_HOST_MAX   255
#define ADDRESS_PATH_MAX   255
#define ADDRESS_PREFIX_MAX 128

enum address_kind {
	ADDRESS_REDIS,
	ADDRESS_HTTP,
	ADDRESS_S3,
};

struct engine_address {
	enum address_kind kind;
	bool tls;
	char socket[ADDRESS_SOCKET_MAX + 1]; /* a Unix socket's path; "": host and port */
	char host[ADDRESS_HOST_MAX + 1];     /* [::1] with its brackets; a bucket */
	unsigned port;                       /* the scheme's own where none is said; 0: S3, sockets */
	char path[ADDRESS_PATH_MAX + 1];     /* "" or "/a/b", no '/' at its end */
	unsigned database;                   /* Redis */
};

int engine_address_parse(const char *text, struct engine_address *ret_address, struct engine_error *ret_error);

/* "unix:/socket" or "host:port", for people; S3: the bucket. */
void engine_address_place(const struct engine_address *address, char *ret_text, size_t size);

/* May a prefix be part of names of this kind of engine? -EINVAL, with words. */
int engine_address_prefix(const struct engine_address *address, const char *prefix, struct engine_error *ret_error);

#endif
