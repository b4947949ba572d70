/* SPDX-License-Identifier: MIT */
/*
 * nodes: one symbol version node per soname of nvJitLink: X(id, soname, floor, landmark, ...)
 *
 * floor is the oldest release of that soname, landmark the name under which all of its releases have nvJitLinkCreate.
 * 14 does not exist yet; a release that keeps the pattern works without a change here.
 */
#ifndef INTERPOSE_NVJITLINK_NODES_H
#define INTERPOSE_NVJITLINK_NODES_H

/* clang-format takes .12 for a number */
/* clang-format off */
#define NVJITLINK_NODES(X, ...)                                                      \
	X(12, libnvJitLink.so.12, 1200, "__nvJitLinkCreate_12_0", __VA_ARGS__)       \
	X(13, libnvJitLink.so.13, 1300, "nvJitLinkCreate", __VA_ARGS__)              \
	X(14, libnvJitLink.so.14, 1400, "nvJitLinkCreate", __VA_ARGS__)

/*
 * The names that linked hosts reach us by: X(which, prefix, suffix, version, id, floor, ...). The header of a toolkit
 * makes nvJitLinkX() a call of __nvJitLinkX_<its release>; plain names came with 12.3. Only what every release of a
 * soname has is here: with more of them a host would load that the loader refuses for want of its release's names in an
 * older library, and some hosts go another way then. One that is linked with other names (the headers of 12.1 to 12.9)
 * goes past us, uncached, and so does everybody beside it (compile/library.h).
 */
#define NVJITLINK_LINKED(X, ...)                                                     \
	X(12_0, "__", "_12_0", "@libnvJitLink.so.12", 12, 1200, __VA_ARGS__)         \
	X(13, "", "", "@libnvJitLink.so.13", 13, 1300, __VA_ARGS__)                  \
	X(13_0, "__", "_13_0", "@libnvJitLink.so.13", 13, 1300, __VA_ARGS__)         \
	X(14, "", "", "@libnvJitLink.so.14", 14, 1400, __VA_ARGS__)                  \
	X(14_0, "__", "_14_0", "@libnvJitLink.so.14", 14, 1400, __VA_ARGS__)
/* clang-format on */

#ifndef SCRIPT /* the version script wants the list of nodes alone */
#include "interpose/node.h"

enum nvjitlink_node {
#define NODE_ENUM(id, soname, floor, landmark, ...) NVJITLINK_NODE_##id,
	NVJITLINK_NODES(NODE_ENUM, )
#undef NODE_ENUM
	    NVJITLINK_NODE_COUNT
};

extern const struct compiler nvjitlink_compiler; /* whose they are: compiler.c */
extern struct node nvjitlink_nodes[NVJITLINK_NODE_COUNT];
#endif

#endif
