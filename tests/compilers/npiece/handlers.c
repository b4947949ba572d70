/* SPDX-License-Identifier: MIT */
#include "tests/compilers/npiece/doors.h"

#include "interpose/compile/compile.h"
#include "interpose/compile/host_call.h"
#include "interpose/compile/runtime.h"
#include "tests/compilers/npiece/artifacts.h"
#include "tests/compilers/npiece/compiler.h"
#include "tests/compilers/npiece/work.h"

int handle_npieceCreate(const struct door *door, void **handle, int option_count, const char *const *options)
{
	int host_errno = errno;
	typedef int function(void **, int, const char *const *);
	function *real = (function *)library_function(door, NULL, FUNCTION_npieceCreate);
	const struct call call = {option_count, options, 0};
	struct library *library;
	int result;

	if (!real) {
		return host_call_answer(host_errno, RESULT_INTERNAL_ERROR);
	}
	errno = host_errno;
	result = real(handle, option_count, options);
	host_errno = errno;
	library = result == RESULT_SUCCESS ? host_call_made(door, *handle, NULL) : NULL;
	if (library) {
		npiece_work_add(*handle, library, door->library ? REACH_THUNK : REACH_EXPORT, &call);
	}
	return host_call_answer(host_errno, result);
}

int handle_npieceAdd(const struct door *door, void *handle, int kind, const char *name, const void *bytes, size_t size)
{
	int host_errno = errno;
	typedef int function(void *, int, const char *, const void *, size_t);
	struct work *work = npiece_work_find(handle);
	function *real = (function *)library_function(door, work ? work->handle.library : NULL, FUNCTION_npieceAdd);
	int result;

	if (work && work->handle.served) {
		return host_call_answer(host_errno, RESULT_ALREADY_COMPLETED);
	}
	if (!real) {
		return host_call_answer(host_errno, RESULT_INTERNAL_ERROR);
	}
	errno = host_errno;
	result = real(handle, kind, name, bytes, size);
	host_errno = errno;
	if (work && result == RESULT_SUCCESS) {
		npiece_work_add_piece(work, kind, name, bytes, size);
	}
	return host_call_answer(host_errno, result);
}

int handle_npieceComplete(const struct door *door, void *handle)
{
	int host_errno = errno;
	typedef int function(void *);
	struct work *work = npiece_work_find(handle);

	if (work) {
		return host_call_answer(host_errno, work->handle.served ? RESULT_ALREADY_COMPLETED
		                                                        : compile_call(&work->handle, &work->call));
	}
	if (runtime_get()->off) {
		runtime_count(runtime_get()->off_reason, 1);
		runtime_flush();
	}
	HOST_CALL_FORWARD(npieceComplete, function, host_errno, work, handle);
}

#define GETTERS(name, artifact, type)                                                         \
	int handle_npieceGet##name##Size(const struct door *door, void *handle, size_t *size) \
	{                                                                                     \
		return host_call_size(door, artifact, handle, size);                          \
	}                                                                                     \
                                                                                              \
	int handle_npieceGet##name(const struct door *door, void *handle, type *bytes)        \
	{                                                                                     \
		return host_call_bytes(door, artifact, handle, bytes);                        \
	}
GETTERS(Output, ARTIFACT_OUTPUT, void)
GETTERS(ErrorLog, ARTIFACT_LOG, char)

int handle_npieceDestroy(const struct door *door, void **handle)
{
	return host_call_destroy(door, FUNCTION_npieceDestroy, handle ? *handle : NULL, handle);
}
