/* SPDX-License-Identifier: MIT */
/*
 * copies: which of several copies of this library in a process is the active one (docs/DESIGN.md A9)
 *
 * A process can load the library twice: one copy from /etc/ld.so.preload or a module file, another from a wheel by
 * `nvrtccache run`. Each copy exports the versions of the compilers' symbols, so each would take the other one for a
 * compiler's library, and the two would call each other until the stack ends. So no object with the marker of elf.h is
 * a compiler's library. The copy that is first in load order is active, and all others only forward: their dlsym
 * answers nothing by itself, and their exported functions call the real library.
 *
 * Objects are only looked at (elf.h); the loader is not asked. The order of loading never changes and no copy is ever
 * unloaded, so the answer is found once. Threads: any. Fork: no state but that answer. Errors: none.
 */
#ifndef INTERPOSE_ELF_COPIES_H
#define INTERPOSE_ELF_COPIES_H

#include <stdbool.h>

/* Returns true if an earlier copy is active, so that this one must only forward. */
bool copies_another_is_active(void);

#endif
