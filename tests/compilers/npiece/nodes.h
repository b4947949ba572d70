/* SPDX-License-Identifier: MIT */
/*
 * nodes: one symbol version node per soname of npiece: X(id, soname, floor, ...)
 */
#ifndef TESTS_COMPILERS_NPIECE_NODES_H
#define TESTS_COMPILERS_NPIECE_NODES_H

/* clang-format takes .1 for a number */
/* clang-format off */
#define NPIECE_NODES(X, ...) X(1, libnpiece.so.1, 100, __VA_ARGS__)
/* clang-format on */

#ifndef SCRIPT /* the version script wants the list alone */
#include "interpose/node.h"

enum npiece_node {
#define NODE_ENUM(id, soname, floor, ...) NPIECE_NODE_##id,
	NPIECE_NODES(NODE_ENUM, )
#undef NODE_ENUM
	    NPIECE_NODE_COUNT
};

extern struct node npiece_nodes[NPIECE_NODE_COUNT];
#endif

#endif
