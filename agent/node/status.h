/* SPDX-License-Identifier: MIT */
/*
 * status: the agent's state for --status, as lines for people or as one JSON object
 *
 * It contains no secret: addresses with one are rejected, and keys are named by their ids. The agent sends names with
 * their values, of which `nvrtccache-agent --status` makes one of the two.
 *
 * Errors: status_text(): size 0 if memory runs out; the caller frees the text with free(). command_status() prints
 * errors on stderr, with --json also as JSON on stdout, and returns the exit status. Threads: any.
 */
#ifndef AGENT_NODE_STATUS_H
#define AGENT_NODE_STATUS_H

#include "agent/node/service.h"
#include "cache/agent_socket.h"

enum status_form { STATUS_LINES, STATUS_JSON };

char *status_text(struct service *service, const char *socket, size_t uploads, size_t *ret_size);

/* Prints the status of the running agent. `said` is a path, or NULL for the socket in the directory. */
int command_status(const struct settings *settings, const char *said, enum status_form form);

#endif
