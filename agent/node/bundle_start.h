/* SPDX-License-Identifier: MIT */
/*
 * bundle_start: the bundle that an agent brings into its directory when it starts (docs/DESIGN.md G6)
 *
 * A thread of its own, with an engine of its own, beside those who fetch: nobody waits for it. An engine that does not
 * answer is asked again, later and later; any other answer is the last. What comes is checked as the results of a
 * key are, and put into the directory as `nvrtccache import` does. How it went is said on stderr, and in the status.
 *
 * Calling sequence: bundle_start_begin() (nothing where no bundle is asked for: then it gives NULL, which the other takes);
 * `first` is called once, when the engine has been asked for the first time, and what it gave is in the directory.
 * bundle_start_end(). Errors: bundle_start_begin() says on stderr what is wrong. Threads: one calls.
 */
#ifndef AGENT_NODE_BUNDLE_START_H
#define AGENT_NODE_BUNDLE_START_H

#include "agent/node/service.h"

struct bundle_start;

bool bundle_start_begin(struct service *service, void (*first)(void *context), void *context,
                        struct bundle_start **ret_start);
/* SERVICE_LEFT: its thread is still at it, and nothing of the service's may be freed. */
enum service_thread bundle_start_end(struct bundle_start *start, int64_t until_ns);

#endif
