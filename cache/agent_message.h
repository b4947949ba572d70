/* SPDX-License-Identifier: MIT */
/*
 * agent_message: what a process and the node's agent say to one another (docs/DESIGN.md G1, G2)
 *
 * A Unix socket of SOCK_SEQPACKET, a connection a question, one message of 64 bytes each way, integers in host order (both
 * ends are one machine). No payload crosses it: what the agent fetched it puts into the directory through the store,
 * and the process looks there.
 *
 *     process                         agent
 *     FETCH key            ->
 *                          <-         STARTED            at once: somebody lives there
 *                          <-         FOUND              it is in the directory now; or
 *                                     ABSENT             the engine has none; or
 *                                     DOWN               the engine cannot be asked now; or
 *                                     ELSEWHERE          the agent serves another directory
 *     STORED key           ->                            no answer
 *     STATUS               ->
 *                          <-         a text of its own  JSON, at most AGENT_STATUS_MAX bytes, in one message
 *     WORDS                ->
 *                          <-         the same for people, in lines
 *
 * An agent answers a message of another version, size or magic by closing the connection. A process takes anything that
 * is not an answer to its question for a liar, and compiles.
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
	AGENT_WORDS,
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
