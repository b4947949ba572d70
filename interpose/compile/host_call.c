/* SPDX-License-Identifier: MIT */
#include "interpose/compile/host_call.h"

#include "interpose/compile/about.h"
#include "interpose/compile/runtime.h"
#include "interpose/compile/views.h"

void host_call_pass(const struct door *door, const char *name, enum counter reason, struct event *ret_event)
{
	event_begin(ret_event, door_compiler(door), door->library, door->library ? "dlsym" : "linked", name,
	            runtime_clock());
	event_end(ret_event, EVENT_PASSED_THROUGH, reason, NULL);
	event_count_work(ret_event);
}

void host_call_passed(const struct call *call, int result, struct event *event)
{
	int saved = errno;

	if (event_tells_hits() || event_tells_misses()) {
		about_unrecorded(event->compiler, event->program, call, &event->about);
	}
	event_tell(event, result);
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

		host_call_pass(door, name, COUNTER_BYPASSED_slots, &event);
		host_call_passed(NULL, 0, &event);
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
