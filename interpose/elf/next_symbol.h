/* SPDX-License-Identifier: MIT */
/*
 * next_symbol: the dlsym and dlvsym after this library in load order: libc's, or those of another preloaded library
 *
 * They are found once, without dlsym, by a search of the loaded objects after this one:
 *
 *     next_symbol_functions[i]: NULL --next_symbol_function()--> the next dlsym or dlvsym of the same version
 *
 * dlsym.S (door/arch/) jumps through that table for every name that is not a compiler's. Before glibc 2.34 dlsym is in
 * libdl, which a process may not have loaded, or loads later; until then each call searches again.
 *
 * Calling sequence: next_symbol() anywhere. Errors: as for dlsym; the dlerror state changes.
 * Threads: any.
 */
#ifndef INTERPOSE_ELF_NEXT_SYMBOL_H
#define INTERPOSE_ELF_NEXT_SYMBOL_H

#include <stdint.h>

enum next_symbol_which {
	NEXT_SYMBOL_DLSYM_OLD,
	NEXT_SYMBOL_DLSYM,
	NEXT_SYMBOL_DLVSYM_OLD,
	NEXT_SYMBOL_DLVSYM,
	NEXT_SYMBOL_COUNT
};

extern void *next_symbol_functions[NEXT_SYMBOL_COUNT];

/* Looks for the function, and stores it in the table; NULL: none is loaded. */
void *next_symbol_find(enum next_symbol_which which);

/* Returns the function from the table, which it fills at first. */
static inline void *next_symbol_function(enum next_symbol_which which)
{
	void *known = __atomic_load_n(&next_symbol_functions[which], __ATOMIC_ACQUIRE);

	return known ? known : next_symbol_find(which);
}

/*
 * Calls one of the functions from this library. RTLD_NEXT: searches after all copies of this library. Only dlvsym uses
 * `version`.
 */
void *next_symbol(void *handle, const char *name, const char *version, enum next_symbol_which which);
/* The same in the scope of the loaded object with that path. */
void *next_symbol_in(const char *path, const char *name, const char *version, enum next_symbol_which which);

/*
 * Returns the definition of `name@version` in the first object after the one that contains `after`, in load order; 0 if
 * there is none. This is RTLD_NEXT without dlsym; with `after` 0 it begins with the first object, as the loader does
 * for libc's functions in the global scope. Copies of this library are skipped (elf_is_copy()).
 */
uintptr_t elf_next_symbol(uintptr_t after, const char *name, const char *version);

#endif
