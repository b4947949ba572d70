/* SPDX-License-Identifier: MIT */
/* ask: `nvrtccache-agent --status`: what the agent that runs has to say */
#ifndef AGENT_ASK_H
#define AGENT_ASK_H

#include "cache/settings.h"

#include <stdbool.h>

/* The exit status: 0, or 1 where no agent answers, which is said on stderr. */
int ask_status(const struct settings *settings, const char *socket, bool json);

#endif
