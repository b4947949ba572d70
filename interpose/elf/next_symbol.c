/* SPDX-License-Identifier: MIT */
#include "interpose/elf/next_symbol.h"

#include "interpose/elf/elf.h"
#include "interpose/elf/loader.h"

#if defined(__x86_64__)
#define LIBC_FIRST "GLIBC_2.2.5"
#else
#define LIBC_FIRST "GLIBC_2.17"
#endif

typedef void *dlsym_function(void *handle, const char *name);
typedef void *dlvsym_function(void *handle, const char *name, const char *version);

/*
 * In the table if there is no dlsym. Before glibc 2.34 dlsym is in libdl, which a process may not have loaded. Such a
 * process calls dlsym only if a weak reference to it is not NULL, which is so because it binds to the export of this
 * library. libdl may be loaded later, so every call searches again.
 */
static void *no_dlsym(void *handle, const char *name)
{
	void *next;

	next_symbol_bootstrap(NEXT_SYMBOL_DLSYM);
	next = __atomic_load_n(&next_symbol_functions[NEXT_SYMBOL_DLSYM], __ATOMIC_ACQUIRE);
	return next == (void *)no_dlsym ? NULL : ((dlsym_function *)next)(handle, name);
}

static void *no_dlvsym(void *handle, const char *name, const char *version)
{
	void *next;

	next_symbol_bootstrap(NEXT_SYMBOL_DLVSYM);
	next = __atomic_load_n(&next_symbol_functions[NEXT_SYMBOL_DLVSYM], __ATOMIC_ACQUIRE);
	return next == (void *)no_dlvsym ? NULL : ((dlvsym_function *)next)(handle, name, version);
}

/*
 * The table is filled on first use. Two concurrent threads store the same values. Since glibc 2.34 libc has all four,
 * so each is found before any object that can be unloaded, and waits for its own first use.
 */
void next_symbol_bootstrap(enum next_symbol_which which)
{
	static const struct {
		const char *name;
		const char *version;
	} wanted[NEXT_SYMBOL_COUNT] = {
	    [NEXT_SYMBOL_DLSYM_OLD] = {"dlsym", LIBC_FIRST},
	    [NEXT_SYMBOL_DLSYM] = {"dlsym", "GLIBC_2.34"},
	    [NEXT_SYMBOL_DLVSYM_OLD] = {"dlvsym", LIBC_FIRST},
	    [NEXT_SYMBOL_DLVSYM] = {"dlvsym", "GLIBC_2.34"},
	};
	bool is_new = which == NEXT_SYMBOL_DLSYM || which == NEXT_SYMBOL_DLVSYM;
	uintptr_t found[NEXT_SYMBOL_COUNT] = {0};

	if (is_new && (found[which] = elf_next_symbol_early(wanted[which].name, wanted[which].version))) {
		__atomic_store_n(&next_symbol_functions[which], (void *)found[which], __ATOMIC_RELEASE);
		return;
	}
	for (int i = 0; i < NEXT_SYMBOL_COUNT; i++) {
		found[i] = elf_next_symbol_early(wanted[i].name, wanted[i].version);
	}
	for (int i = 0; i < NEXT_SYMBOL_COUNT && !found[i] && !found[i ^ 1]; i++) {
		found[i] = elf_next_symbol((uintptr_t)&next_symbol_bootstrap, wanted[i].name, wanted[i].version);
	}
	/* Before glibc 2.34 only the old version exists (in libdl), and no module refers to the new one. */
	for (int i = 0; i < NEXT_SYMBOL_COUNT; i++) {
		uintptr_t none = i >= NEXT_SYMBOL_DLVSYM_OLD ? (uintptr_t)no_dlvsym : (uintptr_t)no_dlsym;
		uintptr_t address = found[i] ? found[i] : found[i ^ 1];

		__atomic_store_n(&next_symbol_functions[i], (void *)(address ? address : none), __ATOMIC_RELEASE);
	}
}

void *next_symbol(void *handle, const char *name, const char *version, enum next_symbol_which which)
{
	void *next = __atomic_load_n(&next_symbol_functions[which], __ATOMIC_ACQUIRE);
	void *found = which >= NEXT_SYMBOL_DLVSYM_OLD ? ((dlvsym_function *)next)(handle, name, version)
	                                              : ((dlsym_function *)next)(handle, name);
	struct elf_object object;

	if (handle == RTLD_NEXT && found && elf_object_at((uintptr_t)found, &object) && elf_is_copy(&object)) {
		return (void *)elf_next_symbol((uintptr_t)found, name, version);
	}
	return found;
}

void *next_symbol_in(const char *path, const char *name, const char *version, enum next_symbol_which which)
{
	void *handle = loader_open_again(path, 0);
	void *found = handle ? next_symbol(handle, name, version, which) : NULL;

	if (handle) {
		(void)dlclose(handle);
	}
	return found;
}

uintptr_t next_symbol_global(const char *name, const char *version)
{
	uintptr_t address = 0;

	if (version) {
		address = (uintptr_t)next_symbol(RTLD_DEFAULT, name, version, NEXT_SYMBOL_DLVSYM);
	}
	return address ? address : (uintptr_t)next_symbol(RTLD_DEFAULT, name, NULL, NEXT_SYMBOL_DLSYM);
}
