/* SPDX-License-Identifier: MIT */
/*
 * bundle_once: a bundle put into the engine, or got from it, and nothing else (docs/DESIGN.md G6)
 *
 * For jobs and for scripts before a program; no agent has to run, and no directory is touched. A bundle goes from standard
 * input and to standard output, so `nvrtccache export -` and `nvrtccache import -` stand before and behind.
 * Errors: the exit status: 0, or 1, and what is wrong is said on stderr. Nothing is written before the signature was
 * found right.
 */
#ifndef AGENT_BUNDLE_ONCE_H
#define AGENT_BUNDLE_ONCE_H

#include "agent/service.h"

int bundle_once_put(const struct service_options *options, const char *name);
int bundle_once_get(const struct service_options *options, const char *name);

#endif
