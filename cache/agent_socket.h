/* SPDX-License-Identifier: MIT */
/*
 * agent_socket: the agent's socket: its path, connecting to it, and whose it is (docs/DESIGN.md G1, G2)
 *
 * Purpose: the library, the command and the agent find each other by this file alone. All nodes see a socket file on a
 * shared file system, but only the node that bound it answers: so the name has the boot id in it. A path that is longer
 * than a socket address allows is reached through a descriptor of its directory.
 *
 * Calling sequence of a process: agent_socket_path(); agent_socket_connect(); agent_socket_trusted(); close. Of the
 * agent: agent_socket_path(); agent_socket_address(); bind; agent_socket_forget(); agent_socket_peer() for each client.
 * Errors: negative errno values; any error of a connection means that there is no agent to ask.
 * Threads: any. Descriptors: the caller's to close; O_CLOEXEC, above the standard streams.
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
 * Returns the path that NVRTCCACHE_AGENT means: a path as it is, "1" for <directory>/v1/agent.<boot id>. -EINVAL:
 * neither, or no directory. -ENAMETOOLONG. Other errors: the boot id cannot be read.
 */
int agent_socket_path(const char *said, const char *directory, char ret_path[PATH_MAX]);

/* An address for bind() or connect(). */
struct agent_address {
	struct sockaddr_un name;
	socklen_t size;
	int place; /* descriptor of the directory, if the path is too long; else -1 */
};
int agent_socket_address(const char *path, struct agent_address *ret_address);
void agent_socket_forget(struct agent_address *address);

/* The two steps of agent_socket_connect(), for a caller that needs the descriptor from its creation on; -errno. */
int agent_socket_new(void);
int agent_socket_reach(int socket, const char *path);
/* Does not wait. -EAGAIN: the agent's backlog is full. */
int agent_socket_connect(const char *path, int *ret_socket);

/* The credentials of the process that bound the socket, or connected. False: the kernel does not say. */
bool agent_socket_peer(int socket, struct ucred *ret_peer);
/*
 * Did this user or root bind the socket? In a shared directory the owner of the socket's file is accepted too, if an
 * entry of that owner and group would be.
 */
bool agent_socket_trusted(int socket, const char *path, const struct directory *directory);

/* Device and inode of the cache directory, which identify it to both ends even if their paths differ. */
int agent_socket_place(const struct directory *directory, uint64_t *ret_device, uint64_t *ret_inode);

#endif
