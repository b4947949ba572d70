/* SPDX-License-Identifier: MIT */
/*
 * queue: the keys that are to be uploaded, each with the time when it is due (docs/DESIGN.md G3)
 *
 * The queue is bounded: a key is dropped if the queue is full, and a sweep of the directory finds it later. A key that
 * is in the queue is not added again. Threads: the caller holds a lock. Errors: an enum. Times: of any clock, in
 * nanoseconds.
 */
#ifndef AGENT_NODE_QUEUE_H
#define AGENT_NODE_QUEUE_H

#include "cache/entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
/* Takes the item that was due first. Returns false if none is due. */
bool queue_take(struct queue *queue, int64_t now_ns, uint8_t ret_key[ENTRY_KEY_BYTES]);
/* Returns when the next item is due; INT64_MAX: the queue is empty. */
int64_t queue_due_ns(const struct queue *queue);
/* Makes all keys due at once. */
void queue_hurry(struct queue *queue);

#endif
