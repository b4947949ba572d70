/* SPDX-License-Identifier: MIT */
/*
 * listener: the agent's socket: one agent for each socket, and who may connect (docs/DESIGN.md G1)
 *
 * The socket's file is in a directory that this user or root owns and that no other user can write, or in a shared
 * cache that is trusted (cache/trust.h). Only its owner can connect, or the group of a shared cache. It replaces that
 * of an agent that has died. Of two agents that start at the same moment, the first finds its socket replaced and ends.
 *
 * Calling sequence: listener_open(), accept() on `socket`, listener_admits() for each client, listener_stands()
 * periodically, listener_close(), which removes the file and makes accept() fail. Errors: listener_open() prints them
 * on stderr; -EBUSY: another agent uses the socket. Threads: listener_admits() any, the others one.
 */
#ifndef AGENT_NODE_LISTENER_H
#define AGENT_NODE_LISTENER_H

#include "cache/agent_socket.h"
#include "cache/directory.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct listener {
	int socket;
	int place;    /* directory of the socket's file */
	dev_t device; /* of the socket's file */
	ino_t inode;
	char path[PATH_MAX];
	struct directory directory;
};

/* Creates the socket. `said` is a path, or NULL for the socket in the directory, which is created if it is missing. */
int listener_open(const struct directory *directory, const char *said, struct listener *ret_listener);
/* Returns whether the socket's file is still the one that was made. */
bool listener_stands(const struct listener *listener);
/* Returns whether the user at the other end of a connection may use the agent. */
bool listener_admits(const struct listener *listener, int peer);
void listener_close(struct listener *listener);

/* Returns the text of an error of the socket, for users: those of errno describe the socket, and not the agent. */
const char *listener_explain(int error);

#endif
