/* SPDX-License-Identifier: MIT */
#include "interpose/compile/host_call.h"

#include "interpose/compile/runtime.h"

struct library *host_call_made(const struct door *door, void *value)
{
	bool off = runtime_get()->off;
	struct library *library = off ? NULL : library_of_door(door);

	if (!library) {
		handle_free(handle_take(value));
	}
	if (!library && !off) {
		counters_bypassed(door_compiler(door)->share, COUNTER_BYPASSED_slots);
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
