/* SPDX-License-Identifier: MIT */
/*
 * conversation: the agent's loop: who connects, what they ask, what they are told (docs/DESIGN.md G2)
 *
 * One thread talks to everybody, and waits for nobody: whoever connects has CONVERSATION_PATIENCE_MS to ask, a message
 * that is none ends the connection, an answer that a peer does not take is lost. Signals and the end of the program
 * that the agent was started for are looked at here too.
 *
 * Calling sequence: conversation_run() until the agent is to end. Errors: negative errno values. Threads: one.
 */
#ifndef AGENT_NODE_CONVERSATION_H
#define AGENT_NODE_CONVERSATION_H

#include "agent/node/fetch.h"
#include "agent/node/listener.h"
#include "agent/node/service.h"
#include "agent/node/upload.h"

#include <stddef.h>
#include <sys/signalfd.h>

#define CONVERSATION_PATIENCE_MS 5000

struct conversation {
	struct service *service;
	struct listener *listener;
	struct fetch *fetch;
	struct upload *upload; /* NULL: the agent only reads */
	int signals;           /* signalfd */
	/* True: the agent is to end. */
	bool (*signalled)(void *context, const struct signalfd_siginfo *signal);
	void *context;
};

int conversation_run(const struct conversation *conversation);

/*
 * status: the agent's state, as one JSON object
 *
 * It contains no secret: the engine is shown by engine_says(), keys by their ids. Errors: NULL: no memory.
 * Ownership: the text is the caller's (free). Threads: any.
 */

struct status_waiting {
	size_t fetches;
	size_t uploads;
};

char *status_json(struct service *service, const char *socket, struct status_waiting waiting);

#endif
