/* SPDX-License-Identifier: MIT */
/* upload_one: one key's results put into the engine, where it has them not (agent/node/upload.h says what goes and what not) */
#ifndef AGENT_NODE_UPLOAD_ONE_H
#define AGENT_NODE_UPLOAD_ONE_H

#include "agent/node/service.h"

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
