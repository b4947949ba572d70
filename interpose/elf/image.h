/* SPDX-License-Identifier: MIT */
/*
 * image: what the parts of elf share: bounds of a loaded image
 *
 * Pure functions over an elf_object whose phdr fields are set. Nothing here is for other modules.
 */
#ifndef INTERPOSE_ELF_IMAGE_H
#define INTERPOSE_ELF_IMAGE_H

#include "interpose/elf/elf.h"

/* elf_view() with symbol_count as what can be read, not as what is there: looking up costs no walk over all buckets. */
int elf_view_quickly(const struct dl_phdr_info *info, struct elf_object *ret_object);
/* Bytes that can be read from `address` on, within the loaded segment that holds it; 0 outside all of them. */
size_t elf_readable(const struct elf_object *object, uintptr_t address);
/* Can `size` bytes be read there, by way of a pointer of that alignment? */
bool elf_can_read(const struct elf_object *object, const void *address, size_t size, size_t alignment);
/* One past the last symbol that DT_GNU_HASH reaches; 0 where it holds none. */
size_t elf_hashed_symbols(const struct elf_object *object);
/* Is there such a definition? The address of an IFUNC is given as 0: finding it would run code. */
bool elf_finds(const struct elf_object *object, const char *name, const char *version, uintptr_t *ret_address);

#endif
