/* SPDX-License-Identifier: MIT */
/*
 * upload: puts results of this node into the engine (docs/DESIGN.md G3)
 *
 * One thread makes all uploads. A result that a process reports is uploaded after a random delay of up to
 * UPLOAD_DELAY_NS, because nodes that start together compile the same kernels: the later nodes then find them in the
 * engine. The thread reads the engine's value:
 *
 *     absent, or one that this agent would refuse --> put the results of this node
 *     sound --> store its results in the directory, which merges them as it merges all results; put what the directory
 *               then has, if that is more, or if the value is not signed with the present key
 *
 * Left out and counted are path-dependent results, results that depend on the time, or that are too large to be
 * fetched.
 *
 * The queue is bounded, and what finds it full is dropped. After a put that failed the thread pauses for 1 s, 2 s, and
 * so on up to a minute.
 *
 * Calling sequence: upload_begin(), upload_stored(), upload_end(). If the service only reads, nothing is uploaded.
 * Threads: any; one calls upload_begin() and upload_end(). Errors: upload_begin() prints errors.
 */
#ifndef AGENT_NODE_UPLOAD_H
#define AGENT_NODE_UPLOAD_H

#include "agent/node/service.h"

#define UPLOAD_DELAY_NS   (INT64_C(2) * 1000000000)
#define UPLOAD_QUEUE_MOST 1024

struct upload {
	struct service *service;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change; /* of the queue or the deadline */
	struct {
		int64_t due_ns;
		uint8_t key[ENTRY_KEY_BYTES];
	} queue[UPLOAD_QUEUE_MOST]; /* oldest first */
	size_t count;
	bool is_working;             /* the thread is uploading a key that is no longer in the queue */
	_Atomic int64_t deadline_ns; /* end of draining; INT64_MAX: running */
	struct pause puts;           /* after puts that failed, while the engine answers gets */
};

/* The upload is zeroed. */
bool upload_begin(struct upload *upload, struct service *service);
void upload_stored(struct upload *upload, const uint8_t key[ENTRY_KEY_BYTES]);
size_t upload_waiting(struct upload *upload);
/* Uploads what is left. False: after that time the thread still ran, and nothing that it uses may be freed. */
bool upload_end(struct upload *upload, unsigned limit_s);

#endif
