/* SPDX-License-Identifier: MIT */
#include "interpose/elf/next_symbol.h"

#include "interpose/elf/elf.h"
#include "interpose/elf/loaded.h"
#include "interpose/elf/loader.h"

#if defined(__x86_64__)
#define LIBC_FIRST "GLIBC_2.2.5"
#else
#define LIBC_FIRST "GLIBC_2.17"
#endif

struct scope {
	const char *name;
	const char *version;
	uintptr_t after; /* set to 0 when the walk has passed that object */
	uintptr_t skip;
	uintptr_t found;
};

/* As in the loader, the first definition in load order is used. */
static int scope_one(const struct elf_object *object, void *context)
{
	struct scope *scope = context;

	if (scope->after) {
		if (elf_contains(object, scope->after)) {
			scope->after = 0;
		}
		return 0;
	}
	if (!elf_finds(object, scope->name, scope->version, &scope->found)) {
		return 0;
	}
	if (elf_contains(object, scope->skip) || elf_is_copy(object)) {
		scope->found = 0;
		return 0;
	}
	return 1;
}

uintptr_t elf_next_symbol(uintptr_t after, const char *name, const char *version)
{
	struct scope scope = {.name = name, .version = version, .after = after, .skip = (uintptr_t)elf_next_symbol};

	elf_each_object(scope_one, &scope);
	return scope.found;
}

/* ---- for the first dlsym of a process, when dl_iterate_phdr cannot be called ---- */

/* The dynamic section of this object. link.h does not declare it hidden, so it could be another object's. */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden"))); /* NOLINT(readability-redundant-declaration) */

/*
 * Returns true if the object defines the symbol and is not a copy of this library. A link map does not contain the
 * segments, and the ELF header need not be at l_addr. So the view has one segment that covers all memory, and the
 * tables of the dynamic section are trusted, as the loader trusts them.
 */
static bool finds_in(const struct link_map *map, const char *name, const char *version, uintptr_t *ret_address)
{
	const ElfW(Phdr) phdr[] = {
	    {.p_type = PT_LOAD, .p_vaddr = -map->l_addr, .p_memsz = UINTPTR_MAX},
	    {.p_type = PT_DYNAMIC, .p_vaddr = (uintptr_t)map->l_ld - map->l_addr},
	};
	const struct dl_phdr_info info = {
	    .dlpi_addr = map->l_addr, .dlpi_name = map->l_name, .dlpi_phdr = phdr, .dlpi_phnum = 2};
	struct elf_object object;

	return elf_view(&info, &object) == 0 && elf_finds(&object, name, version, ret_address) && !elf_is_copy(&object);
}

/*
 * Does the same as elf_next_symbol() for objects after this one, by the debugger's list of loaded objects. For the
 * first dlsym of the process, when dl_iterate_phdr cannot be used: ThreadSanitizer intercepts it and needs dlsym
 * itself. The kernel's vDSO, whose tables the loader does not relocate, is in front of this object. Also returns 0 if
 * there is no such list.
 */
static uintptr_t find_next_early(const char *name, const char *version)
{
	uintptr_t found = 0;
	bool passed = false;

	for (const struct link_map *map = loaded_list(); map; map = map->l_next) {
		if (!passed) {
			passed = map->l_ld == _DYNAMIC;
		} else if (finds_in(map, name, version, &found)) {
			return found;
		}
	}
	return 0;
}

/* ---- dlsym ---- */

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
	for (unsigned i = 0; i < 4 && !found; i++) {
		const char *version = versions[(which ^ i) % 2];

		found = i < 2 ? find_next_early(name, version)
		              : elf_next_symbol((uintptr_t)&next_symbol_find, name, version);
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
