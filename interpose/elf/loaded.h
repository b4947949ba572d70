/* SPDX-License-Identifier: MIT */
/*
 * loaded: the list of loaded objects, also where the loader must not be asked for it
 *
 * Purpose: dl_iterate_phdr() takes the loader's dl_load_write_lock, and dlopen() its dl_load_lock. Another thread may
 * hold them for long, and fork() copies them as they are: glibc 2.36 does not release the first in the child, and a
 * child that was forked while another thread changed the list finds r_debug inconsistent, on which dlopen() aborts. So
 * the loader is not asked more often than objects are loaded: loaded_generation() reads the counter of loaded objects
 * (dlpi_adds) in the loader's memory.
 *
 * That counter and the lock are in _rtld_global, whose layout is private and differs between releases. They are found
 * in a callback of dl_iterate_phdr(), which knows the counter's value and holds the lock: the counter is the word of
 * that value behind a recursive mutex that this thread owns. Each later callback compares the counter again. Until they
 * are found, and where they are not, each call asks the loader.
 *
 * Threads: any; nothing is locked while `each` runs except the loader's own lock, so it must not allocate, lock, or
 * call the loader; another walk is possible. Fork: loaded_fork_prepare() waits until no thread is in loaded_each(), so
 * that no child inherits the loader's lock from this library; both waits end after LOADED_WAIT_MS. Signals: not from
 * handlers.
 */
#ifndef INTERPOSE_ELF_LOADED_H
#define INTERPOSE_ELF_LOADED_H

#include "interpose/elf/image.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOADED_WAIT_MS 100
#define LOADED_LOOKS   5000 /* about half a second */

/* Returns a number of the objects loaded so far. If it is equal, no object was loaded since. It is never 0. */
uint64_t loaded_generation(void);
/* Where the loader counts; a constant while that is not known. For dlsym.S, which compares it. */
extern const _Atomic uint64_t *_Atomic loaded_counter;
/* Returns what *loaded_counter is at that generation. */
uint64_t loaded_counter_value(uint64_t generation);

/*
 * Calls `each` for the loaded objects in load order until it returns nonzero; returns that value. In a child in which
 * the loader's lock is held by a thread that does not exist, nothing can be loaded or unloaded any more, and the list
 * is read without the lock; -EAGAIN if an object in it cannot be read.
 */
int loaded_each(int (*each)(struct dl_phdr_info *info, size_t size, void *context), void *context);

/* For `each`: elf_view(), whose result is kept until an object is unloaded. */
int loaded_view(const struct dl_phdr_info *info, struct elf_object *ret_object);

/* Returns the loader itself, once loaded_generation() was called; NULL if it was not found. */
const struct elf_object *loaded_loader(void);

/* Returns the debugger's list of loaded objects; NULL if there is none. */
const struct link_map *loaded_list(void);

/*
 * Returns true if the loader can be called: no other thread is in it, and this is no child that was forked while one
 * was. Waits for LOADED_LOOKS looks at most, because another thread's constructor may be waiting for this thread.
 */
bool loaded_may_call(void);

/*
 * For `each` of loaded_each(). Returns true if another thread is in dlopen() or dlclose(): objects of the list may then
 * not be relocated yet. While `each` runs, no thread adds another such object.
 */
bool loaded_is_changing(void);

void loaded_fork_prepare(void);
void loaded_fork_parent(void);
void loaded_fork_child(void);

#endif
