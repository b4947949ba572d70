/* SPDX-License-Identifier: MIT */
/*
 * nodes: one symbol version node per soname of NVRTC; the version of a symbol of the real library is its soname
 *
 * X(id, soname, floor, ...): `floor` is the oldest release of that soname, major * 100 + minor. A function is exported
 * on a node only if every release from the floor on has it, so that a weak reference never finds a function that the
 * library lacks. Node 11.2 is that of releases 11.2 to 11.8. The .alt libraries are NVIDIA's second builds, with nodes
 * of their own. Releases from 14 on do not exist yet. Nothing is exported for them (floor 0); linked programs are
 * reached through their import slots (door/modules.h) if the release follows the naming pattern.
 */
#ifndef INTERPOSE_NVRTC_NODES_H
#define INTERPOSE_NVRTC_NODES_H

/* clang-format takes .12 for a number */
/* clang-format off */
#define NVRTC_EXPORTED(X, ...)                                                                                         \
	X(11_0, libnvrtc.so.11.0, 1100, __VA_ARGS__)                                                                   \
	X(11_1, libnvrtc.so.11.1, 1101, __VA_ARGS__)                                                                   \
	X(11_2, libnvrtc.so.11.2, 1102, __VA_ARGS__)                                                                   \
	X(12, libnvrtc.so.12, 1200, __VA_ARGS__)                                                                       \
	X(12_alt, libnvrtc.alt.so.12, 1209, __VA_ARGS__)                                                               \
	X(13, libnvrtc.so.13, 1300, __VA_ARGS__)                                                                       \
	X(13_alt, libnvrtc.alt.so.13, 1300, __VA_ARGS__)

#define NVRTC_NODES(X, ...)                                                                                            \
	NVRTC_EXPORTED(X, __VA_ARGS__)                                                                                 \
	X(14, libnvrtc.so.14, 0, __VA_ARGS__)                                                                          \
	X(14_alt, libnvrtc.alt.so.14, 0, __VA_ARGS__)                                                                  \
	X(15, libnvrtc.so.15, 0, __VA_ARGS__)                                                                          \
	X(16, libnvrtc.so.16, 0, __VA_ARGS__)                                                                          \
	X(17, libnvrtc.so.17, 0, __VA_ARGS__)                                                                          \
	X(18, libnvrtc.so.18, 0, __VA_ARGS__)
/* clang-format on */

#ifndef SCRIPT /* the version script needs only the list */
#include "interpose/compilers.h"

enum nvrtc_node {
#define NODE_ENUM(id, soname, floor, ...) NVRTC_NODE_##id,
	NVRTC_NODES(NODE_ENUM, )
#undef NODE_ENUM
	    NVRTC_NODE_COUNT
};

extern const struct compiler nvrtc_compiler; /* defined in compiler.c */
extern struct node nvrtc_nodes[NVRTC_NODE_COUNT];
#endif

#endif
