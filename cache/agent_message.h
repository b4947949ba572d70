/* SPDX-License-Identifier: MIT */
/*
 * agent_message: the protocol between a process and the node's agent (docs/DESIGN.md G1, G2)
 *
 * A Unix socket of type SOCK_SEQPACKET; one connection for each question; messages of 64 bytes; integers in host order,
 * because both ends are on one machine. No payload crosses the socket: the agent stores a fetched entry in the cache
 * directory, and the process looks up the key there.
 *
 *     process                         agent
 *     FETCH key            ->
 *                          <-         STARTED            at once: the agent is running
 *                          <-         FOUND              the entry is in the directory now; or
 *                                     ABSENT             the engine does not have it; or
 *                                     DOWN               the engine cannot be asked now; or
 *                                     ELSEWHERE          the agent serves another directory
 *     STORED key           ->                            no answer
 *     STATUS               ->
 *                          <-         JSON, at most AGENT_STATUS_MAX bytes, in one message
 *
 * The agent closes the connection after a message of another version, size or magic. A process treats every other
 * message than an answer to its question as a failure, and compiles.
 */
#ifndef CACHE_AGENT_MESSAGE_H
#define CACHE_AGENT_MESSAGE_H

#include <stdint.h>

#define AGENT_MAGIC      0x41434e76u /* "vNCA" in memory, on a little-endian machine */
#define AGENT_VERSION    1
#define AGENT_STATUS_MAX 65536
/* The name in v1 if NVRTCCACHE_AGENT is 1: this and the boot id, because other nodes may share the directory. */
#define AGENT_SOCKET_NAME "agent."

enum agent_kind {
	AGENT_FETCH = 1,
	AGENT_STORED,
	AGENT_STATUS,
	AGENT_STARTED = 16,
	AGENT_FOUND,
	AGENT_ABSENT,
	AGENT_DOWN,
	AGENT_ELSEWHERE,
};

struct agent_message {
	uint32_t magic;
	uint16_t version;
	uint16_t kind;    /* enum agent_kind */
	uint32_t wait_ms; /* FETCH: how long the process waits; the agent may continue to fetch for later processes */
	uint32_t unused;  /* 0 */
	uint64_t device;  /* device of the cache directory, as the process sees it */
	uint64_t inode;
	uint8_t key[32];
};
_Static_assert(sizeof(struct agent_message) == 64, "a message is 64 bytes");

#endif
