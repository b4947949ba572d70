/* SPDX-License-Identifier: MIT */
/*
 * host_call: what the handlers of all compilers do around the real function
 *
 * Calling sequence: a handler reads errno first. A handler that has no work of its own ends with HOST_CALL_FORWARD().
 * Any other calls the function from library_function() with the host's errno in place, reads errno again, does its
 * work, and ends with host_call_answer(). A handler that created a handle calls host_call_made(); the one that
 * destroys them is host_call_destroy(). Threads, signals: as in handle.h. Errors: if the real function is not found,
 * the compiler's internal error.
 */
#ifndef INTERPOSE_COMPILE_HOST_CALL_H
#define INTERPOSE_COMPILE_HOST_CALL_H

#include "interpose/compile/event.h"
#include "interpose/compile/handle.h"

#include <errno.h>

/* Ends a handler that has done work of its own: errno is the host's again. */
static inline int host_call_answer(int host_errno, int result)
{
	errno = host_errno;
	return result;
}

/*
 * Calls the real function with the handler's own parameters; errno is what it leaves. `record`: a compiler's, or NULL.
 */
#define HOST_CALL_FORWARD(function, type, host_errno, record, ...)                                                   \
	do {                                                                                                         \
		type *real_ =                                                                                        \
		    (type *)library_function(door, (record) ? (record)->handle.library : NULL, FUNCTION_##function); \
		errno = (host_errno);                                                                                \
		return real_ ? real_(__VA_ARGS__) : door_compiler(door)->internal_error;                             \
	} while (0)

/*
 * Call after the real function created `value`. Returns the library for its record; NULL: the handle gets no record,
 * and a record of an earlier handle with that value is removed. `name` is that of the program, or NULL.
 */
struct library *host_call_made(const struct door *door, void *value, const char *name);

/*
 * Around a real call for a handle without a record: counts the bypass before it, and writes the event after it. `name`
 * and `call` are NULL if they are not known. errno does not change.
 */
void host_call_begin_bypass(const struct door *door, const char *name, enum counter reason, struct event *ret_event);
void host_call_end_bypass(const struct call *call, int result, struct event *event);
/*
 * Counts a look-up of a private function as a bypass, since what is called through it is not seen. errno does not
 * change.
 */
void host_call_private(struct library *library, const char *function);
/* The whole handler of a destroying function, which takes `argument`, a pointer to the host's `value`. */
int host_call_destroy(const struct door *door, size_t function, void *value, void *argument);

/* The whole handler of an artifact's getter: answers from the entry of answer_from(), or calls the real function. */
int host_call_size(const struct door *door, size_t artifact, void *value, size_t *size);
int host_call_bytes(const struct door *door, size_t artifact, void *value, void *bytes);

#endif
