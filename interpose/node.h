/* SPDX-License-Identifier: MIT */
/*
 * node: a symbol version under which libraries of a compiler are known, and linked hosts reach us
 *
 * The version of a symbol of the real library is its soname. A function is exported on a node only if every release
 * from the floor on has it, so that a weak reference never finds what the library lacks.
 *
 * Threads: what was found last is published by release. Fork, signals: no state that a child could find half-done.
 */
#ifndef INTERPOSE_NODE_H
#define INTERPOSE_NODE_H

#include "interpose/compiler.h"

struct node {
	const struct compiler *compiler;
	const char *name;
	const char *landmark; /* a function that every one defines, under that version */
	int floor;            /* the oldest release of that soname */
	/* Of library.c: the one library of the node, as long as nothing has been loaded or unloaded since. */
	_Atomic(struct library *) library;
	_Atomic unsigned long long loads, unloads;
	/* Of linked_callers.c: which generation of loaded objects it is of, and the answer in the lowest bit. */
	_Atomic uint64_t callers;
};

/* The function's name in libraries of the node. */
static inline const char *node_name(const struct node *node, size_t function)
{
	const struct compiler *compiler = node->compiler;

	return compiler->name_on ? compiler->name_on(node, function) : compiler->functions[function].name;
}

/* Is this function exported on the node, so that linked hosts reach it through us? */
static inline bool node_exports(const struct node *node, size_t function)
{
	const struct compiler_function *row = &node->compiler->functions[function];

	return row->since <= node->floor && node->floor < row->gone;
}

#endif
