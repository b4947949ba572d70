/* SPDX-License-Identifier: MIT */
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
#ifndef INTERPOSE_COMPILE_LINKED_CALLERS_H
#define INTERPOSE_COMPILE_LINKED_CALLERS_H

#include "interpose/elf/elf.h"
#include "interpose/node.h"

bool linked_callers_pass_by(struct node *node);
/* The same of one object, which may be one that is mapped and not loaded. */
bool linked_callers_one_passes_by(const struct elf_object *object, const struct node *node);

#endif
