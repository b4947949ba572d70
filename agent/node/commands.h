/* SPDX-License-Identifier: MIT */
/*
 * commands: what the program does apart from serving: --status, --put-bundle, --get-bundle
 *
 * Bundles go from standard input into the engine, and from the engine to standard output, piece by piece: in memory is at most
 * what lies in the engine. A bundle is read on its way in: what is damaged, or no bundle, is not put.
 *
 * Errors: said on stderr. Each gives the exit status. Threads: one.
 */
#ifndef AGENT_NODE_COMMANDS_H
#define AGENT_NODE_COMMANDS_H

#include "agent/node/service.h"

/* What the agent that runs has to say; `socket`: a path, or NULL for the one in the directory. */
int command_status(const struct settings *settings, const char *socket, bool as_json);
int command_put_bundle(const struct service_options *options, const char *name);
int command_get_bundle(const struct service_options *options, const char *name);

#endif
