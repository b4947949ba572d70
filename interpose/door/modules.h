/* SPDX-License-Identifier: MIT */
/*
 * modules: the objects of this process that are linked with a compiler, and the import slots by which they call it
 *
 * Purpose: exports serve a linked module if it imports a name and version that this library exports. Other modules
 * import other versions (nvJitLink's headers name their own release), or none, or are bound before this library
 * (RTLD_DEEPBIND). Their slots are written: they then lead to the doors that dlsym returns.
 *
 *     in the process --modules_settle()--> reached | unreached: its slots cannot be written, or it is not known where
 *                                                    they lead
 *
 * An unreached module is counted. From then on, no result of that compiler is stored, because the module may have
 * changed the library's state, or that of a handle which the host gave to it. If calls of one module are reached in
 * part, that compiler is bypassed, because one handle could be used on both ways.
 *
 * Calling sequence: modules_settle() when a host creates a handle or compiles, in dlsym of a module's symbol, and when
 * the process starts, if a compiler is there. It does something only if objects were loaded since.
 *
 * Threads: any; a thread that finds another one at work, here or in the loader, does not wait, and the next call tries
 * again. Fork: a child does the work again that its parent had begun. Signals: not from handlers. Errors: none. No
 * allocation, no lock but the loader's.
 */
#ifndef INTERPOSE_DOOR_MODULES_H
#define INTERPOSE_DOOR_MODULES_H

#include <stdint.h>

void modules_settle(void);

/* The counter of loaded objects when modules_settle() ended last. dlsym.S compares it with *loaded_counter. */
extern uint64_t modules_seen;

#endif
