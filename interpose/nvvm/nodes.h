/* SPDX-License-Identifier: MIT */
/*
 * nodes: how a libNVVM is recognised, and why nothing is exported for linked hosts
 *
 * Its symbols have no version, so every libnvvm belongs to the one node here, whatever its soname: .so.4 from 11.8 on,
 * .so.3 before. The version script has no node for it, because an export would have to be
 * - on the first node, to which references without a version are bound: then a library that contains a libNVVM of its
 *   own would be bound to the export instead; or
 * - without a version: then dlsym(RTLD_DEFAULT, "nvvmGetErrorString"), with which cuda.bindings checks whether a
 *   libNVVM is loaded, would succeed when none is.
 * Linked hosts are reached through their import slots (door/modules.h).
 */
#ifndef INTERPOSE_NVVM_NODES_H
#define INTERPOSE_NVVM_NODES_H

#ifdef SCRIPT /* the version script */
#define NVVM_EXPORTED(X, ...)
#else
#include "interpose/compilers.h"

extern const struct compiler nvvm_compiler; /* defined in compiler.c */
extern struct node nvvm_nodes[1];
#endif

#endif
