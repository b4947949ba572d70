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

/* `entries`: of the dynamic section, by their tags. */
static void put_all(const struct link_map *map, const ElfW(Addr) entries[DT_NUM], int table, int size)
{
	const ElfW(Rela) *relocations = (const void *)entries[table];
	const ElfW(Sym) *symbols = (const void *)entries[DT_SYMTAB];

	for (size_t i = 0; i < entries[size] / sizeof(*relocations); i++) {
		const ElfW(Rela) *one = &relocations[i];
		const char *name = (const char *)entries[DT_STRTAB] + symbols[ELF64_R_SYM(one->r_info)].st_name;
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
	ElfW(Addr) entries[DT_NUM] = {0};
	struct link_map *map;
	Dl_info info;

	if (dladdr1((void *)(uintptr_t)fake_rehook, &info, (void **)&map, RTLD_DL_LINKMAP) == 0) {
		return;
	}
	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag > 0 && entry->d_tag < DT_NUM) {
			entries[entry->d_tag] = entry->d_un.d_ptr;
		}
	}
	put_all(map, entries, DT_JMPREL, DT_PLTRELSZ);
	put_all(map, entries, DT_RELA, DT_RELASZ);
}
