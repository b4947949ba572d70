/* SPDX-License-Identifier: MIT */
/*
 * nodes: one symbol version node per soname of nvJitLink: X(id, soname, floor, landmark, suffix, ...)
 *
 * `floor` is the oldest release of that soname, `landmark` the name under which all of its releases have
 * nvJitLinkCreate; plain names exist only from 12.3 on, so a library of 12 is asked for those of 12.0 (`suffix`). 14 is
 * not released yet: nothing is exported for it (floor 0).
 */
#ifndef INTERPOSE_NVJITLINK_NODES_H
#define INTERPOSE_NVJITLINK_NODES_H

/* clang-format parses .12 as a number */
/* clang-format off */
#define NVJITLINK_EXPORTED(X, ...)                                                   \
	X(12, libnvJitLink.so.12, 1200, "__nvJitLinkCreate_12_0", "_12_0", __VA_ARGS__) \
	X(13, libnvJitLink.so.13, 1300, "nvJitLinkCreate", NULL, __VA_ARGS__)

#define NVJITLINK_NODES(X, ...)                                                      \
	NVJITLINK_EXPORTED(X, __VA_ARGS__)                                           \
	X(14, libnvJitLink.so.14, 0, "nvJitLinkCreate", NULL, __VA_ARGS__)

/*
 * The names that are exported to linked hosts: X(which, prefix, suffix, version, id, floor, ...). A toolkit's header
 * makes nvJitLinkX() a call of __nvJitLinkX_<its release>; plain names exist from 12.3 on. Only names that every
 * release of a soname has are exported. With more exports, a host would load with an older library that lacks the names
 * of the host's release; without them the loader rejects that library, and some hosts then use a fallback. A host that
 * is linked with other names (the headers of 12.1 to 12.9 and 13.1 to 13.5) is reached through its import slots
 * (door/modules.h).
 */
#define NVJITLINK_LINKED(X, ...)                                                     \
	X(12_0, "__", "_12_0", "@libnvJitLink.so.12", 12, 1200, __VA_ARGS__)         \
	X(13, "", "", "@libnvJitLink.so.13", 13, 1300, __VA_ARGS__)                  \
	X(13_0, "__", "_13_0", "@libnvJitLink.so.13", 13, 1300, __VA_ARGS__)
/* clang-format on */

#ifndef SCRIPT /* the version script needs only the list of nodes */
#include "interpose/compilers.h"

enum nvjitlink_node {
#define NODE_ENUM(id, soname, floor, landmark, ...) NVJITLINK_NODE_##id,
	NVJITLINK_NODES(NODE_ENUM, )
#undef NODE_ENUM
	    NVJITLINK_NODE_COUNT
};

extern const struct compiler nvjitlink_compiler; /* defined in compiler.c */
extern struct node nvjitlink_nodes[NVJITLINK_NODE_COUNT];
#endif

#endif
