/* SPDX-License-Identifier: MIT */
/*
 * arguments: the agent's command line
 *
 * One table holds every option, for the parser and for --help. Relative paths are made absolute, because the agent
 * leaves the directory that it was started in.
 *
 * Errors: arguments_read() prints what is wrong. Ownership: texts are argv's, or live as long as the program.
 */
#ifndef AGENT_NODE_ARGUMENTS_H
#define AGENT_NODE_ARGUMENTS_H

#include "agent/node/service.h"

enum arguments_mode {
	ARGUMENTS_SERVE,
	ARGUMENTS_PUT_BUNDLE,
	ARGUMENTS_GET_BUNDLE,
	ARGUMENTS_STATUS,
	ARGUMENTS_HELP,
	ARGUMENTS_VERSION
};

struct arguments {
	enum arguments_mode mode;
	bool json;
	const char *directory; /* NULL: NVRTCCACHE_DIR's, or the default */
	struct service_options service;
	const char *bundle; /* to put or to get */
	char **program;     /* behind "--", NULL at its end; NULL: none */
};

enum arguments_read { ARGUMENTS_FINE, ARGUMENTS_WRONG };
enum arguments_read arguments_read(int argc, char **argv, struct arguments *ret_arguments);
void arguments_help(void);

/*
 * commands: what the program does apart from serving: --status, --put-bundle, --get-bundle
 *
 * Bundles go from standard input into the engine, and from the engine to standard output, piece by piece: in memory is
 * at most what lies in the engine. A bundle is read on its way in: what is damaged, or no bundle, is not put.
 *
 * Errors: said on stderr. Each gives the exit status. Threads: one.
 */

/* What the agent that runs has to say; `socket`: a path, or NULL for the one in the directory. */
int command_status(const struct settings *settings, const char *socket, bool as_json);
int command_put_bundle(const struct service_options *options, const char *name);
int command_get_bundle(const struct service_options *options, const char *name);

#endif
