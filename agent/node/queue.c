/* SPDX-License-Identifier: MIT */
#include "agent/node/queue.h"

#include <string.h>

/* A linear search through 1,024 keys is negligible compared with an upload. */
enum queue_put queue_put(struct queue *queue, const uint8_t key[ENTRY_KEY_BYTES], int64_t due_ns)
{
	for (size_t i = 0; i < queue->count; i++) {
		if (memcmp(queue->items[i].key, key, ENTRY_KEY_BYTES) == 0) {
			return QUEUE_THERE;
		}
	}
	if (queue->count == QUEUE_MOST) {
		return QUEUE_FULL;
	}
	memcpy(queue->items[queue->count].key, key, ENTRY_KEY_BYTES);
	queue->items[queue->count++].due_ns = due_ns;
	return QUEUE_PUT;
}

/* Returns the index of the item that is due first; 0 if the queue is empty. */
static size_t first_due(const struct queue *queue)
{
	size_t first = 0;

	for (size_t i = 1; i < queue->count; i++) {
		if (queue->items[i].due_ns < queue->items[first].due_ns) {
			first = i;
		}
	}
	return first;
}

bool queue_take(struct queue *queue, int64_t now_ns, uint8_t ret_key[ENTRY_KEY_BYTES])
{
	size_t first = first_due(queue);

	if (queue->count == 0 || queue->items[first].due_ns > now_ns) {
		return false;
	}
	memcpy(ret_key, queue->items[first].key, ENTRY_KEY_BYTES);
	queue->items[first] = queue->items[--queue->count];
	return true;
}

int64_t queue_due_ns(const struct queue *queue)
{
	return queue->count == 0 ? INT64_MAX : queue->items[first_due(queue)].due_ns;
}

/* Called when the agent ends, because the delays are only for nodes that start together. */
void queue_hurry(struct queue *queue)
{
	for (size_t i = 0; i < queue->count; i++) {
		queue->items[i].due_ns = INT64_MIN;
	}
}
