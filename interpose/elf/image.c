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

/* The values of a dynamic section: of the first 32 tags, then of GNU's, which end in different digits. */
#define VALUES     48
#define VALUE(tag) values[(tag) < 32 ? (tag) : 32 + (tag) % 16]

static void read_dynamic(const struct elf_object *object, ElfW(Addr) values[VALUES])
{
	size_t entries = elf_readable(object, (uintptr_t)object->dynamic) / sizeof(ElfW(Dyn));

	for (size_t i = 0; i < entries && object->dynamic[i].d_tag != DT_NULL; i++) {
		ElfW(Sxword) tag = object->dynamic[i].d_tag;

		if ((tag > 0 && tag < 32) || tag == DT_GNU_HASH || (tag >= DT_VERSYM && tag <= DT_VERNEEDNUM)) {
			VALUE(tag) = object->dynamic[i].d_un.d_val;
		}
	}
}

/*
 * On most machines glibc relocates addresses in memory; musl, riscv and the vDSO do not. Whether a table can be read is
 * asked where it is read.
 */
static const void *table_at(const struct elf_object *object, ElfW(Addr) address, size_t alignment)
{
	if (address && address < object->base) {
		address += object->base;
	}
	return address % alignment == 0 ? (const void *)address : NULL;
}

/*
 * Everything that later code trusts is checked here: the strings end with a NUL, and the number of symbols is known, so
 * that an index below it can be read. A table that an object lacks is NULL.
 */
int elf_view(const struct dl_phdr_info *info, struct elf_object *ret_object)
{
	struct elf_object object = {.base = info->dlpi_addr,
	                            .path = info->dlpi_name ? info->dlpi_name : "",
	                            .phdr = info->dlpi_phdr,
	                            .phdr_count = info->dlpi_phnum};
	ElfW(Addr) values[VALUES] = {
	    [DT_SYMENT] = sizeof(ElfW(Sym)), [DT_RELAENT] = sizeof(ElfW(Rela)), [DT_PLTREL] = DT_RELA};

	view_segments(&object);
	if (!object.dynamic || !elf_can_read(&object, object.dynamic, sizeof(ElfW(Dyn)), _Alignof(ElfW(Dyn)))) {
		return -ENOEXEC;
	}
	read_dynamic(&object, values);
	object.strings = table_at(&object, VALUE(DT_STRTAB), 1);
	object.strings_size = VALUE(DT_STRSZ);
	object.symbols = table_at(&object, VALUE(DT_SYMTAB), _Alignof(ElfW(Sym)));
	object.gnu_hash = table_at(&object, VALUE(DT_GNU_HASH), _Alignof(ElfW(Addr)));
	object.sysv_hash = table_at(&object, VALUE(DT_HASH), sizeof(uint32_t));
	object.versym = table_at(&object, VALUE(DT_VERSYM), sizeof(ElfW(Half)));
	object.verdef = table_at(&object, VALUE(DT_VERDEF), sizeof(uint32_t));
	object.verdef_count = VALUE(DT_VERDEFNUM);
	object.verneed = table_at(&object, VALUE(DT_VERNEED), sizeof(uint32_t));
	object.verneed_count = VALUE(DT_VERNEEDNUM);
	object.data.table = table_at(&object, VALUE(DT_RELA), _Alignof(ElfW(Rela)));
	object.data.size = VALUE(DT_RELASZ);
	object.relative_count = VALUE(DT_RELACOUNT);
	object.calls.table = table_at(&object, VALUE(DT_JMPREL), _Alignof(ElfW(Rela)));
	object.calls.size = VALUE(DT_PLTRELSZ);
	object.has_odd_relocations =
	    VALUE(DT_RELAENT) != sizeof(ElfW(Rela)) || VALUE(DT_PLTREL) != DT_RELA || VALUE(DT_REL);
	if (VALUE(DT_SYMENT) != sizeof(ElfW(Sym)) || object.strings_size == 0 ||
	    !elf_can_read(&object, object.strings, object.strings_size, 1) ||
	    object.strings[object.strings_size - 1] != '\0') {
		return -ENOEXEC;
	}
	if (object.sysv_hash && !elf_can_read(&object, object.sysv_hash, 2 * sizeof(uint32_t), sizeof(uint32_t))) {
		object.sysv_hash = NULL;
	}
	object.symbol_count = count_symbols(&object);
	if (object.symbol_count == 0) {
		return -ENOEXEC;
	}
	if (VALUE(DT_SONAME) && VALUE(DT_SONAME) < object.strings_size) {
		object.soname = object.strings + VALUE(DT_SONAME);
	}
	*ret_object = object;
	return 0;
}
