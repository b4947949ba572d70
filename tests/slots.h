/* SPDX-License-Identifier: MIT */
/* slots: where a loaded object keeps the addresses of the functions that it imports, and other functions put there */
#ifndef TESTS_SLOTS_H
#define TESTS_SLOTS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __x86_64__
#define SLOTS_CALLED(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#define SLOTS_IN_DATA      R_X86_64_64
#else
#define SLOTS_CALLED(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#define SLOTS_IN_DATA      R_AARCH64_ABS64
#endif

struct slot {
	const char *name;
	void **at;
	bool is_data;     /* a pointer in data, not a slot for calls */
	bool is_imported; /* not defined by the object itself */
};

typedef void slots_visit(const struct slot *slot, void *context);

static inline void slots_each(ElfW(Addr) base, const ElfW(Dyn) * dynamic, slots_visit *visit, void *context)
{
	static const int tables[][2] = {{DT_RELA, DT_RELASZ}, {DT_JMPREL, DT_PLTRELSZ}};
	ElfW(Addr) entries[DT_NUM] = {0}; /* of the dynamic section, by their tags */

	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		if (dynamic->d_tag > 0 && dynamic->d_tag < DT_NUM) {
			entries[dynamic->d_tag] = dynamic->d_un.d_ptr;
		}
	}
	for (int table = 0; table < 2; table++) {
		const ElfW(Rela) *relocations = (const void *)entries[tables[table][0]];

		for (size_t i = 0; i < entries[tables[table][1]] / sizeof(*relocations); i++) {
			const ElfW(Sym) *symbol =
			    (const ElfW(Sym) *)entries[DT_SYMTAB] + ELF64_R_SYM(relocations[i].r_info);
			struct slot slot = {.name = (const char *)entries[DT_STRTAB] + symbol->st_name,
			                    .at = (void **)(base + relocations[i].r_offset),
			                    .is_data = ELF64_R_TYPE(relocations[i].r_info) == SLOTS_IN_DATA,
			                    .is_imported = symbol->st_shndx == SHN_UNDEF};

			if (slot.is_data || SLOTS_CALLED(ELF64_R_TYPE(relocations[i].r_info))) {
				visit(&slot, context);
			}
		}
	}
}

/* Returns false if the slot cannot be written. */
static inline bool slots_put(const struct slot *slot, void *function)
{
	const uintptr_t page = (uintptr_t)slot->at & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);

	if (mprotect((void *)page, (uintptr_t)(slot->at + 1) - page, PROT_READ | PROT_WRITE) != 0) {
		return false;
	}
	__atomic_store_n(slot->at, function, __ATOMIC_RELEASE);
	return true;
}

#endif
