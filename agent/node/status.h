/* SPDX-License-Identifier: MIT */
/*
 * status: how the agent fares, as JSON and in words (docs/DESIGN.md G5)
 *
 * Neither holds a secret: the engine is shown as engine_says() has it, keys by their ids. Errors: NULL: no memory.
 * Ownership: the text is the caller's (free). Threads: any.
 */
#ifndef AGENT_NODE_STATUS_H
#define AGENT_NODE_STATUS_H

#include "agent/node/service.h"

#include <stddef.h>

struct status_waiting {
	size_t fetches;
	size_t uploads;
};

char *status_json(struct service *service, const char *socket, struct status_waiting waiting);
char *status_words(struct service *service, const char *socket, struct status_waiting waiting);

#endif
