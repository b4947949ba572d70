/* SPDX-License-Identifier: MIT */
/*
 * upload: puts results of this node into the engine (docs/DESIGN.md G3)
 *
 * One thread does all of it. A result that a process reports waits for a random time up to UPLOAD_DELAY_NS, because
 * nodes that start together compile the same kernels: the later ones then find them in the engine. If the engine lacks
 * the key, the results are put. If it has the key without one of our results, both are put as one value. A sweep of the
 * directory, when the agent starts, every UPLOAD_SWEEP_NS and when it ends, finds files that nobody reported; it asks
 * only whether the engine has their key, and only about files that were written since the sweep before
 * and that this agent neither fetched nor uploaded.
 *
 * Not uploaded: results that depend on the time, that took less than `least_cost_ns`, that are too large to be fetched,
 * and with SERVICE_NEUTRAL_RESULTS path-dependent ones. A value in the engine that this agent cannot open is replaced
 * if it is damaged or its signature is missing or wrong. It is left if it may be another user's: of another format or
 * key.
 *
 * Calling sequence: upload_begin(), which gives NULL if the service only reads; the others accept that;
 * upload_stored(); upload_end(). Threads: any. Errors: upload_begin() prints what is wrong.
 */
#ifndef AGENT_NODE_UPLOAD_H
#define AGENT_NODE_UPLOAD_H

#include "agent/node/service.h"

#define UPLOAD_DELAY_NS (INT64_C(2) * 1000000000)
#define UPLOAD_SWEEP_NS (INT64_C(300) * 1000000000)

struct upload;

bool upload_begin(struct service *service, struct upload **ret_upload);
void upload_stored(struct upload *upload, const uint8_t key[ENTRY_KEY_BYTES]);
size_t upload_waiting(struct upload *upload);
/* Puts what is left, until then. */
enum service_thread upload_end(struct upload *upload, int64_t until_ns);

/* upload_one: puts the results of one key, if the engine lacks them */

#define UPLOAD_ONE_LIMIT_MS 10000

/* Does the key alone suffice, or must the engine have each of our results? */
enum upload_one { UPLOAD_ONE_IF_ABSENT, UPLOAD_ONE_WITH_OTHERS };
/* FAILED: the engine did not answer and may do so later. GIVEN_UP: it refused: no permission, or no space. */
enum upload_one_done { UPLOAD_ONE_SETTLED, UPLOAD_ONE_FAILED, UPLOAD_ONE_GIVEN_UP };

/* `puts` is told how a put ended (agent/node/service.h). */
enum upload_one_done upload_one(struct service *service, struct engine *engine, struct service_puts *puts,
                                const uint8_t key[ENTRY_KEY_BYTES], enum upload_one how, unsigned limit_ms);

#endif
