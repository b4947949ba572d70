/* SPDX-License-Identifier: MIT */
/*
 * Used for the first dlsym of a process, when dl_iterate_phdr cannot be called yet, because ThreadSanitizer intercepts
 * it and calls dlsym to find the real one.
 */
#include "interpose/elf/elf.h"

#include <errno.h>
#include <sys/auxv.h>

/* The dynamic section of this object. link.h does not declare it hidden, so it could be another object's. */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden"))); /* NOLINT(readability-redundant-declaration) */

/*
 * Returns the list of loaded objects, from the main program's DT_DEBUG. NULL: it has none (the program was started
 * through ld.so).
 */
static const struct link_map *first_object(void)
{
	const ElfW(Phdr) *phdr = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	size_t count = getauxval(AT_PHNUM);
	const ElfW(Phdr) *dynamic = NULL;
	uintptr_t base = 0;
	const ElfW(Dyn) * entry;

	for (size_t i = 0; phdr && i < count; i++) {
		if (phdr[i].p_type == PT_PHDR) {
			base = (uintptr_t)phdr - phdr[i].p_vaddr;
		} else if (phdr[i].p_type == PT_DYNAMIC) {
			dynamic = &phdr[i];
		}
	}
	if (!dynamic) {
		return NULL;
	}
	for (entry = (const ElfW(Dyn) *)(base + dynamic->p_vaddr); entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_DEBUG && entry->d_un.d_ptr) {
			return ((const struct r_debug *)entry->d_un.d_ptr)->r_map;
		}
	}
	return NULL;
}

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

	return elf_view_quickly(&info, &object) == 0 && elf_finds(&object, name, version, ret_address) &&
	       !elf_is_copy(&object);
}

uintptr_t elf_next_symbol_early(const char *name, const char *version)
{
	uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
	int saved_errno = errno;
	uintptr_t found = 0;
	bool passed = false;

	for (const struct link_map *map = first_object(); map; map = map->l_next) {
		if (!passed) {
			passed = map->l_ld == _DYNAMIC;
		} else if (map->l_addr != vdso && finds_in(map, name, version, &found)) {
			errno = saved_errno;
			return found;
		}
	}
	errno = saved_errno;
	return 0;
}
