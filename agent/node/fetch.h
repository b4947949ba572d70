/* SPDX-License-Identifier: MIT */
/*
 * fetch: what processes ask for, brought from the engine into the directory (docs/DESIGN.md G2)
 *
 * A few workers, each with an engine of its own. One fetch a key at a time, whoever else asks for it waits for the same.
 * A fetch goes on when who asked has gone: it lands in the directory for the next one. What the engine has not is remembered
 * for FETCH_ABSENT_NS, so that the processes of a job that start together do not ask for it one after the other.
 *
 * Calling sequence: fetch_begin(); fetch_ask() for each question; whenever the descriptor fetch_done_fd() can be read,
 * fetch_take() until it gives none; fetch_end() waits for workers until then, and as long as
 * one question takes is enough but where a share hangs.
 * Errors: fetch_begin() says on stderr what is wrong. Threads: all but the workers' own work is of one thread.
 */
#ifndef AGENT_NODE_FETCH_H
#define AGENT_NODE_FETCH_H

#include "agent/node/service.h"
#include "cache/agent_message.h"

#define FETCH_ABSENT_NS (INT64_C(1500) * 1000000)

struct fetch;

bool fetch_begin(struct service *service, struct fetch **ret_fetch);
enum service_thread fetch_end(struct fetch *fetch, int64_t until_ns); /* NULL is fine */

/* AGENT_STARTED: fetch_take() will tell; AGENT_ABSENT and AGENT_DOWN at once. */
enum agent_kind fetch_ask(struct fetch *fetch, const uint8_t key[ENTRY_KEY_BYTES]);
/* Asks the engine whether it is there, once it is time for that. */
void fetch_probe(struct fetch *fetch);

int fetch_done_fd(const struct fetch *fetch);
struct fetched {
	uint8_t key[ENTRY_KEY_BYTES];
	enum agent_kind answer; /* AGENT_FOUND, AGENT_ABSENT, AGENT_DOWN */
};
bool fetch_take(struct fetch *fetch, struct fetched *ret_fetched);
size_t fetch_waiting(struct fetch *fetch);

#endif
