/* SPDX-License-Identifier: MIT */
/*
 * agent_message: the protocol between a process and the node's agent (docs/DESIGN.md G1, G2)
 *
 * A Unix socket of type SOCK_SEQPACKET; one connection for each question; messages of 64 bytes; integers in host order,
 * because both ends are on one machine. No payload crosses the socket: the agent stores what it fetched in the
 * directory, and the process looks there.
 *
 *     process                         agent
 *     FETCH key            ->
 *                          <-         STARTED            at once: the agent is alive
 *                          <-         FOUND              it is in the directory now; or
 *                                     ABSENT             the engine does not have it; or
 *                                     DOWN               the engine cannot be asked now; or
 *                                     ELSEWHERE          the agent serves another directory
 *     STORED key           ->                            no answer
 *     STATUS               ->
 *                          <-         JSON, at most AGENT_STATUS_MAX bytes, in one message
 *
 * The agent closes the connection after a message of another version, size or magic. A process treats anything but an
 * answer to its question as a failure, and compiles.
 */
#ifndef CACHE_AGENT_MESSAGE_H
#define CACHE_AGENT_MESSAGE_H

#include <stdint.h>

#define AGENT_MAGIC      0x41434e76u /* "vNCA" in memory, on a little-endian machine */
#define AGENT_VERSION    1
#define AGENT_STATUS_MAX 65536
/* Where NVRTCCACHE_AGENT is 1: this, and the boot id behind it (another node's socket is of another boot). */
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
	uint32_t wait_ms; /* FETCH: how long the process waits; the agent may go on for the next one's sake */
	uint32_t unused;  /* 0 */
	uint64_t device;  /* of the cache directory, as the process sees it */
	uint64_t inode;
	uint8_t key[32];
};
_Static_assert(sizeof(struct agent_message) == 64, "a message is 64 bytes");

#endif
