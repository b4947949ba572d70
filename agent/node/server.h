/* SPDX-License-Identifier: MIT */
/*
 * server: the agent's event loop: connections, requests and signals (docs/DESIGN.md G2)
 *
 * One thread accepts all peers and never blocks on one of them: a peer has SERVER_PATIENCE_MS to send its request, an
 * invalid message closes the connection, and a connection without a request makes room for a new one. What takes long
 * is done by the threads of fetch.h and upload.h, which get the connection.
 *
 * Calling sequence: server_run(), which returns when the agent has to end. Errors: negative errno values. Threads: one.
 */
#ifndef AGENT_NODE_SERVER_H
#define AGENT_NODE_SERVER_H

#include "agent/node/fetch.h"
#include "agent/node/launch.h"
#include "agent/node/listener.h"

#define SERVER_PATIENCE_MS 5000

struct server {
	struct service *service;
	struct listener *listener;
	struct fetch *fetch;
	struct upload *upload; /* NULL: the agent only reads */
	int signals;           /* signalfd */
	struct launch *launch; /* handles the signals */
};

int server_run(const struct server *server);

#endif
