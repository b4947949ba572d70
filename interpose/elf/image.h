/* SPDX-License-Identifier: MIT */
/*
 * image: one loaded object, its tables and their bounds, as used by elf.h
 *
 * Pure functions of program headers and the tables to which they lead. Declarations after elf_contains() are used only
 * in elf/.
 */
#ifndef INTERPOSE_ELF_IMAGE_H
#define INTERPOSE_ELF_IMAGE_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_relocations {
	const ElfW(Rela) * table;
	size_t size;
};

struct elf_object {
	uintptr_t base;
	const char *path; /* dlpi_name: "" for the main program; valid while loaded */
	const ElfW(Phdr) * phdr;
	size_t phdr_count;
	const ElfW(Dyn) * dynamic;
	const char *strings;
	size_t strings_size;
	const ElfW(Sym) * symbols;
	size_t symbol_count; /* an upper bound, unless there is DT_HASH */
	const uint32_t *gnu_hash;
	const uint32_t *sysv_hash;
	const ElfW(Half) * versym;
	const ElfW(Verdef) * verdef;
	size_t verdef_count;
	const ElfW(Verneed) * verneed;
	size_t verneed_count;
	struct elf_relocations data, calls;
	size_t relative_count;            /* of `data`: relocations at its start that have no symbol (DT_RELACOUNT) */
	bool has_odd_relocations;         /* which are not read */
	const char *soname;               /* NULL if there is none */
	uintptr_t relro_start, relro_end; /* PT_GNU_RELRO; 0, 0 if there is none */
};

/* Fills in the struct. -ENOEXEC: a table that every object needs is missing or invalid. */
int elf_view(const struct dl_phdr_info *info, struct elf_object *ret_object);

/* Returns the loaded segment that contains the address, or NULL. */
const ElfW(Phdr) * elf_segment(const struct elf_object *object, uintptr_t address);
/* Returns true if the address is in one of the object's loaded segments. */
bool elf_contains(const struct elf_object *object, uintptr_t address);

/*
 * Returns the address of a defined function or object. `version` NULL: any version, preferably the default one. As in
 * the loader, an unversioned definition satisfies every version. Returns 0 if the symbol is missing, undefined, or an
 * IFUNC.
 */
uintptr_t elf_symbol(const struct elf_object *object, const char *name, const char *version);
/*
 * Returns true if there is such a definition. For an IFUNC *ret_address is 0, because resolving the address would run
 * code.
 */
bool elf_finds(const struct elf_object *object, const char *name, const char *version, uintptr_t *ret_address);

/* Returns a string of the object; NULL: there is none at that offset. */
const char *elf_string(const struct elf_object *object, size_t offset);
/*
 * Returns the version that the object defines for the symbol of that number, or needs if it is undefined; NULL: none.
 */
const char *elf_version(const struct elf_object *object, size_t symbol);
/* Returns the version of the (default, or only) definition of `name`; NULL if it is not defined or has no version. */
const char *elf_symbol_version(const struct elf_object *object, const char *name);

/* Returns how many bytes of the loaded segment can be read from `address` on; 0 outside all segments. */
size_t elf_readable(const struct elf_object *object, uintptr_t address);
/* Returns true if `size` bytes at `address` can be read through a pointer of that alignment. */
bool elf_can_read(const struct elf_object *object, const void *address, size_t size, size_t alignment);

struct elf_hash {
	uint32_t bucket_count, first, bloom_count, bloom_shift;
	const ElfW(Addr) * bloom;
	const uint32_t *buckets;
	const uint32_t *chains; /* from symbol `first` on */
	size_t chain_count;     /* at most this many can be read */
};
/* Reads DT_GNU_HASH, which the object must have. Returns false if the table is invalid. */
bool elf_hash_open(const struct elf_object *object, struct elf_hash *ret_hash);

#endif
