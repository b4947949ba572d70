/* SPDX-License-Identifier: MIT */
/*
 * upload: puts results of this node into the engine (docs/DESIGN.md G3)
 *
 * One thread makes all uploads. A result that a process reports is uploaded after a random delay of up to
 * UPLOAD_DELAY_NS, because nodes that start together compile the same kernels: the later nodes then find them in the
 * engine. The thread looks at the first bytes of the engine's value:
 *
 *     absent, or one that this agent would refuse --> put the results of this node
 *     sound --> store its results in the directory, which merges them as it merges all results; put what the directory
 *               then has, if that is more, or if the value is not signed with the present key
 *
 * The thread sweeps the directory for files that were not reported when the agent starts, every UPLOAD_SWEEP_NS, and
 * when the agent ends. A sweep only looks at the first bytes of values, and only for files that were written since the
 * previous sweep and that this agent neither fetched nor uploaded.
 *
 * Not uploaded are path-dependent results, results that depend on the time, that took less than `least_cost_ns`, or
 * that are too large to be fetched. After a put that failed the thread pauses for 1 s, 2 s, and so on up to a minute.
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
/* Makes all uploads due, and asks the thread to end at `until_ns` at the latest. */
void upload_drain(struct upload *upload, int64_t until_ns);
/* Waits for the end of the thread. False: it still runs, and nothing that it uses may be freed. */
bool upload_end(struct upload *upload, int64_t until_ns);

/*
 * queue: the keys that are to be uploaded, each with the time when it is due
 *
 * The queue is bounded: a key is dropped if the queue is full, and a sweep of the directory finds it later. A key that
 * is in the queue is not added again. Threads: the caller holds a lock. Times: of any clock, in nanoseconds.
 */

#define QUEUE_MOST 1024

struct queue {
	struct {
		int64_t due_ns;
		uint8_t key[ENTRY_KEY_BYTES];
	} items[QUEUE_MOST];
	size_t count;
};

/* Returns false if the queue is full. */
bool queue_put(struct queue *queue, const uint8_t key[ENTRY_KEY_BYTES], int64_t due_ns);
/* Takes the item that was due first. Returns false if none is due; with INT64_MAX, all are. */
bool queue_take(struct queue *queue, int64_t now_ns, uint8_t ret_key[ENTRY_KEY_BYTES]);
/* Returns when the next item is due; INT64_MAX: the queue is empty. */
int64_t queue_due_ns(const struct queue *queue);

#endif
