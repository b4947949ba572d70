/* SPDX-License-Identifier: MIT */
#include "interpose/compile/excursion.h"

#include <pthread.h>

/* The host's thread is cancelled inside the real compile, or in its own callback. */
static void abandon(void *context)
{
	const struct excursion *excursion = context;

	if (excursion->entry) {
		entry_unref(excursion->entry);
	}
	attempt_abandon(excursion->attempt);
	attempt_free(excursion->attempt);
}

/* Before glibc 2.34 what pthread_cleanup_push() calls is libpthread's; without that nobody can cancel a thread. */
#pragma weak __pthread_register_cancel
#pragma weak __pthread_unregister_cancel
#pragma weak __pthread_unwind_next

static void go(struct excursion *excursion, void (*where)(struct excursion *excursion))
{
	if (!__pthread_register_cancel) {
		where(excursion);
		return;
	}
	pthread_cleanup_push(abandon, excursion);
	where(excursion);
	pthread_cleanup_pop(0);
}

static void to_compiler(struct excursion *excursion)
{
	const struct compiler *compiler = excursion->handle->library->compiler;

	excursion->result = compiler->run(excursion->handle, excursion->call, CANCELLATION_OF_HOST);
}

static void to_callback(struct excursion *excursion)
{
	int ours = handle_enter_real(excursion->handle, CANCELLATION_OF_HOST);

	excursion->result = excursion->handle->library->compiler->host_stops(excursion->handle);
	handle_leave_real(ours);
}

void excursion_to_compiler(struct excursion *excursion)
{
	go(excursion, to_compiler);
}

void excursion_to_callback(struct excursion *excursion)
{
	go(excursion, to_callback);
}
