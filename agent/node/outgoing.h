/* SPDX-License-Identifier: MIT */
/*
 * outgoing: which results of this node go to other nodes (docs/DESIGN.md G3)
 *
 * Left out and counted are path-dependent results, results that depend on the time, that took less than
 * `least_cost_ns`, or that are too large to be fetched. The others go without the stamps of this node.
 */
#ifndef AGENT_NODE_OUTGOING_H
#define AGENT_NODE_OUTGOING_H

#include "agent/node/service.h"

/* Reads the results of a key from the directory, newest first. The caller frees them with results_free(). */
void outgoing_read(struct service *service, const uint8_t key[ENTRY_KEY_BYTES], struct results *ret_results);

#endif
