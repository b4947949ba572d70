/* SPDX-License-Identifier: MIT */
/*
 * node: a symbol version that identifies libraries of a compiler, and under which functions are exported
 *
 * The version of a symbol in the real library is its soname. A function is exported on a node only if every release
 * from the floor on has it, so that a weak reference never finds a function that the library lacks. A compiler whose
 * symbols have no version (`hallmark` of struct compiler) has one node and no exports.
 *
 * Threads: the last answer is published with release order. Fork, signals: a child never finds half-written state.
 */
#ifndef INTERPOSE_NODE_H
#define INTERPOSE_NODE_H

#include "interpose/compiler.h"

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

#endif
