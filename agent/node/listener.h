/* SPDX-License-Identifier: MIT */
/*
 * listener: the agent's socket: ensures one agent per socket, and checks who may connect (docs/DESIGN.md G1)
 *
 * The socket's file is in a directory that this user or root owns and that no other user can write, or in a shared
 * cache that is trusted (cache/trust.h). Only its owner can connect, or the group of a shared cache. The agent that
 * uses the socket holds a lock on "<socket>.lock" beside it. The holder of the lock may replace the socket file of an
 * agent that has died.
 *
 * Calling sequence: listener_open(), accept() on `socket`, listener_admits() for each client, listener_renew()
 * periodically, listener_close(), which removes both files. Errors: listener_open() writes a text to `ret_text`; -EBUSY
 * means that another agent uses the socket. Threads: one.
 */
#ifndef AGENT_NODE_LISTENER_H
#define AGENT_NODE_LISTENER_H

#include "cache/agent_socket.h"
#include "cache/directory.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#define LISTENER_TEXT_MAX 512

struct listener {
	int socket;
	int lock;
	int place;    /* directory of the socket's file */
	dev_t device; /* of the socket's file */
	ino_t inode;
	char path[PATH_MAX];
	struct directory directory;
};

/* Creates the socket. `said` is a path, or NULL for the socket in the directory, which is created if it is missing. */
int listener_open(const struct directory *directory, const char *said, struct listener *ret_listener,
                  char ret_text[LISTENER_TEXT_MAX]);
/*
 * Creates the socket again if its file was removed, for example with the cache directory, which a later store may have
 * created again. Returns true if it did. After a failure `socket` is -1 until a later call succeeds.
 */
bool listener_renew(struct listener *listener);
/* Returns whether the user at the other end of a connection may use the agent. */
bool listener_admits(const struct listener *listener, int peer);
void listener_close(struct listener *listener);

/* Sends an answer without blocking. Errors are ignored, because a process without an answer compiles. */
void listener_tell(int peer, enum agent_kind kind);

/* Writes the path of the socket. `said` is a path, or NULL for the socket in the directory. */
int listener_path(const char *directory, const char *said, char ret_path[PATH_MAX]);

#endif
