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

void *next_symbol_functions[NEXT_SYMBOL_COUNT];

/* Two concurrent threads store the same value. */
void *next_symbol_find(enum next_symbol_which which)
{
	static const char *const versions[] = {LIBC_FIRST, "GLIBC_2.34"};
	const char *name = which >= NEXT_SYMBOL_DLVSYM_OLD ? "dlvsym" : "dlsym";
	uintptr_t found = 0;

	/* Before glibc 2.34 only the old version exists (in libdl). */
	for (unsigned i = 0; i < 2 && !found; i++) {
		found = elf_next_symbol_early(name, versions[(which ^ i) % 2]);
	}
	for (unsigned i = 0; i < 2 && !found; i++) {
		found = elf_next_symbol((uintptr_t)&next_symbol_find, name, versions[(which ^ i) % 2]);
	}
	__atomic_store_n(&next_symbol_functions[which], (void *)found, __ATOMIC_RELEASE);
	return (void *)found;
}

void *next_symbol(void *handle, const char *name, const char *version, enum next_symbol_which which)
{
	void *next = next_symbol_function(which);
	void *found = NULL;
	struct elf_object object;

	if (next) {
		found = which >= NEXT_SYMBOL_DLVSYM_OLD ? ((dlvsym_function *)next)(handle, name, version)
		                                        : ((dlsym_function *)next)(handle, name);
	}
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
