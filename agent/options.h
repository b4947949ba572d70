/* SPDX-License-Identifier: MIT */
/*
 * options: the agent's command line
 *
 * One table of every option: getopt's and the help's, so that nothing is accepted that `--help` does not show. Paths may be
 * relative: they are made absolute, since the agent leaves the directory that it was started in.
 *
 * Errors: options_read() says on stderr what is wrong. Ownership: texts are argv's, or live as long as the program.
 */
#ifndef AGENT_OPTIONS_H
#define AGENT_OPTIONS_H

#include "agent/service.h"

enum options_mode { OPTIONS_SERVE, OPTIONS_STATUS, OPTIONS_HELP, OPTIONS_VERSION };

struct options {
	enum options_mode mode;
	bool json;
	const char *directory; /* NULL: NVRTCCACHE_DIR's, or the default */
	struct service_options service;
	char **program; /* behind "--", NULL at its end; NULL: none */
};

enum options_read { OPTIONS_FINE, OPTIONS_WRONG };
enum options_read options_read(int argc, char **argv, struct options *ret_options);
void options_help(void);

#endif
