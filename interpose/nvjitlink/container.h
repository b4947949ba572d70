/* SPDX-License-Identifier: MIT */
/*
 * container: does everything that the heads inside an input refer to lie within the input?
 *
 * For archives, objects and fatbins, and for the head of LTO-IR, nvJitLink believes the heads and not the size that the
 * host passes (12.0 to 13.3: archives; 12.0 to 13.5: the others). What it reads behind the size is not in the key, and
 * is not there behind a copy. So an input is understood only if the ends of all members, sections and fatbins lie
 * within the size. Reads inside the input are harmless, because the key covers all of its bytes.
 *
 * Pure functions, which read no byte behind the size. What cannot be parsed is not whole.
 */
#ifndef INTERPOSE_NVJITLINK_CONTAINER_H
#define INTERPOSE_NVJITLINK_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

enum container_kind {
	CONTAINER_NONE, /* for nvJitLink it is a text */
	CONTAINER_ARCHIVE,
	CONTAINER_FATBIN,
	CONTAINER_ELF,
	CONTAINER_LTOIR
};
enum container_kind container_kind(const void *bytes, size_t size);

/* Returns false for CONTAINER_NONE too. */
bool container_is_whole(const void *bytes, size_t size);

#endif
