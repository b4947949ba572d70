/* SPDX-License-Identifier: MIT */
/*
 * upload: what was compiled on this node, put into the engine (docs/DESIGN.md G3)
 *
 * One thread. What a process has stored waits a random time up to UPLOAD_DELAY_NS, so that of nodes that compiled the same
 * together the later ones see that it is there. Then: is it there? Not: put. There, and it lacks a result of ours: both are put as
 * one. A sweep over the directory, when the agent starts, each UPLOAD_SWEEP_NS and when it ends, finds what nobody told of;
 * of files that are older than the agent it asks only whether the engine has the key.
 *
 * Not uploaded: results that hang on the time, that are cheaper than the least, larger than may be fetched, and with
 * SERVICE_NEUTRAL_RESULTS those that are bound to literal paths. What lies in the engine and is no value that this agent could
 * open is replaced where it was meant for it (damaged, unsigned, a wrong signature), and left where it may be somebody
 * else's (another format, another key of theirs).
 *
 * Calling sequence: upload_begin() (nothing where the service only reads: then it gives NULL, which all others take);
 * upload_stored(); upload_end(). Threads: any. Errors: upload_begin() says on stderr what is wrong.
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

/*
 * upload_one: one key's results put into the engine, where it has them not (agent/node/upload.h says what goes and what not)
 */

#define UPLOAD_ONE_LIMIT_MS 10000

/* Is it enough that the engine has the key, or has it to have every result of ours? */
enum upload_one { UPLOAD_ONE_IF_ABSENT, UPLOAD_ONE_WITH_OTHERS };
/* FAILED: the engine did not answer, and may soon. GIVEN_UP: it answers, and will not have it now: no right, no room. */
enum upload_one_done { UPLOAD_ONE_SETTLED, UPLOAD_ONE_FAILED, UPLOAD_ONE_GIVEN_UP };

/* `written_ns`: of the file, where that is known, else 0. `puts` is told how a put ended (agent/node/service.h). */
enum upload_one_done upload_one(struct service *service, struct engine *engine, struct service_puts *puts,
                                const uint8_t key[ENTRY_KEY_BYTES], int64_t written_ns, enum upload_one how,
                                unsigned limit_ms);

#endif
