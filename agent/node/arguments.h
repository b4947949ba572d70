/* SPDX-License-Identifier: MIT */
/*
 * arguments: parses the agent's command line
 *
 * One table contains every option, for the parser and for --help. Relative paths are made absolute, because the agent
 * changes its working directory.
 *
 * Errors: arguments_read() prints an error. Ownership: texts point into argv or stay valid as long as the process.
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
	const char *directory; /* NULL: NVRTCCACHE_DIR or the default */
	struct service_options service;
	const char *bundle; /* name of the bundle to put or to get */
	char **program;     /* the words after "--", with NULL at the end; NULL: none */
};

enum arguments_read { ARGUMENTS_FINE, ARGUMENTS_WRONG };
enum arguments_read arguments_read(int argc, char **argv, struct arguments *ret_arguments);
void arguments_help(void);

/*
 * commands: the modes of the program other than serving: --status, --put-bundle, --get-bundle
 *
 * Bundles are streamed from standard input into the engine, and from the engine to standard output: memory holds at
 * most the compressed value. A bundle from standard input is checked, and is not put if it is damaged or not a bundle.
 *
 * Errors: printed on stderr. Each function returns the exit status. Threads: one.
 */

/* Prints the status of the running agent. `socket` is a path, or NULL for the socket in the directory. */
int command_status(const struct settings *settings, const char *socket, bool as_json);
int command_put_bundle(const struct service_options *options, const char *name);
int command_get_bundle(const struct service_options *options, const char *name);

#endif
