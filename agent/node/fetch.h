/* SPDX-License-Identifier: MIT */
/*
 * fetch: copies the entries that processes ask for from the engine into the directory (docs/DESIGN.md G2, G6)
 *
 * Each of a few worker threads has its own engine. Processes that ask for the same key wait for the same fetch. A fetch
 * continues even if the process that asked has exited, because other processes can use the entry in the directory. A
 * key that the engine does not have is remembered for FETCH_ABSENT_NS, because the processes of a job that start
 * together ask for it one after the other. One worker first fetches the bundle of the service's options, if there is
 * one. If the engine does not answer, the bundle is fetched again after 1 s, 2 s, and so on up to a minute, of which
 * half is random.
 *
 * Calling sequence: fetch_begin(); fetch_ask() for each request; fetch_tick() at least once a second; when
 * fetch_done_fd() is readable, fetch_take() until it returns false; fetch_end().
 * Errors: fetch_begin() prints errors. Threads: one thread calls all these functions.
 */
#ifndef AGENT_NODE_FETCH_H
#define AGENT_NODE_FETCH_H

#include "agent/node/service.h"
#include "cache/agent_socket.h"

#define FETCH_ABSENT_NS (INT64_C(1500) * 1000000)

struct fetch;

/*
 * Starts the workers. A worker calls `first` after the first attempt to fetch the bundle; if that succeeded, its
 * entries are in the directory.
 */
bool fetch_begin(struct service *service, void (*first)(void *context), void *context, struct fetch **ret_fetch);
/*
 * Ends the workers. SERVICE_LEFT: at `until_ns` a worker was still in a call of its engine, for example on a hung
 * share; nothing that it uses may be freed.
 */
enum service_thread fetch_end(struct fetch *fetch, int64_t until_ns); /* NULL is accepted */

/* Returns AGENT_STARTED if fetch_take() will return the answer later; AGENT_ABSENT and AGENT_DOWN are the answer. */
enum agent_kind fetch_ask(struct fetch *fetch, const uint8_t key[ENTRY_KEY_BYTES]);
/* Lets a worker probe the engine, or fetch the bundle again, if it is time for that. */
void fetch_tick(struct fetch *fetch);

/* Returns an eventfd that becomes readable when a fetch has ended. */
int fetch_done_fd(const struct fetch *fetch);
struct fetched {
	uint8_t key[ENTRY_KEY_BYTES];
	enum agent_kind answer; /* AGENT_FOUND, AGENT_ABSENT, AGENT_DOWN */
};
/* Takes the answer of the oldest fetch that has ended. Returns false if there is none. */
bool fetch_take(struct fetch *fetch, struct fetched *ret_fetched);
size_t fetch_waiting(struct fetch *fetch);

/* bundle_fetch: fetches the bundle of the options, and stores its entries until `ending` is set */
enum service_bundle bundle_fetch(struct service *service, struct engine *engine, const _Atomic bool *ending);

#endif
