/* SPDX-License-Identifier: MIT */
#include "tests/faults/slots.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define IS_SLOT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#else
#define IS_SLOT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#endif

struct search {
	const struct link_map *library;
	slots_choice *choose;
	size_t page;
	const char *wrong;
	unsigned redirected;
};

static void redirect(struct search *search, const char *name, uintptr_t *slot)
{
	void *first = (void *)((uintptr_t)slot & ~(search->page - 1));
	slots_function *instead = NULL;

	if (!search->choose(name, &instead)) {
		search->wrong = name;
	} else if (instead && mprotect(first, search->page, PROT_READ | PROT_WRITE) != 0) {
		search->wrong = "the import slots cannot be written";
	} else if (instead) {
		*slot = (uintptr_t)instead;
		search->redirected++;
	}
}

static void redirect_all(struct search *search, const ElfW(Rela) * relocation, size_t size, const ElfW(Sym) * symbols,
                         const char *strings)
{
	for (size_t i = 0; relocation && i < size / sizeof(*relocation); i++) {
		if (IS_SLOT(ELF64_R_TYPE(relocation[i].r_info))) {
			const char *name = strings + symbols[ELF64_R_SYM(relocation[i].r_info)].st_name;

			redirect(search, name, (uintptr_t *)(search->library->l_addr + relocation[i].r_offset));
		}
	}
}

const char *slots_redirect(const char *library, slots_choice *choose, unsigned *ret_redirected)
{
	struct search search = {.choose = choose, .page = (size_t)sysconf(_SC_PAGESIZE)};
	void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
	const ElfW(Rela) *relocations = NULL, *jumps = NULL;
	const ElfW(Sym) *symbols = NULL;
	const char *strings = NULL;
	size_t relocations_size = 0, jumps_size = 0;

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &search.library) != 0) {
		return "the library is not preloaded";
	}
	for (const ElfW(Dyn) *entry = search.library->l_ld; entry->d_tag != DT_NULL; entry++) {
		switch (entry->d_tag) {
		case DT_SYMTAB:
			symbols = (const void *)entry->d_un.d_ptr;
			break;
		case DT_STRTAB:
			strings = (const void *)entry->d_un.d_ptr;
			break;
		case DT_RELA:
			relocations = (const void *)entry->d_un.d_ptr;
			break;
		case DT_RELASZ:
			relocations_size = entry->d_un.d_val;
			break;
		case DT_JMPREL:
			jumps = (const void *)entry->d_un.d_ptr;
			break;
		case DT_PLTRELSZ:
			jumps_size = entry->d_un.d_val;
			break;
		default:
			break;
		}
	}
	redirect_all(&search, relocations, relocations_size, symbols, strings);
	redirect_all(&search, jumps, jumps_size, symbols, strings);
	*ret_redirected = search.redirected;
	return search.wrong;
}
