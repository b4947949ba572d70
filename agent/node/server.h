/* SPDX-License-Identifier: MIT */
/*
 * server: answers the processes of the node (docs/DESIGN.md G2)
 *
 * Each of up to SERVER_THREADS threads accepts a connection, reads its one request, answers and closes it. A process
 * sends its request with the connection, so one that has sent none after SERVER_PATIENCE_US is not waited for.
 * Processes that ask for the same key at the same time get the answer of one fetch. A fetch continues even if the
 * process that asked has exited, because other processes can use the entry in the directory.
 *
 * Calling sequence: server_begin(); server_settle() before listener_close(). The threads end with the process; one that
 * waits for a fetch then sees that the connection is closed, and compiles. Errors: server_begin() prints errors.
 * Threads: any.
 */
#ifndef AGENT_NODE_SERVER_H
#define AGENT_NODE_SERVER_H

#include "agent/node/listener.h"
#include "agent/node/upload.h"

#include <stdatomic.h>

#define SERVER_THREADS     64
#define SERVER_LANES       64
#define SERVER_PATIENCE_US 500000L

struct server {
	struct service *service;
	const struct listener *listener;
	struct upload upload;
	_Atomic unsigned peers; /* connections that a thread serves */
	struct lane {
		pthread_mutex_t lock; /* of the fetch in progress */
		uint8_t key[ENTRY_KEY_BYTES];
		enum agent_kind answer; /* to the last fetch, of that key */
		int64_t ended_ns;       /* when it ended, by call_clock_straight() */
	} lanes[SERVER_LANES];          /* the key selects one */
};

bool server_begin(struct server *server);
/* Waits until nothing that processes have sent before is left, or until the time. */
void server_settle(struct server *server, int64_t until_ns);

#endif
