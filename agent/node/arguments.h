/* SPDX-License-Identifier: MIT */
/*
 * arguments: parses the agent's command line
 *
 * One table contains every option, for the parser and for --help.
 *
 * Errors: arguments_read() prints an error. Ownership: texts point into argv or stay valid as long as the process.
 */
#ifndef AGENT_NODE_ARGUMENTS_H
#define AGENT_NODE_ARGUMENTS_H

#include "agent/node/status.h"

enum arguments_mode { ARGUMENTS_SERVE, ARGUMENTS_STATUS };

struct arguments {
	enum arguments_mode mode;
	enum status_form form; /* of ARGUMENTS_STATUS */
	const char *directory; /* NULL: NVRTCCACHE_DIR or the default */
	struct service_options service;
	char **program; /* the words after "--", with NULL at the end; NULL: none */
};

/* Returns false after a message. With --help or --version it ends the process. */
bool arguments_read(int argc, char **argv, struct arguments *ret_arguments);

#endif
