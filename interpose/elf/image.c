/* SPDX-License-Identifier: MIT */
/*
 * Every table of an object is checked against its loaded segments before it is read, because objects may be truncated,
 * packed or modified (patchelf), and a fault here would kill the host.
 */
#include "interpose/elf/image.h"

#include <errno.h>

const ElfW(Phdr) * elf_segment(const struct elf_object *object, uintptr_t address)
{
	for (size_t i = 0; i < object->phdr_count; i++) {
		const ElfW(Phdr) *phdr = &object->phdr[i];

		if (phdr->p_type == PT_LOAD && address - (object->base + phdr->p_vaddr) < phdr->p_memsz) {
			return phdr;
		}
	}
	return NULL;
}

size_t elf_readable(const struct elf_object *object, uintptr_t address)
{
	const ElfW(Phdr) *segment = elf_segment(object, address);

	return segment ? object->base + segment->p_vaddr + segment->p_memsz - address : 0;
}

bool elf_can_read(const struct elf_object *object, const void *address, size_t size, size_t alignment)
{
	return (uintptr_t)address % alignment == 0 && size <= elf_readable(object, (uintptr_t)address);
}

bool elf_contains(const struct elf_object *object, uintptr_t address)
{
	return elf_segment(object, address) != NULL;
}

/*
 * Returns the address of an entry. On most machines glibc relocates d_ptr in memory; musl, riscv and the vDSO do not.
 */
static const void *dynamic_pointer(const struct elf_object *object, const ElfW(Dyn) * entry, size_t alignment)
{
	uintptr_t address = entry->d_un.d_ptr;

	if (address < object->base) {
		address += object->base;
	}
	return elf_can_read(object, (const void *)address, 1, alignment) ? (const void *)address : NULL;
}

bool elf_hash_open(const struct elf_object *object, struct elf_hash *ret_hash)
{
	const uint32_t *words = object->gnu_hash;
	size_t room = elf_readable(object, (uintptr_t)words);
	size_t head;

	if (room < 4 * sizeof(uint32_t)) {
		return false;
	}
	head = 4 * sizeof(uint32_t) + words[2] * sizeof(ElfW(Addr)) + words[0] * sizeof(uint32_t);
	if (words[0] == 0 || words[2] == 0 || (words[2] & (words[2] - 1)) != 0 || head > room) {
		return false;
	}
	ret_hash->bucket_count = words[0];
	ret_hash->first = words[1];
	ret_hash->bloom_count = words[2];
	ret_hash->bloom_shift = words[3] % (8 * sizeof(ElfW(Addr)));
	ret_hash->bloom = (const ElfW(Addr) *)(words + 4);
	ret_hash->buckets = (const uint32_t *)(ret_hash->bloom + words[2]);
	ret_hash->chains = ret_hash->buckets + words[0];
	ret_hash->chain_count = (room - head) / sizeof(uint32_t);
	return true;
}

/* The number of DT_HASH or, as GNU hash tables have none, an upper bound. */
static size_t count_symbols(const struct elf_object *object)
{
	size_t room = elf_readable(object, (uintptr_t)object->symbols) / sizeof(ElfW(Sym));
	size_t count = object->sysv_hash ? object->sysv_hash[1] : 0;

	return count > 0 && count < room ? count : room;
}

static void view_segments(struct elf_object *object)
{
	for (size_t i = 0; i < object->phdr_count; i++) {
		const ElfW(Phdr) *phdr = &object->phdr[i];

		if (phdr->p_type == PT_DYNAMIC) {
			object->dynamic = (const ElfW(Dyn) *)(object->base + phdr->p_vaddr);
		} else if (phdr->p_type == PT_GNU_RELRO) {
			object->relro_start = object->base + phdr->p_vaddr;
			object->relro_end = object->relro_start + phdr->p_memsz;
		}
	}
}

int elf_view(const struct dl_phdr_info *info, struct elf_object *ret_object)
{
	struct elf_object object = {.base = info->dlpi_addr,
	                            .path = info->dlpi_name ? info->dlpi_name : "",
	                            .phdr = info->dlpi_phdr,
	                            .phdr_count = info->dlpi_phnum};
	size_t soname = 0;
	size_t entries;
	bool odd = false;

	view_segments(&object);
	if (!object.dynamic || !elf_can_read(&object, object.dynamic, sizeof(ElfW(Dyn)), _Alignof(ElfW(Dyn)))) {
		return -ENOEXEC;
	}
	entries = elf_readable(&object, (uintptr_t)object.dynamic) / sizeof(ElfW(Dyn));
	for (size_t i = 0; i < entries && object.dynamic[i].d_tag != DT_NULL; i++) {
		const ElfW(Dyn) *entry = &object.dynamic[i];

		switch (entry->d_tag) {
		case DT_STRTAB:
			object.strings = dynamic_pointer(&object, entry, 1);
			break;
		case DT_STRSZ:
			object.strings_size = entry->d_un.d_val;
			break;
		case DT_SYMTAB:
			object.symbols = dynamic_pointer(&object, entry, _Alignof(ElfW(Sym)));
			break;
		case DT_SYMENT:
			if (entry->d_un.d_val != sizeof(ElfW(Sym))) {
				return -ENOEXEC;
			}
			break;
		case DT_GNU_HASH:
			object.gnu_hash = dynamic_pointer(&object, entry, _Alignof(ElfW(Addr)));
			break;
		case DT_HASH:
			object.sysv_hash = dynamic_pointer(&object, entry, sizeof(uint32_t));
			break;
		case DT_VERSYM:
			object.versym = dynamic_pointer(&object, entry, sizeof(ElfW(Half)));
			break;
		case DT_VERDEF:
			object.verdef = dynamic_pointer(&object, entry, sizeof(uint32_t));
			break;
		case DT_VERDEFNUM:
			object.verdef_count = entry->d_un.d_val;
			break;
		case DT_VERNEED:
			object.verneed = dynamic_pointer(&object, entry, sizeof(uint32_t));
			break;
		case DT_VERNEEDNUM:
			object.verneed_count = entry->d_un.d_val;
			break;
		case DT_SONAME:
			soname = entry->d_un.d_val;
			break;
		case DT_RELA:
			object.data.table = dynamic_pointer(&object, entry, _Alignof(ElfW(Rela)));
			break;
		case DT_RELASZ:
			object.data.size = entry->d_un.d_val;
			break;
		case DT_RELACOUNT:
			object.relative_count = entry->d_un.d_val;
			break;
		case DT_JMPREL:
			object.calls.table = dynamic_pointer(&object, entry, _Alignof(ElfW(Rela)));
			break;
		case DT_PLTRELSZ:
			object.calls.size = entry->d_un.d_val;
			break;
		case DT_RELAENT:
			odd = odd || entry->d_un.d_val != sizeof(ElfW(Rela));
			break;
		case DT_PLTREL:
			odd = odd || entry->d_un.d_val != DT_RELA;
			break;
		case DT_REL:
			odd = true;
			break;
		default:
			break;
		}
	}
	if (!object.strings || !object.symbols || object.strings_size == 0 ||
	    !elf_can_read(&object, object.strings, object.strings_size, 1) ||
	    object.strings[object.strings_size - 1] != '\0') {
		return -ENOEXEC;
	}
	if (object.sysv_hash && !elf_can_read(&object, object.sysv_hash, 2 * sizeof(uint32_t), sizeof(uint32_t))) {
		object.sysv_hash = NULL;
	}
	object.symbol_count = count_symbols(&object);
	object.has_odd_relocations = odd;
	object.soname = soname && soname < object.strings_size ? object.strings + soname : NULL;
	*ret_object = object;
	return 0;
}
