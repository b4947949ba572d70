/* SPDX-License-Identifier: MIT */
/*
 * upload: puts results of this node into the engine (docs/DESIGN.md G3)
 *
 * One thread makes all uploads. A result that a process reports is uploaded after a random delay of up to
 * UPLOAD_DELAY_NS, because nodes that start together compile the same kernels: the later nodes then find them in the
 * engine. If the engine does not have the key, the results are put. If it has the key without one of our results, all
 * results are put as one value. The thread sweeps the directory for files that were not reported when the agent starts,
 * every UPLOAD_SWEEP_NS, and when the agent ends. A sweep only checks whether the engine has a key, and only for files
 * that were written since the previous sweep and that this agent neither fetched nor uploaded.
 *
 * Not uploaded are results that depend on the time, that took less than `least_cost_ns`, that are too large to be
 * fetched, and with SERVICE_NEUTRAL_RESULTS path-dependent ones. A value in the engine that this agent cannot open is
 * replaced if it is damaged or its signature is missing or wrong. It is not replaced if it has another format or an
 * unknown key, because it may belong to another user.
 *
 * Calling sequence: upload_begin(), upload_stored(), upload_end(). If the service only reads, upload_begin() sets NULL,
 * which the other functions accept. Threads: any. Errors: upload_begin() prints errors.
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
/* Uploads the remaining results until `until_ns`, then ends the thread. */
enum service_thread upload_end(struct upload *upload, int64_t until_ns);

/* upload_one: puts the results of one key, if the engine lacks them */

#define UPLOAD_ONE_LIMIT_MS 10000

/* IF_ABSENT: nothing is put if the engine has the key. WITH_OTHERS: nothing is put if it has all of our results. */
enum upload_one { UPLOAD_ONE_IF_ABSENT, UPLOAD_ONE_WITH_OTHERS };
/* FAILED: the engine did not answer and may answer later. GIVEN_UP: it refused for lack of permission or space. */
enum upload_one_done { UPLOAD_ONE_SETTLED, UPLOAD_ONE_FAILED, UPLOAD_ONE_GIVEN_UP };

/* Uploads the results of a key. The outcome of a put is noted in `puts` (agent/node/service.h). */
enum upload_one_done upload_one(struct service *service, struct engine *engine, struct service_puts *puts,
                                const uint8_t key[ENTRY_KEY_BYTES], enum upload_one how, unsigned limit_ms);

/*
 * queue: the keys that are to be uploaded, each with the time when it is due (docs/DESIGN.md G3)
 *
 * The queue is bounded: a key is dropped if the queue is full, and a sweep of the directory finds it later. A key that
 * is in the queue is not added again. Threads: the caller holds a lock. Errors: an enum. Times: of any clock, in
 * nanoseconds.
 */

#define QUEUE_MOST 1024

struct queue {
	struct {
		int64_t due_ns;
		uint8_t key[ENTRY_KEY_BYTES];
	} items[QUEUE_MOST];
	size_t count;
};

enum queue_put { QUEUE_PUT, QUEUE_THERE, QUEUE_FULL };
enum queue_put queue_put(struct queue *queue, const uint8_t key[ENTRY_KEY_BYTES], int64_t due_ns);
/* Takes the item that was due first. Returns false if none is due; with INT64_MAX, all are. */
bool queue_take(struct queue *queue, int64_t now_ns, uint8_t ret_key[ENTRY_KEY_BYTES]);
/* Returns when the next item is due; INT64_MAX: the queue is empty. */
int64_t queue_due_ns(const struct queue *queue);

#endif
