/* SPDX-License-Identifier: MIT */
/* What a profiler does that hooks imports while a compile runs: other functions than ours stand in the slots afterwards. */
#include "tests/fake/fake.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define IS_FUNCTION(info) (ELF64_R_TYPE(info) == R_X86_64_JUMP_SLOT || ELF64_R_TYPE(info) == R_X86_64_GLOB_DAT)
#else
#define IS_FUNCTION(info) (ELF64_R_TYPE(info) == R_AARCH64_JUMP_SLOT || ELF64_R_TYPE(info) == R_AARCH64_GLOB_DAT)
#endif

static void put(void **slot, void *function)
{
	const uintptr_t page = (uintptr_t)slot & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);

	if (mprotect((void *)page, (uintptr_t)(slot + 1) - page, PROT_READ | PROT_WRITE) == 0) {
		__atomic_store_n(slot, function, __ATOMIC_RELEASE);
	}
}

static void put_all(const struct link_map *map, const ElfW(Rela) * relocations, size_t size, const ElfW(Sym) * symbols,
                    const char *strings)
{
	for (size_t i = 0; i < size / sizeof(*relocations); i++) {
		const ElfW(Rela) *one = &relocations[i];
		const char *name = strings + symbols[ELF64_R_SYM(one->r_info)].st_name;
		void *function;

		if (!IS_FUNCTION(one->r_info) || strncmp(name, "open", 4) != 0) {
			continue;
		}
		function = dlsym(RTLD_NEXT, name);
		if (function != NULL) {
			put((void **)(map->l_addr + one->r_offset), function);
		}
	}
}

void fake_rehook(void)
{
	const ElfW(Rela) *lazy = NULL;
	const ElfW(Rela) *eager = NULL;
	const ElfW(Sym) *symbols = NULL;
	const char *strings = NULL;
	size_t lazy_size = 0;
	size_t eager_size = 0;
	struct link_map *map;
	Dl_info info;

	if (dladdr1((void *)(uintptr_t)fake_rehook, &info, (void **)&map, RTLD_DL_LINKMAP) == 0) {
		return;
	}
	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
		const uintptr_t address = entry->d_un.d_ptr;

		switch (entry->d_tag) {
		case DT_JMPREL:
			lazy = (const void *)address;
			break;
		case DT_PLTRELSZ:
			lazy_size = entry->d_un.d_val;
			break;
		case DT_RELA:
			eager = (const void *)address;
			break;
		case DT_RELASZ:
			eager_size = entry->d_un.d_val;
			break;
		case DT_SYMTAB:
			symbols = (const void *)address;
			break;
		case DT_STRTAB:
			strings = (const char *)address;
			break;
		default:
			break;
		}
	}
	put_all(map, lazy, lazy_size, symbols, strings);
	put_all(map, eager, eager_size, symbols, strings);
}
