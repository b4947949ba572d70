/* SPDX-License-Identifier: MIT */
/*
 * lanes: threads that each do what they are given in its order, while the first one goes on reading
 *
 * Purpose: work that comes one piece after the other (a bundle), where file systems make those wait who work, and not
 * the processor. What must stay in order among itself is given to the same lane.
 *
 * Calling sequence: lanes_begin(), lanes_give() for each piece, lanes_end(), which waits for all. LANES_BYTES at most wait to
 * be worked on; lanes_give() waits for room. While it or lanes_end() waits, `wait` is called some twenty times a
 * second. Where no thread can be started, lanes_give() does the work itself. Signals: never in these threads, so that a read
 * of the first is interrupted.
 * Errors: -ENOMEM. Ownership: an item is the work's from lanes_give() on, which is called for every one. Threads: the
 * calls belong to one; `work` is called by one thread for each lane.
 */
#ifndef CLI_LANES_H
#define CLI_LANES_H

#include <stddef.h>

#define LANES_MAX   16
#define LANES_BYTES ((size_t)64 << 20)

/* `lane` is below LANES_MAX. */
typedef void lanes_work(void *context, unsigned lane, void *item);
typedef void lanes_wait(void *context);

struct lanes;

int lanes_begin(lanes_work *work, lanes_wait *wait, void *context, struct lanes **ret_lanes);
/* Items with equal numbers are worked on in their order. */
void lanes_give(struct lanes *lanes, unsigned number, void *item, size_t bytes);
void lanes_end(struct lanes *lanes);

#endif
