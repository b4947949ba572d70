/* SPDX-License-Identifier: MIT */
#include "interpose/compile/host_call.h"

#include "interpose/compile/about.h"
#include "interpose/compile/call_journal.h"
#include "interpose/compile/call_log.h"
#include "interpose/compile/runtime.h"
#include "interpose/compile/timeline.h"

void host_call_pass(const struct door *door, enum counter reason, struct event *ret_event)
{
	event_begin(ret_event, runtime_clock());
	event_set(ret_event, EVENT_PASSED_THROUGH, reason);
	counters_bypassed(door_compiler(door)->share, reason);
}

void host_call_passed(const struct door *door, const char *name, const struct call *call, int result,
                      struct event *event)
{
	const struct event_subject subject = {.compiler = door_compiler(door), .name = name};
	int saved = errno;

	event_end(event, runtime_clock(), result);
	if (timeline_wanted() || call_journal_wanted()) {
		about_unrecorded(&subject, call, &event->about);
	}
	call_log_write(&subject, event);
	timeline_write(&subject, event);
	runtime_flush();
	call_journal_write(event);
	event_free(event);
	errno = saved;
}

struct library *host_call_made(const struct door *door, void *value, const char *name)
{
	bool off = runtime_get()->off;
	struct library *library = off ? NULL : library_of_door(door);

	if (!library) {
		handle_free(handle_take(value));
	}
	if (!library && !off) {
		struct event event;

		host_call_pass(door, COUNTER_BYPASSED_slots, &event);
		host_call_passed(door, name, NULL, 0, &event);
	}
	return library;
}

int host_call_destroy(const struct door *door, size_t function, void *value, void *argument)
{
	int host_errno = errno;
	typedef int destroy_function(void *);
	struct handle *known = handle_find_of(door_compiler(door), value) ? handle_take(value) : NULL;
	destroy_function *real = (destroy_function *)library_function(door, known ? known->library : NULL, function);
	int result = door_compiler(door)->internal_error;

	if (real) {
		errno = host_errno;
		result = real(argument);
		host_errno = errno;
	}
	if (known && known->library->compiler->outcome(result) != OUTCOME_SUCCESS) {
		handle_put_back(known);
	} else {
		handle_free(known);
	}
	return host_call_answer(host_errno, result);
}
