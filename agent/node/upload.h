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

#endif
