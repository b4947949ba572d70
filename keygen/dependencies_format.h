/* SPDX-License-Identifier: MIT */
/*
 * dependencies_format: the bytes of dependencies, shared by their writer (dependencies.c) and their reader
 * (dependencies_read.c)
 *
 *     u32 magic, flags, roots, groups, items, classes
 *     struct fixed_stamps
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
 * Stamps are struct fixed_stamps, the fields device, inode, mtime (except with DEPENDENCIES_EXACT), ctime and settled
 * of the items. They are valid only on the node and the boot where they were taken.
 * They may all be zero (dependencies_forget()), and may be replaced in place (dependencies_hold_anew()), because the
 * size of dependencies does not depend on them.
 */
#ifndef KEYGEN_DEPENDENCIES_FORMAT_H
#define KEYGEN_DEPENDENCIES_FORMAT_H

#include "keygen/credentials.h"
#include "keygen/digest.h"
#include "keygen/machine.h"
#include "keygen/mount.h"
#include "keygen/stamp.h"

#include <stdint.h>

#define DEPENDENCIES_MAGIC UINT32_C(0x3444434e) /* "NCD4" */

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

#define DEPENDENCIES_STAMPS_AT (6 * sizeof(uint32_t))
#define MOUNTS_MAX             8

/* The time, the boot, the mounts and the credentials with which the stamps of the items were taken. */
struct fixed_stamps {
	uint8_t boot[MOUNT_BOOT_BYTES];
	uint8_t who[CREDENTIALS_BYTES]; /* each file was opened with these credentials at its recorded ctime */
	int64_t taken_ns;               /* 0: never */
	uint32_t mounts;
	uint32_t zero;
	struct mount mount[MOUNTS_MAX]; /* the mounts of the files */
};

struct fixed_item {
	uint32_t kind;
	uint32_t size;   /* of the name */
	uint32_t number; /* ITEM_ABSENT: the error; otherwise the class */
};

struct fixed_identity {
	uint64_t device;
	uint64_t inode;
	uint64_t size;    /* 0 for a directory */
	int64_t mtime_ns; /* 0 for a directory */
	uint32_t type;    /* st_mode & S_IFMT */
	uint32_t settled; /* 1: in a known mount, and older than the reading, so an equal stamp means equal content */
};

struct fixed_content {
	int64_t ctime_ns;
	uint8_t digest[KEY_BYTES];
};

/* Returns true if an equal stamp of this file means equal content. */
static inline bool stamp_counts(const struct file_stamp *stamp, const struct mount *mount, int64_t read_ns)
{
	return mount->kind != MOUNT_UNKNOWN && stamp->size > 0 && file_stamp_settled(stamp, read_ns);
}

_Static_assert(sizeof(struct fixed_stamps) == 48 + MOUNTS_MAX * sizeof(struct mount) && sizeof(struct mount) == 24,
               "no padding");
_Static_assert(sizeof(struct fixed_item) == 12 && sizeof(struct fixed_identity) == 40 &&
                   sizeof(struct fixed_content) == 40,
               "no padding");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the structs are written as they are");

#endif
