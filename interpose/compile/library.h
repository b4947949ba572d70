/* SPDX-License-Identifier: MIT */
/*
 * library: the compiler libraries of this process
 *
 *     unknown --library_adopt()--> adopted --library_prepare() at its first compilation--> ready | bypassed (reason)
 *
 * Purpose: one record per loaded library: its real functions, its identity, whether it can be watched. A library is
 * recognised by its symbols, never by its file's name: it defines its compiler's landmark under a version that is the
 * name of a node. Wheels rename files (libnvrtc-672ee683.so.11.2, pytorch #99781).
 *
 * Adopting a library only reads memory (elf.h) and leaves dlerror() unchanged. What calls the loader is in
 * library_steps.h.
 *
 * Threads: records are written once and published with release order; they are never freed (at most LIBRARIES_MAX).
 * Fork: library_fork_child() resets a preparation in progress, so that the child prepares the library itself. If a
 * patch was in progress, the child caches no more results of that library.
 */
#ifndef INTERPOSE_COMPILE_LIBRARY_H
#define INTERPOSE_COMPILE_LIBRARY_H

#include "cache/counters.h"
#include "interpose/compilers.h"
#include "interpose/elf/elf.h"
#include "interpose/watch/watch.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>

struct key;

#define LIBRARIES_MAX 16 /* thunk slots */
#define IDENTITY_MAX  256

/* A compiler that is woken with less stack than that compiles nothing. */
#define LIBRARY_WAKING_STACK ((size_t)1 << 20)

/* A step that one thread performs, once: preparing a library, and patching its imports. */
enum library_step { STEP_NOT_YET, STEP_UNDER_WAY, STEP_DONE, STEP_REFUSED };

struct library {
	struct node *node;
	const struct compiler *compiler;
	char path[PATH_MAX];
	int slot;
	_Atomic int state; /* enum library_step: adopted, being prepared, ready, bypassed */
	struct elf_object object;
	uint64_t adopted;                                      /* loaded_generation() when `object` was read */
	_Atomic(real_function *) real[COMPILER_FUNCTIONS_MAX]; /* for library_real(); NULL: not known yet */
	enum counter reason;
	/* of a ready library */
	void *handle; /* dlopen()'s; never closed */
	int major, minor;
	uint8_t identity[IDENTITY_MAX]; /* what distinguishes it from others, in keys */
	size_t identity_size;
	uint8_t build_id[64];
	size_t build_id_size;
	_Atomic(const struct key *) companion; /* companion_find(); replaced if the loader loaded another one */
	/* the watch: patched at the first miss */
	_Atomic int patching; /* enum library_step */
	_Atomic(struct watch *) watch;
	_Atomic int waking; /* enum library_step: done once a real compilation has begun in this process */
	/* options that last (handle.h): those of all calls, and how many calls run that may add to `uncleared` */
	_Atomic uint64_t uncleared;
	_Atomic uint32_t uncleared_running;
	_Atomic uint32_t told;
};

/*
 * How the host calls the compiler. The calls of a linked host to functions that are not exported here bypass the cache.
 */
enum reach { REACH_EXPORT, REACH_THUNK };

/* Identifies the library of a call. Exactly one of `library` and `node` is set. */
struct door {
	struct library *library; /* thunks */
	struct node *node;       /* exports, with library == NULL */
	void *caller;            /* exports: the return address */
	int host_errno;          /* what errno is when the call returns */
};

static inline const struct compiler *door_compiler(const struct door *door)
{
	return door->library ? door->library->compiler : door->node->compiler;
}

static inline enum reach door_reach(const struct door *door)
{
	return door->library ? REACH_THUNK : REACH_EXPORT;
}

struct library *library_of_door(const struct door *door);
/*
 * Returns the real function for a call through this door. `known` is the library of the call's handle (NULL: the handle
 * is unknown). Also works for a library without a slot. NULL: no library is loaded, or the library lacks the function.
 */
real_function *library_function(const struct door *door, const struct library *known, size_t function);
/*
 * Returns the library's function of that number, which is looked up at its first use; NULL: this release has none. A
 * signal handler may call it.
 */
real_function *library_real(const struct library *library, size_t function);
/* The library's function of that name, or NULL. */
#define LIBRARY_REAL(library, name) ((name##_function *)library_real(library, FUNCTION_##name))
/* Returns the library that contains `address`. NULL: no compiler's library does, or no slot is free. */
struct library *library_at(uintptr_t address);
/* The same for an object, while the loader's lock is held; `now`: loaded_generation(). */
struct library *library_of_object(const struct elf_object *object, uint64_t now);
/* Returns true if a known library has that base; it may have been unloaded. */
bool library_was_at(uintptr_t base);
/* Returns how many slots are used. */
int library_slots(void);
/* Returns slot number `slot`, whether used or not. */
struct library *library_in_slot(int slot);

void library_fork_child(void);

#endif
