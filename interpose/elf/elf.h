/* SPDX-License-Identifier: MIT */
/*
 * elf: looking into loaded objects without asking the loader
 *
 * Purpose: dlsym, dlopen and dlvsym change the host's dlerror state, run under the loader's lock, and are hooked by us
 * and by others; so everything that only needs to look is done here, on the memory image of loaded objects: the dynamic
 * section, symbols with versions, import slots, the build-id.
 *
 * Calling sequence: elf_each_object() (dl_iterate_phdr underneath) gives an elf_object per loaded object, in load
 * order; the object is a view: plain pointers into the image, valid while the object stays loaded.
 *
 * Errors: an object that lacks or garbles what is needed is skipped (elf_view returns -ENOEXEC); every index and name
 * is bounds-checked against the tables. Threads: dl_iterate_phdr's own lock is held while callbacks run: they must not
 * allocate, lock, or call the loader. No allocation, no errno change.
 */
#ifndef INTERPOSE_ELF_ELF_H
#define INTERPOSE_ELF_ELF_H

#include "interpose/elf/image.h"

/*
 * A defined function or object symbol. `version` NULL: any version, the default one preferred. An unversioned
 * definition satisfies every wanted version, as it does for the loader. 0 when it is not there, undefined, or an IFUNC.
 */
uintptr_t elf_symbol(const struct elf_object *object, const char *name, const char *version);
/* Is there such a definition? The address of an IFUNC is given as 0: finding it would run code. */
bool elf_finds(const struct elf_object *object, const char *name, const char *version, uintptr_t *ret_address);
/* The version name of the (default, or only) definition of `name`, or NULL (not defined or not versioned). */
const char *elf_symbol_version(const struct elf_object *object, const char *name);

/*
 * Every version of this library exports this symbol, so that the copies in a process recognise one another (copies.h).
 * It is part of the ABI and never changes (docs/COMPATIBILITY.md).
 */
#define ELF_COPY_MARKER nvrtccache_library_version
/* Returns whether the object is a copy of this library, of any version; also true of this copy itself. */
bool elf_is_copy(const struct elf_object *object);

/* NT_GNU_BUILD_ID of the object; -ENOENT. Notes are read 4-aligned, and found where patchelf has moved them (CUDA 11.8
 * to 12.4 wheels, of which PT_NOTE leads to other bytes). */
int elf_build_id(const struct elf_object *object, const uint8_t **ret_id, size_t *ret_size);
/* The same from a file's bytes (its first pages); -ENOENT where it is not within them, -ENOEXEC for what is no ELF. */
int elf_build_id_in_file(const void *bytes, size_t size, const uint8_t **ret_id, size_t *ret_size);

/* One place in an object that the loader fills with the address of an imported symbol. */
struct elf_import {
	const char *name;
	const char *version; /* NULL: unversioned */
	void **slot;         /* NULL where the relocation is of a type that cannot be patched (ABS64 in data) */
	bool weak;
	bool in_relro;
};

/* JUMP_SLOT, GLOB_DAT and ABS64 relocations with a symbol that this object does not define. Stops when `each` says so
 * (non-zero) and returns that; -ENOEXEC where the relocation tables are not sound. */
int elf_each_import(const struct elf_object *object, int (*each)(const struct elf_import *import, void *context),
                    void *context);

/* Names that the object does not define itself, without looking at who uses them; same protocol. -ENODATA where that
 * cannot be told: elf_each_import() can. */
int elf_each_undefined(const struct elf_object *object, int (*each)(const char *name, void *context), void *context);

/* DT_NEEDED names in order; same protocol. */
int elf_each_needed(const struct elf_object *object, int (*each)(const char *name, void *context), void *context);

/* Does the object refer to symbols of that version (of whatever library)? */
bool elf_needs_version(const struct elf_object *object, const char *version);

/* Loaded objects in load order (the vDSO and unviewable ones left out); same protocol. */
int elf_each_object(int (*each)(const struct elf_object *object, void *context), void *context);

/* Counts of objects ever loaded and unloaded (dlpi_adds, dlpi_subs): equal numbers mean nothing has changed. */
struct elf_generation {
	unsigned long long loads, unloads;
};
struct elf_generation elf_generation(void);

/* The object that holds an address; false where there is none. */
bool elf_object_at(uintptr_t address, struct elf_object *ret_object);

/*
 * What `name@version` would be for code that stands behind `after` (an address inside an object) in load order: the
 * definition in the first later object that has one; 0 where there is none. This is RTLD_NEXT without dlsym. Copies of
 * this library are skipped (elf_is_copy()).
 */
uintptr_t elf_next_symbol(uintptr_t after, const char *name, const char *version);
/*
 * What `name@version` is behind our own object, copies skipped, without dl_iterate_phdr, which ThreadSanitizer
 * intercepts and needs dlsym for: along the debugger's list of loaded objects. For the very first dlsym of the process;
 * 0 also where that list is not to be had.
 */
uintptr_t elf_next_symbol_early(const char *name, const char *version);
/* The same over all objects from the first: the global scope's answer for libc's functions. */
uintptr_t elf_global_symbol(const char *name, const char *version);

#endif
