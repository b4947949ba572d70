/* SPDX-License-Identifier: MIT */
/*
 * agent_socket: the path of the agent's socket, connections to it, and checks of its owner (docs/DESIGN.md G1, G2)
 *
 * Purpose: the library, the command and the agent find each other only by the path of the socket. On a shared file
 * system all nodes see the socket file, but only connections on the node that bound it work, so its name contains the
 * boot id.
 *
 * Calling sequence of a process: agent_socket_path(); agent_socket_connect(); agent_socket_trusted(); close. Of the
 * agent: agent_socket_path(); agent_socket_attach(); agent_socket_peer() for each client.
 * Errors: negative errno values; any error of a connection means that there is no agent to ask.
 * Threads: any. Descriptors: closed by the caller; O_CLOEXEC, above the standard streams.
 */
#ifndef CACHE_AGENT_SOCKET_H
#define CACHE_AGENT_SOCKET_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct directory;

/*
 * Returns the path for a value of NVRTCCACHE_AGENT: the value itself if it is an absolute path, or
 * <directory>/v1/agent.<boot id> if it is "1". -EINVAL: another value, or "1" without a directory. -ENAMETOOLONG. Other
 * errors: the boot id cannot be read.
 */
int agent_socket_path(const char *said, const char *directory, char ret_path[PATH_MAX]);

/* Calls bind() or connect() with the address of the path, which may be longer than an address. */
typedef int agent_attach(int socket, const struct sockaddr *address, socklen_t size);
int agent_socket_attach(int socket, const char *path, agent_attach *attach);

/* Returns a socket for it, or a negative errno value. */
int agent_socket_new(void);
/* Connects without waiting. -EAGAIN: the agent's backlog is full. */
int agent_socket_connect(const char *path, int *ret_socket);

/* Returns the credentials of the peer: the process that bound the socket, or that connected. False: not available. */
bool agent_socket_peer(int socket, struct ucred *ret_peer);
/*
 * Returns whether this user or root bound the socket. In a shared directory another user is accepted too, if that user
 * owns the socket's file and an entry with the owner and group of that file would be trusted.
 */
bool agent_socket_trusted(int socket, const char *path, const struct directory *directory);

/* Returns device and inode of the directory's home, which identify it to both ends even if they use different paths. */
int agent_socket_place(const struct directory *directory, uint64_t *ret_device, uint64_t *ret_inode);

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
 *                          <-         names and values (agent/node/status.h): one message of at most
 *                                     AGENT_STATUS_MAX bytes
 *
 * The agent closes the connection after a message of another version, size or magic. A process treats every other
 * message than an answer to its question as a failure, and compiles.
 */

#define AGENT_MAGIC      0x41434e76u /* "vNCA" in memory, on a little-endian machine */
#define AGENT_VERSION    1
#define AGENT_STATUS_MAX 65536
/* The name in v1 if NVRTCCACHE_AGENT is 1: this and the boot id, because other nodes may share the directory. */
#define AGENT_SOCKET_NAME "agent."

enum agent_kind {
	AGENT_FETCH = 1,
	AGENT_STORED,
	AGENT_STATUS = 6, /* 3 to 5 had other answers */
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
	uint64_t device;  /* device of the cache directory's home, as the process sees it */
	uint64_t inode;
	uint8_t key[32];
};
_Static_assert(sizeof(struct agent_message) == 64, "a message is 64 bytes");

#endif
