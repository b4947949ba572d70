/* SPDX-License-Identifier: MIT */
/*
 * library: the compiler libraries of this process
 *
 *     unknown --library_adopt()--> adopted --library_prepare() at its first compile--> ready | passed through (reason)
 *
 * Purpose: one record per loaded library: where its real functions are, what identifies it, whether it can be watched.
 * A library is recognised by what it is, never by its file's name: it defines its compiler's landmark under a version
 * that is one of our nodes. Wheels rename files (libnvrtc-672ee683.so.11.2, pytorch #99781).
 *
 * Adopting only looks (elf.h) and leaves dlerror alone. Preparing pins the library (RTLD_NODELETE: BZ 19810 is why the
 * reference is counted too), once its release is known; NVRTC itself calls dlopen in its first compile, so a dlerror
 * state is lost there with and without us. Imports are patched at the first miss only: a process of hits never pays for
 * it.
 *
 * Threads: records are written once and published by release; they live for ever (LIBRARIES_MAX of them).
 * No lock is held across a call into the loader. A thread that finds another one preparing waits for it, at most 100 ms
 * (it might hold the loader's lock), then passes this one compile through.
 * Fork: nothing is half-done for longer than that. library_fork_child(): what was being prepared is prepared anew in
 * the child; a patch that was under way is given up, and the child keeps nothing more of that library.
 */
#ifndef INTERPOSE_COMPILE_LIBRARY_H
#define INTERPOSE_COMPILE_LIBRARY_H

#include "cache/counters.h"
#include "interpose/elf/elf.h"
#include "interpose/node.h"
#include "interpose/watch/watch.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>

#define LIBRARIES_MAX 16 /* thunk slots */
#define IDENTITY_MAX  256

/* of its imports */
enum patch_state { PATCH_NOT_YET, PATCH_UNDER_WAY, PATCH_DONE, PATCH_REFUSED };

enum library_state { LIBRARY_ADOPTED, LIBRARY_PREPARING, LIBRARY_READY, LIBRARY_BYPASSED };

struct library {
	struct node *node;
	const struct compiler *compiler;
	char path[PATH_MAX];
	int slot;
	_Atomic int state;
	struct elf_object object;
	real_function *real[COMPILER_FUNCTIONS_MAX]; /* NULL: this release has no such function */
	const char *reason_text; /* why it is passed through: a detail for the log, a static string */
	enum counter reason;
	/* of a ready library */
	int major, minor;
	uint8_t build_id[64];
	size_t build_id_size;
	/* the watch: patched at the first miss */
	_Atomic int patch_state; /* enum patch_state */
	_Atomic(struct watch *) watch;
	/* what the process has told it that lasts: the compiler's own bits, and a hash of what nobody has searched */
	_Atomic uint64_t uncleared;
	_Atomic uint32_t uncleared_running; /* calls that may add to it */
	_Atomic uint32_t told;
};

/* Which library is a call for? Exactly one of the two is set. */
struct door {
	struct library *library; /* thunks */
	struct node *node;       /* exports, with library == NULL */
	void *caller;            /* exports: the return address */
};

static inline const struct compiler *door_compiler(const struct door *door)
{
	return door->library ? door->library->compiler : door->node->compiler;
}

struct library *library_of_door(const struct door *door);
/* The library of a node, for a call from `caller`; adopts it if need be. NULL: none is loaded. */
struct library *library_of_node(struct node *node, void *caller);
/*
 * The real function for a call through this door about a handle of that library; NULL: about none that we know. Found
 * where there is no slot left for a library, too. NULL: none is loaded, or it has none.
 */
real_function *library_function(const struct door *door, const struct library *known, size_t function);
/* The library that the function at `address` belongs to; NULL: no compiler's that we know, or no slot left. */
struct library *library_at(uintptr_t address);
/* Slot number `slot`, whether used or not. */
struct library *library_in_slot(int slot);

/* Ready for cached compiles? false: pass through; *ret_reason says why. */
bool library_prepare(struct library *library, enum counter *ret_reason);
/* Patch its imports if that has not been done. false: cannot be watched. */
bool library_watched(struct library *library);
/* Does the address lie in a library of the node that we know? Callable where loaded objects are walked along. */
bool library_holds(const struct node *node, uintptr_t address);
/* From now on passed through (its watch was lost). */
void library_give_up(struct library *library, enum counter reason, const char *text);
void library_fork_child(void);

/*
 * linked_callers: do linked objects call a compiler past us?
 *
 * Such as call functions that have no export of ours (docs/DESIGN.md A6), or that we do not know, would meet programs
 * that a hit has left uncompiled, or set a callback that we never hear of. Getters of artifacts do not count (a hit
 * that has something for them is not given out, compile.c).
 *
 * Calling sequence: before each compile; looked at anew when objects come or go. Threads: any. Fork, signals: no state
 * but the last answer. Errors: none.
 */

bool linked_callers_bypass(struct node *node);
/* The same of one object, which may be one that is mapped and not loaded. */
bool linked_callers_one_bypasses(const struct elf_object *object, const struct node *node);

#endif
