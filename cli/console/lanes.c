/* SPDX-License-Identifier: MIT */
#include "cli/console/lanes.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define QUEUE   64       /* items of a lane that wait */
#define LOOK_NS 50000000 /* between two calls of `wait` */

struct piece {
	void *item;
	size_t bytes;
};

struct lane {
	struct lanes *lanes;
	unsigned number;
	pthread_t thread;
	pthread_cond_t more;
	struct piece queue[QUEUE];
	unsigned first, count;
};

struct lanes {
	lanes_work *work;
	lanes_wait *wait;
	void *context;
	unsigned started; /* threads */
	pthread_mutex_t mutex;
	pthread_cond_t room; /* an item was taken, or a thread has ended */
	size_t bytes;        /* that wait, or are worked on */
	unsigned working;    /* threads */
	bool waiting;        /* is somebody at `room`? */
	bool ending;
	struct lane lanes[LANES_MAX];
};

static void *run(void *argument)
{
	struct lane *lane = argument;
	struct lanes *lanes = lane->lanes;

	(void)pthread_mutex_lock(&lanes->mutex);
	for (;;) {
		struct piece piece;

		while (lane->count == 0 && !lanes->ending) {
			(void)pthread_cond_wait(&lane->more, &lanes->mutex);
		}
		if (lane->count == 0) {
			break;
		}
		piece = lane->queue[lane->first];
		lane->first = (lane->first + 1) % QUEUE;
		lane->count--;
		(void)pthread_mutex_unlock(&lanes->mutex);
		lanes->work(lanes->context, lane->number, piece.item);
		(void)pthread_mutex_lock(&lanes->mutex);
		lanes->bytes -= piece.bytes;
		if (lanes->waiting) {
			(void)pthread_cond_signal(&lanes->room);
		}
	}
	lanes->working--;
	(void)pthread_cond_signal(&lanes->room);
	(void)pthread_mutex_unlock(&lanes->mutex);
	return NULL;
}

static void start(struct lanes *lanes)
{
	sigset_t all, before;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	(void)pthread_mutex_lock(&lanes->mutex);
	while (lanes->started < LANES_MAX) {
		struct lane *lane = &lanes->lanes[lanes->started];

		*lane = (struct lane){.lanes = lanes, .number = lanes->started, .more = PTHREAD_COND_INITIALIZER};
		if (pthread_create(&lane->thread, NULL, run, lane) != 0) {
			break;
		}
		lanes->started++;
	}
	lanes->working = lanes->started;
	(void)pthread_mutex_unlock(&lanes->mutex);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int lanes_begin(lanes_work *work, lanes_wait *wait, void *context, struct lanes **ret_lanes)
{
	struct lanes *lanes = malloc(sizeof(*lanes));

	if (!lanes) {
		return -ENOMEM;
	}
	*lanes = (struct lanes){.work = work,
	                        .wait = wait,
	                        .context = context,
	                        .mutex = PTHREAD_MUTEX_INITIALIZER,
	                        .room = PTHREAD_COND_INITIALIZER};
	start(lanes);
	*ret_lanes = lanes;
	return 0;
}

/* With the mutex, which is let go meanwhile. */
static void wait_a_moment(struct lanes *lanes)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += LOOK_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	lanes->waiting = true;
	(void)pthread_cond_timedwait(&lanes->room, &lanes->mutex, &until);
	lanes->waiting = false;
	(void)pthread_mutex_unlock(&lanes->mutex);
	lanes->wait(lanes->context);
	(void)pthread_mutex_lock(&lanes->mutex);
}

void lanes_give(struct lanes *lanes, unsigned number, void *item, size_t bytes)
{
	struct lane *lane;

	if (lanes->started == 0) {
		lanes->work(lanes->context, 0, item);
		return;
	}
	lane = &lanes->lanes[number % lanes->started];
	(void)pthread_mutex_lock(&lanes->mutex);
	while (lane->count == QUEUE || (lanes->bytes > 0 && lanes->bytes + bytes > LANES_BYTES)) {
		wait_a_moment(lanes);
	}
	lane->queue[(lane->first + lane->count) % QUEUE] = (struct piece){item, bytes};
	lane->count++;
	lanes->bytes += bytes;
	if (lane->count == 1) {
		(void)pthread_cond_signal(&lane->more);
	}
	(void)pthread_mutex_unlock(&lanes->mutex);
}

void lanes_end(struct lanes *lanes)
{
	(void)pthread_mutex_lock(&lanes->mutex);
	lanes->ending = true;
	for (unsigned i = 0; i < lanes->started; i++) {
		(void)pthread_cond_signal(&lanes->lanes[i].more);
	}
	while (lanes->working > 0) {
		wait_a_moment(lanes);
	}
	(void)pthread_mutex_unlock(&lanes->mutex);
	for (unsigned i = 0; i < lanes->started; i++) {
		(void)pthread_join(lanes->lanes[i].thread, NULL);
		(void)pthread_cond_destroy(&lanes->lanes[i].more);
	}
	(void)pthread_cond_destroy(&lanes->room);
	(void)pthread_mutex_destroy(&lanes->mutex);
	free(lanes);
}
