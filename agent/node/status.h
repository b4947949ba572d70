/* SPDX-License-Identifier: MIT */
/*
 * status: prints the state of a running agent (--status), as lines for people or as one JSON object
 *
 * The agent sends names with their values, each with a NUL at the end; a value that is a text begins with a quote. They
 * contain no secret: addresses with one are rejected, and keys are named by their ids.
 *
 * Errors: printed on stderr, with --json also as JSON on stdout. Threads: one.
 */
#ifndef AGENT_NODE_STATUS_H
#define AGENT_NODE_STATUS_H

#include "agent/node/service.h"
#include "cache/agent_socket.h"

enum status_form { STATUS_LINES, STATUS_JSON };

/* Returns the exit status. `said` is a path, or NULL for the socket in the directory. */
int command_status(const struct settings *settings, const char *said, enum status_form form);

#endif
