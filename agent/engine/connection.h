/* SPDX-License-Identifier: MIT */
/*
 * connection: bytes to and from an engine that speaks no HTTP: a Unix socket, TCP, TLS
 *
 * libcurl connects (CURLOPT_CONNECT_ONLY) and then passes bytes on as they are: so names are looked up, and certificates
 * checked, by a library that can be told when to stop. No SIGPIPE, which the program ignores.
 *
 * Calling sequence: connection_open(), connection_send() and connection_receive() in any order, connection_close(). After
 * any answer but ENGINE_DONE it is of no use: what comes late would be taken for the next answer.
 * Errors: SLOW, UNREACHABLE, REFUSED, BROKEN, with words. Threads: one. Ownership: the transport must outlive it.
 */
#ifndef AGENT_ENGINE_CONNECTION_H
#define AGENT_ENGINE_CONNECTION_H

#include "agent/engine/transport.h"

struct connection;

enum engine_answer connection_open(struct transport *transport, const struct timespec *deadline,
                                   struct connection **ret_connection, struct engine_error *ret_error);
void connection_close(struct connection *connection);

/* The other side has closed it, or has said something that nobody asked for. */
bool connection_is_stale(const struct connection *connection);

enum engine_answer connection_send(struct connection *connection, const void *bytes, size_t size,
                                   const struct timespec *deadline, struct engine_error *ret_error);
/* At least one byte, at most `size`. */
enum engine_answer connection_receive(struct connection *connection, void *bytes, size_t size,
                                      const struct timespec *deadline, size_t *ret_got, struct engine_error *ret_error);

#endif
