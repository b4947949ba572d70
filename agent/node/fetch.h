/* SPDX-License-Identifier: MIT */
/*
 * fetch: brings what processes ask for from the engine into the directory (docs/DESIGN.md G2, G6)
 *
 * A few worker threads, each with an engine of its own. Processes that ask for the same key wait for one fetch. A fetch
 * continues when the process that asked has gone: the result is in the directory for the next one. A key that the
 * engine lacks is remembered for FETCH_ABSENT_NS, because the processes of a job that start together ask for it one
 * after the other. One worker first fetches the bundle of the service's options, if there is one. An engine that does
 * not answer is asked for it again after 1 s, 2 s, and so on up to a minute, half of that at random.
 *
 * Calling sequence: fetch_begin(); fetch_ask() for each question; fetch_tick() at least once a second; when
 * fetch_done_fd() can be read, fetch_take() until it gives none; fetch_end().
 * Errors: fetch_begin() prints what is wrong. Threads: the caller's functions are of one thread.
 */
#ifndef AGENT_NODE_FETCH_H
#define AGENT_NODE_FETCH_H

#include "agent/node/service.h"
#include "cache/agent_message.h"

#define FETCH_ABSENT_NS (INT64_C(1500) * 1000000)

struct fetch;

/* `first` is called by a worker when the bundle was asked for once; its entries are in the directory then. */
bool fetch_begin(struct service *service, void (*first)(void *context), void *context, struct fetch **ret_fetch);
/* SERVICE_LEFT: at `until_ns` a worker was still inside its engine, as a hung share causes; nothing may be freed. */
enum service_thread fetch_end(struct fetch *fetch, int64_t until_ns); /* NULL is fine */

/* AGENT_STARTED: fetch_take() will give the answer. AGENT_ABSENT and AGENT_DOWN are the answer. */
enum agent_kind fetch_ask(struct fetch *fetch, const uint8_t key[ENTRY_KEY_BYTES]);
/* Lets a worker probe the engine, or fetch the bundle again, if it is time for that. */
void fetch_tick(struct fetch *fetch);

int fetch_done_fd(const struct fetch *fetch);
struct fetched {
	uint8_t key[ENTRY_KEY_BYTES];
	enum agent_kind answer; /* AGENT_FOUND, AGENT_ABSENT, AGENT_DOWN */
};
bool fetch_take(struct fetch *fetch, struct fetched *ret_fetched);
size_t fetch_waiting(struct fetch *fetch);

/* bundle_fetch: fetches the bundle of the options, and stores its entries until `ending` is set */
enum service_bundle bundle_fetch(struct service *service, struct engine *engine, const _Atomic bool *ending);

#endif
