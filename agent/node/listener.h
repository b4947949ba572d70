/* SPDX-License-Identifier: MIT */
/*
 * listener: the agent's socket: one agent for each socket, and who may connect (docs/DESIGN.md G1)
 *
 * The socket's file lies in a directory that this user or root owns and that nobody else can write, or in a shared
 * cache of the same kind (cache/trust.h). It is open to its owner, or to the cache's group. Beside it lies
 * "<socket>.lock", locked by the process that serves there: its holder may replace the socket file of a dead agent.
 *
 * Calling sequence: listener_open(), accept() on `socket`, listener_admits() for each client, listener_renew() now and
 * then, listener_close(), which removes both files. Errors: listener_open() says in `ret_text` what is wrong; -EBUSY:
 * another agent serves there. Threads: one.
 */
#ifndef AGENT_NODE_LISTENER_H
#define AGENT_NODE_LISTENER_H

#include "cache/directory.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#define LISTENER_TEXT_MAX 512

struct listener {
	int socket;
	int lock;
	int place;    /* its directory */
	dev_t device; /* the socket's file */
	ino_t inode;
	char path[PATH_MAX];
	struct directory directory;
};

/* `said`: a path, or NULL for the socket in the directory, which is made where it is missing. */
int listener_open(const struct directory *directory, const char *said, struct listener *ret_listener,
                  char ret_text[LISTENER_TEXT_MAX]);
/*
 * Another process may have removed the directory with the socket, and a later store may have created the directory
 * again: listens there again. Returns true if it does now. On failure `socket` is -1 until a later call.
 */
bool listener_renew(struct listener *listener);
bool listener_admits(const struct listener *listener, int peer);
void listener_close(struct listener *listener);

/* The path that the two mean. */
int listener_path(const char *directory, const char *said, char ret_path[PATH_MAX]);

#endif
