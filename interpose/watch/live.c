/* SPDX-License-Identifier: MIT */
/*
 * The compilations of one thread, innermost first:
 *
 *     none --live_begin()--> live --live_begin()--> live, hiding the outer one
 *     live --live_end()--> the outer one, or none; before that, the stamps of the files that were read are compared
 *                           again
 */
#include "interpose/watch/live.h"

#include "cache/fork_mutex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Thread_local struct live *live_current;
static _Atomic unsigned live_count;
static struct live *live_list;
static struct fork_mutex live_lock = FORK_MUTEX_INITIALIZER;
static _Atomic pid_t live_owner; /* another pid: this is a child of _Fork or clone, which run no handlers (BZ 17490) */

static void lock_list(void)
{
	pid_t pid = getpid();
	pid_t owner = atomic_load_explicit(&live_owner, memory_order_relaxed);

	if (owner != 0 && owner != pid) {
		live_fork_child();
	}
	fork_mutex_lock(&live_lock);
	atomic_store_explicit(&live_owner, pid, memory_order_relaxed);
}

static void add_to_list(struct live *live)
{
	live->next = live_list;
	live_list = live;
}

void live_fork_child(void)
{
	bool is_whole = fork_mutex_fork_child(&live_lock);
	unsigned count = 0;

	live_list = NULL;
	for (struct live *live = live_current; live; live = live->outer) {
		if (!is_whole) { /* a thread that does not exist here was adding to the traces */
			live->trace->asked = STREAM_EMPTY;
			trace_taint(live->trace, TAINT_OTHER_THREAD);
		}
		add_to_list(live);
		count++;
	}
	atomic_store(&live_count, count);
	atomic_store(&live_owner, getpid());
}

void live_begin(struct trace *trace)
{
	int saved_errno = errno;
	struct live *live = calloc(1, sizeof(*live));

	errno = saved_errno;
	if (!live) {
		trace->failed = true;
		return;
	}
	live->trace = trace;
	live->outer = live_current;
	lock_list();
	add_to_list(live);
	fork_mutex_unlock(&live_lock);
	atomic_fetch_add(&live_count, 1);
	live_current = live;
}

/*
 * Compares the stamps of all files again. A file that changed after the replacement read it, but before the compiler
 * did, would be in the result under the digest of the old content.
 */
static void compare_stamps(struct trace *trace)
{
	for (size_t i = 0; i < trace->count && !trace->failed && !(atomic_load(&trace->tainted) & ~TAINTS_SOFT); i++) {
		const struct trace_event *event = &trace->events[i];
		struct file_stamp stamp;
		struct stat now;

		if (event->kind != TRACE_OPEN || event->error != 0) {
			continue;
		}
		if (stat(event->path, &now) == 0) {
			file_stamp_from(&now, &stamp);
			if (file_stamp_same(&stamp, &event->stamp)) {
				continue;
			}
		}
		trace_taint_by(trace, TAINT_TOO_NEW, event->path);
	}
}

void live_end(struct trace *trace)
{
	int saved_errno = errno;
	struct live *live = live_current;

	if (!live || live->trace != trace) {
		return;
	}
	lock_list();
	for (struct live **at = &live_list; *at; at = &(*at)->next) {
		if (*at == live) {
			*at = live->next;
			break;
		}
	}
	fork_mutex_unlock(&live_lock);
	atomic_fetch_sub(&live_count, 1);
	live_current = live->outer;
	compare_stamps(trace);
	/* A compilation inside a flow callback is part of the outer one, so its taints apply to both. */
	if (live->outer) {
		trace_taint(live->outer->trace, atomic_load(&trace->tainted));
	}
	free(live);
	errno = saved_errno;
}

struct live *live_first(void)
{
	struct live *first = NULL;

	if (atomic_load_explicit(&live_count, memory_order_relaxed) > 0) {
		lock_list();
		first = live_current ? live_current : live_list;
		if (!first) {
			fork_mutex_unlock(&live_lock);
		}
	}
	return first;
}

struct live *live_next(const struct live *live)
{
	struct live *next = live_current ? NULL : live->next;

	if (!next) {
		fork_mutex_unlock(&live_lock);
	}
	return next;
}

void live_taint(uint32_t taint)
{
	for (struct live *live = live_first(); live; live = live_next(live)) {
		trace_taint(live->trace, taint);
	}
}

/*
 * A thread without a compilation may be the compiler's own (split compilation), and the call does not show for which
 * compilation the thread works. So all traces are tainted.
 */
struct live *live_enter(void)
{
	if (live_current) {
		live_current->trace->calls++;
	} else {
		live_taint(TAINT_OTHER_THREAD);
	}
	return live_current;
}
