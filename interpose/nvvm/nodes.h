/* SPDX-License-Identifier: MIT */
/*
 * nodes: what libraries of libNVVM are known by, and why linked hosts are not served
 *
 * Their symbols have no version, so any libnvvm is of the one node here, whatever its soname says: .so.4 from 11.8 on,
 * .so.3 before. The version script has no node for it: an export of ours would have to be
 * - on the first node, which serves references without a version: then also those of a library that carries a libNVVM of
 *   its own, which would find ours instead; or
 * - without a version: then dlsym(RTLD_DEFAULT, "nvvmGetErrorString"), by which cuda.bindings asks whether a libNVVM is
 *   loaded, finds one where there is none.
 * Linked hosts therefore go past us, and while one is loaded nothing is served to anybody (compile/library.h).
 */
#ifndef INTERPOSE_NVVM_NODES_H
#define INTERPOSE_NVVM_NODES_H

#ifdef SCRIPT /* the version script */
#define NVVM_NODES(X, ...)
#else
#include "interpose/node.h"

extern const struct compiler nvvm_compiler; /* compiler.c */
extern struct node nvvm_nodes[1];
#endif

#endif
