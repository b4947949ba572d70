/* SPDX-License-Identifier: MIT */
/*
 * elf: reads loaded objects without calling the loader
 *
 * Purpose: dlsym, dlopen and dlvsym change the host's dlerror state, take the loader's lock, and are interposed by this
 * library and by others. So everything that can be found by reading is read here from the memory images of loaded
 * objects: the dynamic section, symbols with versions, import slots, the build-id.
 *
 * Calling sequence: elf_each_object() (based on loaded_each()) passes one struct elf_object for each loaded object,
 * in load order. The struct has pointers into the image, which are valid while the object stays loaded.
 *
 * Errors: an object in which a needed table is missing or invalid is skipped (elf_view returns -ENOEXEC); every index
 * and name is checked against the tables. Threads: the lock of dl_iterate_phdr is held while callbacks run, so they
 * must not allocate, lock, or call the loader. No function here allocates or changes errno.
 */
#ifndef INTERPOSE_ELF_ELF_H
#define INTERPOSE_ELF_ELF_H

#include "interpose/elf/image.h"

#include <stdbool.h>
#include <stdint.h>

/* The bounds of this object, which the linker defines. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* Returns true if the address is in this object. */
static inline bool elf_is_ours(uintptr_t address)
{
	return address - (uintptr_t)__ehdr_start < (uintptr_t)_end - (uintptr_t)__ehdr_start;
}

/*
 * Every version of this library exports this symbol, so that the copies in a process recognise one another. It is part
 * of the ABI and never changes (docs/COMPATIBILITY.md).
 */
#define ELF_COPY_MARKER nvrtccache_library_version
/* Returns true if the object is a copy of this library, of any version, including this copy itself. */
bool elf_is_copy(const struct elf_object *object);

/*
 * Returns the build-id, from NT_GNU_BUILD_ID; -ENOENT if there is none. Notes are read with an alignment of 4, and also
 * found where patchelf has moved them (in the wheels of CUDA 11.8 to 12.4 PT_NOTE points to other bytes).
 */
int elf_build_id(const struct elf_object *object, const uint8_t **ret_id, size_t *ret_size);
/*
 * Returns the build-id from the beginning of a file; -ENOENT if it is not there, -ENOEXEC if the file is not ELF.
 */
int elf_build_id_in_file(const void *bytes, size_t size, const uint8_t **ret_id, size_t *ret_size);

/* A slot in an object that the loader fills with the address of an imported symbol. */
struct elf_import {
	const char *name;
	const char *version; /* NULL: unversioned */
	void **slot;         /* NULL if the relocation type cannot be patched (ABS64 in data) */
	/* The same, or data that the loader has filled with the address. NULL: with another value, or not writable. */
	void **place;
	uintptr_t entry; /* of the program's own PLT, whose address is the function's in all objects; 0: none */
	bool weak;
};

/*
 * Stores an address into a slot of the object. Slots in RELRO are read-only once the loader has bound them, and a tool
 * may have protected others; the page is made writable meanwhile. -EPERM: it cannot be (seccomp, mseal), and the slot
 * is unchanged. Threads: two threads must not store into one object at the same time.
 */
int elf_store(const struct elf_object *object, void **slot, void *value);

/*
 * Calls `each` for the JUMP_SLOT, GLOB_DAT and ABS64 relocations of symbols that this object does not define. Stops at
 * the first non-zero return value of `each` and returns it; -ENOEXEC if the relocation tables are invalid.
 */
int elf_each_import(const struct elf_object *object, int (*each)(const struct elf_import *import, void *context),
                    void *context);

/*
 * Does the same for the undefined names in the symbol table; only the name is set. -ENODATA if they cannot be read;
 * elf_each_import() may then still succeed.
 */
int elf_each_undefined(const struct elf_object *object, int (*each)(const struct elf_import *import, void *context),
                       void *context);

/* Does the same for the DT_NEEDED names, in order. */
int elf_each_needed(const struct elf_object *object, int (*each)(const char *name, void *context), void *context);

/*
 * Does the same for the loaded objects in load order, except unreadable ones. The kernel's vDSO defines nothing that
 * this library looks for. -EAGAIN: the list cannot be read (loaded.h).
 */
int elf_each_object(int (*each)(const struct elf_object *object, void *context), void *context);

/* Finds the object that contains an address. Returns false if there is none. */
bool elf_object_at(uintptr_t address, struct elf_object *ret_object);

/*
 * copies: decides which of several copies of this library in a process is the active one (docs/DESIGN.md)
 *
 * A process can load the library twice: one copy from /etc/ld.so.preload or a module file, another from a wheel by
 * `nvrtccache run`. Each copy exports the versions of the compilers' symbols, so each would take the other one for a
 * compiler's library, and the two would call each other until the stack overflows. So an object with ELF_COPY_MARKER
 * never counts as a compiler's library. The copy that is first in load order is active, and all others only forward:
 * their dlsym leaves every name to the next dlsym, and their exported functions call the real library.
 *
 * The load order never changes and no copy is ever unloaded, so the answer is computed once. Threads: any. Fork: the
 * only state is that answer. Errors: none.
 */

/* Returns true if an earlier copy is active, so that this copy must only forward. */
bool elf_another_copy_is_active(void);

#endif
