/* SPDX-License-Identifier: MIT */
/*
 * dependencies_format: the bytes of dependencies, shared by their writer (dependencies_build.c) and their
 * reader (dependencies_walk.c)
 *
 *     u32 magic, flags, roots, groups, items, classes
 *     KEY_BYTES, with DEPENDENCIES_COMPANION
 *     KEY_BYTES, with DEPENDENCIES_ARITHMETIC
 *     u32 answers and as many struct machine_answer, with DEPENDENCIES_MACHINE
 *     per root      u32 size and the bytes of its text, or u32 ROOT_FREE
 *     per group     u32 base, u32 hints, u32 items, u32 size and the bytes of the directory: empty, or ending in '/'
 *       per item    struct fixed_item and the bytes of the name (no '/'; empty: the directory itself), then
 *         ITEM_ABSENT    nothing
 *         ITEM_IDENTITY  struct fixed_identity
 *         ITEM_CONTENT   struct fixed_identity, struct fixed_content
 *
 * All numbers are little-endian. A path is the base's text, the directory and the name, concatenated. Groups are in
 * the order of base and directory, so that a base's directory is opened once.
 *
 * Equal compilations give equal bytes on all nodes: what is true on one node only (stamps of files) is kept in
 * keygen/facts.h.
 */
#ifndef KEYGEN_DEPENDENCIES_FORMAT_H
#define KEYGEN_DEPENDENCIES_FORMAT_H

#include "keygen/digest.h"
#include "keygen/machine.h"

#include <stdint.h>

#define DEPENDENCIES_MAGIC UINT32_C(0x3544434e) /* "NCD5" */

#define DEPENDENCIES_EXACT      UINT32_C(1)
#define DEPENDENCIES_ARITHMETIC UINT32_C(2)
#define DEPENDENCIES_MACHINE    UINT32_C(4)
#define DEPENDENCIES_COMPANION  UINT32_C(8)
#define DEPENDENCIES_FLAGS      UINT32_C(15)

#define ROOT_FREE UINT32_C(0xffffffff)

/* Bases: the number of a root, or one of these. */
#define BASE_LITERAL UINT32_C(0xfffffffe) /* the directory is absolute */
#define BASE_CWD     UINT32_C(0xffffffff)

/* Opening the group's directory, or its base, saves more than it costs. */
#define HINT_OPEN_DIRECTORY UINT32_C(1)
#define HINT_OPEN_BASE      UINT32_C(2)

#define ITEM_ABSENT   UINT32_C(1)
#define ITEM_IDENTITY UINT32_C(2)
#define ITEM_CONTENT  UINT32_C(3)

struct fixed_item {
	uint32_t kind;
	uint32_t size;   /* of the name */
	uint32_t number; /* ITEM_ABSENT: the error; otherwise the class */
};

struct fixed_identity {
	uint64_t size;    /* of ITEM_CONTENT, and with DEPENDENCIES_EXACT; 0 for a directory */
	int64_t mtime_ns; /* with DEPENDENCIES_EXACT; 0 for a directory */
	uint32_t type;    /* st_mode & S_IFMT */
	uint32_t zero;
};

struct fixed_content {
	uint8_t digest[KEY_BYTES];
};

_Static_assert(sizeof(struct fixed_item) == 12 && sizeof(struct fixed_identity) == 24, "no padding");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the structs are written as they are");

#endif
