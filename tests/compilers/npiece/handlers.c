/* SPDX-License-Identifier: MIT */
#include "tests/compilers/npiece/handlers.h"

#include "interpose/compile/compile.h"
#include "interpose/compile/runtime.h"
#include "tests/compilers/npiece/artifacts.h"
#include "tests/compilers/npiece/compiler.h"
#include "tests/compilers/npiece/work.h"

#include <errno.h>

/* Ends a handler that has done work of its own: errno is the host's again. */
static int answer(int host_errno, int result)
{
	errno = host_errno;
	return result;
}

/* Calls the real function with the handler's own parameters; errno is what it leaves. */
#define FORWARD(function, type, host_errno, work, ...)                                                           \
	do {                                                                                                     \
		type *real_ =                                                                                    \
		    (type *)library_function(door, (work) ? (work)->handle.library : NULL, FUNCTION_##function); \
		errno = (host_errno);                                                                            \
		return real_ ? real_(__VA_ARGS__) : RESULT_INTERNAL_ERROR;                                       \
	} while (0)

static void record(const struct door *door, void *value, const struct call *call)
{
	bool off = runtime_get()->off;
	struct library *library = off ? NULL : library_of_door(door);

	if (off) {
		handle_free(handle_take(value));
	} else if (!library) {
		handle_free(handle_take(value));
		runtime_count(COUNTER_BYPASSED_slots, 1);
	} else {
		npiece_work_add(value, library, door->library ? REACH_THUNK : REACH_EXPORT, call);
	}
}

int handle_npieceCreate(const struct door *door, void **handle, int option_count, const char *const *options)
{
	int host_errno = errno;
	typedef int function(void **, int, const char *const *);
	function *real = (function *)library_function(door, NULL, FUNCTION_npieceCreate);
	const struct call call = {option_count, options};
	int result;

	if (!real) {
		return answer(host_errno, RESULT_INTERNAL_ERROR);
	}
	errno = host_errno;
	result = real(handle, option_count, options);
	host_errno = errno;
	if (result == RESULT_SUCCESS) {
		record(door, *handle, &call);
	}
	return answer(host_errno, result);
}

int handle_npieceAdd(const struct door *door, void *handle, int kind, const char *name, const void *bytes, size_t size)
{
	int host_errno = errno;
	typedef int function(void *, int, const char *, const void *, size_t);
	struct work *work = npiece_work_find(handle);
	function *real = (function *)library_function(door, work ? work->handle.library : NULL, FUNCTION_npieceAdd);
	int result;

	if (work && work->handle.served) {
		return answer(host_errno, RESULT_ALREADY_COMPLETED);
	}
	if (!real) {
		return answer(host_errno, RESULT_INTERNAL_ERROR);
	}
	errno = host_errno;
	result = real(handle, kind, name, bytes, size);
	host_errno = errno;
	if (work && result == RESULT_SUCCESS) {
		npiece_work_add_piece(work, kind, name, bytes, size);
	}
	return answer(host_errno, result);
}

int handle_npieceComplete(const struct door *door, void *handle)
{
	int host_errno = errno;
	typedef int function(void *);
	struct work *work = npiece_work_find(handle);

	if (work) {
		return answer(host_errno, work->handle.served ? RESULT_ALREADY_COMPLETED
		                                              : compile_call(&work->handle, &work->call));
	}
	if (runtime_get()->off) {
		runtime_count(runtime_get()->off_reason, 1);
		runtime_flush();
	}
	FORWARD(npieceComplete, function, host_errno, work, handle);
}

#define GETTERS(name, artifact, type)                                                                           \
	int handle_npieceGet##name##Size(const struct door *door, void *handle, size_t *size)                   \
	{                                                                                                       \
		int host_errno = errno;                                                                         \
		typedef int function(void *, size_t *);                                                         \
		struct work *work = npiece_work_find(handle);                                                   \
                                                                                                                \
		if (work && work->handle.served) {                                                              \
			return answer(host_errno, npiece_artifact_size(work->handle.served, artifact, size));   \
		}                                                                                               \
		FORWARD(npieceGet##name##Size, function, host_errno, work, handle, size);                       \
	}                                                                                                       \
                                                                                                                \
	int handle_npieceGet##name(const struct door *door, void *handle, type *bytes)                          \
	{                                                                                                       \
		int host_errno = errno;                                                                         \
		typedef int function(void *, type *);                                                           \
		struct work *work = npiece_work_find(handle);                                                   \
                                                                                                                \
		if (work && work->handle.served) {                                                              \
			return answer(host_errno, npiece_artifact_bytes(work->handle.served, artifact, bytes)); \
		}                                                                                               \
		FORWARD(npieceGet##name, function, host_errno, work, handle, bytes);                            \
	}
GETTERS(Output, ARTIFACT_OUTPUT, void)
GETTERS(ErrorLog, ARTIFACT_LOG, char)

int handle_npieceDestroy(const struct door *door, void **handle)
{
	int host_errno = errno;
	typedef int function(void **);
	struct handle *known = handle && npiece_work_find(*handle) ? handle_take(*handle) : NULL;
	function *real = (function *)library_function(door, known ? known->library : NULL, FUNCTION_npieceDestroy);
	int result = RESULT_INTERNAL_ERROR;

	if (real) {
		errno = host_errno;
		result = real(handle);
		host_errno = errno;
	}
	if (known && result != RESULT_SUCCESS) {
		handle_put_back(known);
	} else {
		handle_free(known);
	}
	return answer(host_errno, result);
}
