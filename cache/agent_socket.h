/* SPDX-License-Identifier: MIT */
/*
 * agent_socket: where the node's agent lives, reaching it, and whose it is (docs/DESIGN.md G1, G2)
 *
 * Purpose: the library, the command and the agent find one another by this and by nothing else. A socket file on a
 * shared file system is seen by all nodes, and only the node that bound it answers: hence the boot id in the name.
 * A socket's path may be longer than an address has room for: then it is reached through its directory's descriptor.
 *
 * Calling sequence, of a process: agent_socket_path(); agent_socket_connect(); agent_socket_trusted(); close. Of the
 * agent: agent_socket_path(); agent_socket_address(); bind; agent_socket_forget(); agent_socket_peer() of each who comes.
 * Errors: negative errno values; for connecting, any of them says that there is no agent that could be asked.
 * Threads: any. Fork, state: none. Descriptors: the caller's to close; O_CLOEXEC, above the standard streams.
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
 * What NVRTCCACHE_AGENT says, as a path: itself, or for "1" the one in `directory` (<directory>/v1/agent.<boot id>).
 * -EINVAL: neither, or no directory. -ENAMETOOLONG. -ENOENT and kin: the boot id cannot be read.
 */
int agent_socket_path(const char *said, const char *directory, char ret_path[PATH_MAX]);

/* For bind() or connect(). */
struct agent_address {
	struct sockaddr_un name;
	socklen_t size;
	int place; /* its directory, where the path is too long; else -1 */
};
int agent_socket_address(const char *path, struct agent_address *ret_address);
void agent_socket_forget(struct agent_address *address);

/* The two steps of agent_socket_connect(), for who must know the descriptor from its first moment on; -errno. */
int agent_socket_new(void);
int agent_socket_reach(int socket, const char *path);
/* Waits for nobody: -EAGAIN where the agent takes no more. */
int agent_socket_connect(const char *path, int *ret_socket);

/* Who bound it, or who connected: false where the kernel does not say. */
bool agent_socket_peer(int socket, struct ucred *ret_peer);
/*
 * Is who bound it us or root? Where the directory is shared: or the owner of the socket's file, where an entry of the
 * same owner and group would be used.
 */
bool agent_socket_trusted(int socket, const char *path, const struct directory *directory);

/* Which directory is meant, whatever it is called: device and inode of it, as both ends see it. */
int agent_socket_place(const struct directory *directory, uint64_t *ret_device, uint64_t *ret_inode);

#endif
