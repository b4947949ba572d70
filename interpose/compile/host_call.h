/* SPDX-License-Identifier: MIT */
/*
 * host_call: what the handlers of all compilers do around the real function
 *
 * Calling sequence: a handler makes the real call with HOST_CALL(), which gives the real function the host's errno and
 * keeps what it leaves; the door restores that when the handler returns. A handler that created a handle calls
 * host_call_made(); host_call_destroy() is the handler that destroys handles. Threads, signals: as in handle.h. Errors:
 * if the real function is not found, the compiler's internal error.
 */
#ifndef INTERPOSE_COMPILE_HOST_CALL_H
#define INTERPOSE_COMPILE_HOST_CALL_H

#include "interpose/compile/artifacts.h"
#include "interpose/compile/event.h"
#include "interpose/compile/handle.h"

#include <errno.h>

/*
 * The value is the real function's result, or the compiler's internal error if the function is not found. `known`: the
 * library of the call's handle (NULL: the handle is unknown).
 */
#define HOST_CALL_AS(type, known, function, ...)                                            \
	({                                                                                  \
		type *real_ = (type *)library_function(door, known, function);              \
		int result_;                                                                \
                                                                                            \
		errno = door->host_errno;                                                   \
		result_ = real_ ? real_(__VA_ARGS__) : door_compiler(door)->internal_error; \
		door->host_errno = errno;                                                   \
		result_;                                                                    \
	})
/* The same, by the function's name: without a record, and with the compiler's `record` of the handle, or NULL. */
#define HOST_CALL_NEW(name, ...) HOST_CALL_AS(name##_function, NULL, FUNCTION_##name, __VA_ARGS__)
#define HOST_CALL(name, record, ...) \
	HOST_CALL_AS(name##_function, (record) ? (record)->handle.library : NULL, FUNCTION_##name, __VA_ARGS__)

/*
 * Called after the real function created `value`. Returns the library for its record. NULL: the handle gets no record,
 * and the record of an earlier handle with that value is removed. `name` is that of the program, or NULL.
 */
struct library *host_call_made(const struct door *door, void *value, const char *name);

/*
 * Called around a real call for a handle without a record: host_call_begin_bypass() counts the bypass, and
 * host_call_end_bypass() writes the event. `name` and `call` are NULL if they are not known. errno may change.
 */
void host_call_begin_bypass(const struct door *door, const char *name, enum counter reason, struct event *ret_event);
void host_call_end_bypass(const struct call *call, int result, struct event *event);
/* Counts and reports a module that calls the compiler without this library. errno may change. */
void host_call_unreached(const struct compiler *compiler, const char *module);
/*
 * Counts a look-up of a private function as a bypass, because the calls through it are not observed. errno may change.
 */
void host_call_private(struct library *library, const char *function);
/*
 * Calls a function that compiles for a handle without a record; `call` NULL: it takes only the handle. Options with
 * process-wide effect affect the library nevertheless.
 */
int host_call_unrecorded(struct door *door, size_t function, void *value, const struct call *call);
/*
 * Complete handler of a function that destroys a handle. `argument`, which the real function gets, points to the host's
 * `value`.
 */
int host_call_destroy(struct door *door, size_t function, void *value, void *argument);

/*
 * Complete handler of a getter of an artifact: answers from the entry of answer_from(), or calls the real function.
 * `answer` points to a size, or to room for the bytes.
 */
int host_call_get(struct door *door, enum getter getter, size_t artifact, void *value, void *answer);
#define HOST_CALL_GETTERS(getter, artifact, handle_type, bytes_type)                         \
	static int handle_##getter##Size(struct door *door, handle_type value, size_t *size) \
	{                                                                                    \
		return host_call_get(door, GETTER_SIZE, artifact, value, size);              \
	}                                                                                    \
                                                                                             \
	static int handle_##getter(struct door *door, handle_type value, bytes_type bytes)   \
	{                                                                                    \
		return host_call_get(door, GETTER_BYTES, artifact, value, bytes);            \
	}

#endif
