/* SPDX-License-Identifier: MIT */
/*
 * conversation: the agent's event loop: connections, requests and answers (docs/DESIGN.md G2)
 *
 * One thread serves all peers and never blocks on one of them: a peer has CONVERSATION_PATIENCE_MS to send its request,
 * an invalid message closes the connection, and an answer that a peer does not read is dropped. The loop also handles
 * signals and the end of the program that the agent was started for.
 *
 * Calling sequence: conversation_run(), which returns when the agent has to end. Errors: negative errno values.
 * Threads: one.
 */
#ifndef AGENT_NODE_CONVERSATION_H
#define AGENT_NODE_CONVERSATION_H

#include "agent/node/fetch.h"
#include "agent/node/launch.h"
#include "agent/node/listener.h"
#include "agent/node/service.h"
#include "agent/node/upload.h"

#include <stddef.h>

#define CONVERSATION_PATIENCE_MS 5000

struct conversation {
	struct service *service;
	struct listener *listener;
	struct fetch *fetch;
	struct upload *upload; /* NULL: the agent only reads */
	int signals;           /* signalfd */
	struct launch *launch; /* handles the signals */
};

int conversation_run(const struct conversation *conversation);

/*
 * status: the agent's state, as one JSON object
 *
 * It contains no secret: the engine is described by engine_says(), and keys by their ids. Errors: NULL if memory runs
 * out. Ownership: the caller frees the text with free(). Threads: any.
 */

struct status_waiting {
	size_t fetches;
	size_t uploads;
};

char *status_json(struct service *service, const char *socket, struct status_waiting waiting);

#endif
