/* SPDX-License-Identifier: MIT */
/*
 * slots: makes import slots of a loaded object writable
 *
 * Purpose: slots in RELRO are read-only once the loader has bound them. Pages outside RELRO are writable already,
 * unless a tool protected more than the loader does.
 *
 * Calling sequence: slots_add() for each slot; slots_open(); store into the slots, atomically; slots_close(), also
 * after a failure. Errors: -EPERM if the pages cannot be made writable (seccomp, mseal); the slots are then unchanged.
 * Threads: two threads must not open slots of one object at the same time. Allocates nothing and takes no lock.
 */
#ifndef INTERPOSE_ELF_SLOTS_H
#define INTERPOSE_ELF_SLOTS_H

#include "interpose/elf/elf.h"

struct slot_pages {
	uintptr_t low, high;
};

struct slots {
	const struct elf_object *object;
	struct slot_pages constant, variable; /* pages of the slots in RELRO, and of the others */
	struct slot_pages relro;
};

void slots_add(struct slots *slots, const struct elf_import *import);
int slots_open(struct slots *slots);
void slots_close(const struct slots *slots);

#endif
