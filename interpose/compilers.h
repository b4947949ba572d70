/* SPDX-License-Identifier: MIT */
/*
 * compilers: the list of all compilers that we stand before
 *
 * X(name, NAME): name_compiler is its table; NAME_NODES, in interpose/name/nodes.h, is the list of its sonames.
 * The names of its functions begin with n or _ (the first letter is all that dlsym.S looks at).
 */
#ifndef INTERPOSE_COMPILERS_H
#define INTERPOSE_COMPILERS_H

#define COMPILERS(X) X(nvrtc, NVRTC) X(nvjitlink, NVJITLINK) X(nvvm, NVVM)

#ifndef SCRIPT /* the version script wants the lists alone */
#include "interpose/compiler.h"
#include "interpose/elf/elf.h"

#define COMPILER_ONE(name, NAME) +1
enum { COMPILER_COUNT = 0 COMPILERS(COMPILER_ONE) };
#undef COMPILER_ONE

/* In the order of the list. */
extern const struct compiler *const compilers[COMPILER_COUNT];

/* The compiler whose function a name is, known or not; NULL: nobody's. Callable before a sanitizer's runtime is up. */
const struct compiler *compiler_of_name(const char *name);
/* The one that an object is a library of, by what it defines: its node. NULL: none. */
struct node *compiler_node_of(const struct elf_object *object);
#endif

#endif
