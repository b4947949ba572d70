/* SPDX-License-Identifier: MIT */
/* Each step is claimed by the thread that performs it. */
#include "interpose/compile/library_steps.h"

#include "cache/calls.h"
#include "interpose/compile/host_data.h"
#include "interpose/compile/log.h"
#include "interpose/elf/loaded.h"
#include "interpose/elf/loader.h"
#include "interpose/elf/next_symbol.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

/* In libpthread before glibc 2.34. */
#pragma weak pthread_getattr_np
#pragma weak pthread_attr_getstack
#pragma weak pthread_attr_destroy

/* Keeps the library loaded until the process ends. */
static bool pin_library(struct library *library)
{
	void *handle = loader_open_again(library->path, RTLD_NODELETE);
	bool same = handle && ((struct link_map *)handle)->l_addr == library->object.base;

	if (handle && !same) {
		dlclose(handle);
	}
	loader_forget_error();
	library->handle = same ? handle : NULL;
	return same;
}

static void put_piece(struct library *library, uint8_t kind, const void *bytes, size_t size)
{
	uint8_t *at = library->identity + library->identity_size;

	at[0] = kind;
	at[1] = (uint8_t)size;
	memcpy(at + 2, bytes, size);
	library->identity_size += 2 + size;
}

/* Makes the bytes of the key that distinguish one library from another: its release and its build. */
static int make_identity(struct library *library)
{
	const int release[] = {library->major, library->minor};
	const char *name = library->node->name;
	struct key digest;
	int error = library->build_id_size ? 0 : host_data_digest(library->path, &digest);

	if (error != 0) {
		return error;
	}
	library->identity_size = 0;
	put_piece(library, 'n', name, strlen(name));
	put_piece(library, 'r', release, sizeof(release));
	if (library->build_id_size) {
		put_piece(library, 'b', library->build_id, library->build_id_size);
	} else {
		put_piece(library, 'c', digest.bytes, sizeof(digest.bytes));
	}
	return 0;
}

void library_give_up(struct library *library, enum counter reason, const char *text)
{
	library->reason = reason;
	atomic_store_explicit(&library->state, STEP_REFUSED, memory_order_release);
	log_write(LOG_WARNING, "bypassing %s: %s", library->path, text);
}

static bool find_release(struct library *library)
{
	const struct compiler *compiler = library->compiler;
	int (*version)(int *, int *) = (int (*)(int *, int *))elf_symbol(
	    &library->object, compiler->version, compiler->hallmark ? NULL : library->node->name);

	if (!version) {
		return compiler->release && compiler->release(library, &library->major, &library->minor) == 0;
	}
	return version(&library->major, &library->minor) == 0;
}

static bool prepare_library(struct library *library)
{
	if (!find_release(library) || !pin_library(library)) {
		library_give_up(library, COUNTER_BYPASSED_unwatchable, "it cannot be pinned in memory");
		return false;
	}
	if (make_identity(library) != 0) {
		library_give_up(library, COUNTER_BYPASSED_builtins, "its file cannot be read");
		return false;
	}
	return true;
}

/*
 * Performs a step, which one thread does, once; waits at most 100 ms for another thread that performs it. Returns true
 * if the step is done. Where calling the loader would wait for another thread, whose constructor in dlopen() may wait
 * for this one, the step is left to a later call.
 */
static bool perform_step(struct library *library, _Atomic int *step, bool (*perform)(struct library *library))
{
	int state = atomic_load_explicit(step, memory_order_acquire), under_way = STEP_UNDER_WAY;

	if (state == STEP_NOT_YET && loaded_may_call() &&
	    atomic_compare_exchange_strong(step, &state, STEP_UNDER_WAY)) {
		/* keeps the state that library_give_up() set meanwhile */
		(void)atomic_compare_exchange_strong(step, &under_way, perform(library) ? STEP_DONE : STEP_REFUSED);
	}
	state = atomic_load_explicit(step, memory_order_acquire);
	for (int i = 0; i < 100 && state == STEP_UNDER_WAY; i++) {
		call_pause(1000000);
		state = atomic_load_explicit(step, memory_order_acquire);
	}
	return state == STEP_DONE;
}

enum counter library_prepare(struct library *library)
{
	if (perform_step(library, &library->state, prepare_library)) {
		return COUNTER_NONE;
	}
	return atomic_load_explicit(&library->state, memory_order_acquire) == STEP_REFUSED
	           ? library->reason
	           : COUNTER_BYPASSED_unwatchable;
}

/*
 * Returns the function to which the loader would bind an import: the first definition in load order, where a definition
 * without a version matches any version. dlvsym() skips definitions without a version, and most preloads define their
 * functions so (path redirection, sandboxes). In the scope of `library`, the loader itself is asked, because libm's
 * functions are IFUNCs.
 */
static uintptr_t bound_function(const struct elf_object *library, const char *name, const char *version)
{
	uintptr_t address;

	if (library) {
		return (uintptr_t)next_symbol_in(library->path, name, version,
		                                 version ? NEXT_SYMBOL_DLVSYM : NEXT_SYMBOL_DLSYM);
	}
	address = elf_next_symbol(0, name, version);
	if (!address && version) {
		address = (uintptr_t)next_symbol(RTLD_DEFAULT, name, version, NEXT_SYMBOL_DLVSYM);
	}
	return address ? address : (uintptr_t)next_symbol(RTLD_DEFAULT, name, NULL, NEXT_SYMBOL_DLSYM);
}

static bool patch_imports(struct library *library)
{
	const char *reason = "its imports cannot be read";
	struct watch *watch = NULL;
	int error = watch_patch(&library->object, bound_function, &watch, &reason);

	loader_forget_error();
	if (error != 0) {
		library_give_up(library, COUNTER_BYPASSED_unwatchable, reason);
		return false;
	}
	atomic_store_explicit(&library->watch, watch, memory_order_release);
	return true;
}

bool library_patch(struct library *library)
{
	return perform_step(library, &library->patching, patch_imports);
}

/* Returns how many bytes of this thread's stack are left; 0 if that is not known. */
static size_t stack_left(void)
{
	pthread_attr_t attributes;
	void *end = NULL;
	size_t size = 0;

	if (!pthread_getattr_np || pthread_getattr_np(pthread_self(), &attributes) != 0) {
		return 0;
	}
	(void)pthread_attr_getstack(&attributes, &end, &size);
	(void)pthread_attr_destroy(&attributes);
	return (size_t)((char *)__builtin_frame_address(0) - (char *)end);
}

static bool wake_library(struct library *library)
{
	if (library_patch(library) && library->compiler->wake) {
		library->compiler->wake(library, stack_left());
	}
	return true;
}

/* Returns true if this is the only thread; false if that is not known. */
static bool is_alone(void)
{
	struct stat tasks;

	return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3; /* with "." and ".." */
}

/*
 * Without another thread, the child finds the loader at rest. `waking` is examined first, because this runs at each
 * fork.
 */
void library_fork_prepare(void)
{
	int count = library_slots();
	int asleep = 0;

	for (int i = 0; i < count; i++) {
		asleep += atomic_load_explicit(&library_in_slot(i)->waking, memory_order_acquire) != STEP_DONE;
	}
	if (asleep == 0 || is_alone()) {
		return;
	}
	for (int i = 0; i < count; i++) {
		struct library *library = library_in_slot(i);

		if (atomic_load_explicit(&library->state, memory_order_acquire) == STEP_DONE) {
			(void)perform_step(library, &library->waking, wake_library);
		}
	}
}
