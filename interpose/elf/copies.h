/* SPDX-License-Identifier: MIT */
/*
 * copies: decides which of several copies of this library in a process is the active one (docs/DESIGN.md)
 *
 * A process can load the library twice: one copy from /etc/ld.so.preload or a module file, another from a wheel by
 * `nvrtccache run`. Each copy exports the versions of the compilers' symbols, so each would take the other one for a
 * compiler's library, and the two would call each other until the stack overflows. So an object with the marker of
 * elf.h never counts as a compiler's library. The copy that is first in load order is active, and all others only
 * forward: their dlsym leaves every name to the next dlsym, and their exported functions call the real library.
 *
 * The objects are only read (elf.h), without a call into the loader. The load order never changes and no copy is ever
 * unloaded, so the answer is computed once. Threads: any. Fork: the only state is that answer. Errors: none.
 */
#ifndef INTERPOSE_ELF_COPIES_H
#define INTERPOSE_ELF_COPIES_H

#include <stdbool.h>

/* Returns true if an earlier copy is active, so that this copy must only forward. */
bool copies_another_is_active(void);

#endif
