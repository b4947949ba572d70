/* SPDX-License-Identifier: MIT */
/*
 * fetch: copies the entries that processes ask for from the engine into the directory (docs/DESIGN.md G2)
 *
 * Each of a few worker threads has its own engine. Processes that ask for the same key wait for the same fetch. A fetch
 * continues even if the process that asked has exited, because other processes can use the entry in the directory. A
 * key that the engine does not have is remembered for FETCH_ABSENT_NS, because the processes of a job that start
 * together ask for it one after the other. The workers also probe the engine and answer --status, because both may take
 * as long as the engine's time limit.
 *
 * Calling sequence: fetch_begin(), fetch_ask() and fetch_status() for each connection, fetch_end().
 * Errors: fetch_begin() prints errors. Threads: any. Ownership: fetch_ask() and fetch_status() take the connection, and
 * close it after the answer.
 */
#ifndef AGENT_NODE_FETCH_H
#define AGENT_NODE_FETCH_H

#include "agent/node/service.h"
#include "agent/node/upload.h"
#include "cache/agent_socket.h"

#define FETCH_ABSENT_NS (INT64_C(1500) * 1000000)

struct fetch;

/* `socket_path` is for --status. `upload` may be NULL. */
bool fetch_begin(struct service *service, struct upload *upload, const char *socket_path, struct fetch **ret_fetch);
/*
 * Ends the workers. NULL is accepted. False: at `until_ns` one was still in a call of its engine, and nothing that it
 * uses may be freed.
 */
bool fetch_end(struct fetch *fetch, int64_t until_ns);

/* Answers FOUND, ABSENT or DOWN on the connection, at once or when the fetch has ended. */
void fetch_ask(struct fetch *fetch, const uint8_t key[ENTRY_KEY_BYTES], int socket);
/* Answers with the status, after a probe if the engine was not asked within the last second. */
void fetch_status(struct fetch *fetch, enum agent_kind form, int socket);

#endif
