/* SPDX-License-Identifier: MIT */
/*
 * compilers: the list of all compilers whose calls this library intercepts
 *
 * X(name, NAME): name_compiler is the compiler's table; NAME_EXPORTED, in interpose/name/nodes.h, is the list of its
 * sonames for which functions are exported. The names of its functions must begin with n or _, because dlsym.S looks
 * only at the first letter.
 */
#ifndef INTERPOSE_COMPILERS_H
#define INTERPOSE_COMPILERS_H

#define COMPILERS(X) X(nvrtc, NVRTC) X(nvjitlink, NVJITLINK) X(nvvm, NVVM)

#ifndef SCRIPT /* the version script needs only the lists */
#include "interpose/compiler.h"
#include "interpose/elf/elf.h"

#define COMPILER_ONE(name, NAME) +1
enum { COMPILER_COUNT = 0 COMPILERS(COMPILER_ONE) };
#undef COMPILER_ONE

/* In the order of the list. */
extern const struct compiler *const compilers[COMPILER_COUNT];

/*
 * Returns the compiler that a function name belongs to, whether the function is known or not; NULL: none. Callable
 * before a sanitizer's runtime is initialised.
 */
const struct compiler *compiler_of_name(const char *name);
/* The same for functions that are to be intercepted: they take a handle, or are unknown. */
const struct compiler *compiler_to_intercept(const char *name);
/*
 * Returns the node of a compiler's library, recognised by the symbols that it defines. NULL: the object is no
 * compiler's library.
 */
struct node *compiler_node_of(const struct elf_object *object);
/* Returns true if the object defines a function by which libraries of a compiler are recognised, of any version. */
bool compiler_is_defined(const struct elf_object *object);
#endif

#endif
