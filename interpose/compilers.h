/* SPDX-License-Identifier: MIT */
/*
 * compilers: the list of all compilers whose calls this library intercepts
 *
 * X(name, NAME): name_compiler is the compiler's table; NAME_EXPORTED, in interpose/name/nodes.h, is the list of its
 * sonames for which functions are exported. The names of its functions must begin with n or _, because dlsym.S looks
 * only at the first letter.
 *
 * node: a symbol version that identifies libraries of a compiler, and under which functions are exported. The version
 * of a symbol in the real library is its soname. A function is exported on a node only if every release from the floor
 * on has it, so that a weak reference never finds a function that the library lacks. A compiler whose symbols have no
 * version (`hallmark` of struct compiler) has one node and no exports.
 *
 * Threads: the last answer of a node is published with release order. Fork, signals: a child never finds half-written
 * state.
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

struct node {
	const struct compiler *compiler;
	const char *name;
	const char *landmark; /* a function that every library of the node defines under that version */
	int floor;            /* the oldest release of that soname */
	/* Its functions are asked for as "__", the name in the table, and this; NULL: by that name. */
	const char *suffix;
	/* Used by library.c: the only library of the node, valid while no object has been loaded or unloaded since. */
	_Atomic(struct library *) library;
	_Atomic uint64_t generation;
};

#define NODE_NAME_BYTES 64

/* Returns the function's name in libraries of the node, perhaps in `room`. */
const char *node_name(const struct node *node, size_t function, char room[NODE_NAME_BYTES]);
bool node_names_release(const char *name, const char *function); /* for node_names() */
/* Returns true if `name` is the function's name, or that with a release: "__nvJitLinkCreate_12_9". */
static inline bool node_names(const char *name, const char *function)
{
	return name[0] == '_' && function[0] != '_' ? node_names_release(name, function) : strcmp(name, function) == 0;
}

/* Returns true if the function is exported on the node, so that calls of linked hosts reach this library. */
static inline bool node_exports(const struct node *node, size_t function)
{
	const struct compiler_function *row = &node->compiler->functions[function];

	return row->since <= node->floor && node->floor < row->gone;
}

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

/* An option, and the compiler's own bits for what it does. */
struct compiler_option {
	const char *name; /* if it ends with '=', the option with any value */
	unsigned what;
};

/* Returns the bits of an option in a table, or `otherwise` if the table lacks it. */
unsigned compiler_option_what(const struct compiler_option *table, size_t count, const char *option,
                              unsigned otherwise);
#endif

#endif
