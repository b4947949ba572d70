/* SPDX-License-Identifier: MIT */
#include "interpose/elf/image.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

size_t elf_readable(const struct elf_object *object, uintptr_t address)
{
	for (size_t i = 0; i < object->phdr_count; i++) {
		const ElfW(Phdr) *phdr = &object->phdr[i];
		uintptr_t offset = address - (object->base + phdr->p_vaddr);

		if (phdr->p_type == PT_LOAD && offset < phdr->p_memsz) {
			return phdr->p_memsz - offset;
		}
	}
	return 0;
}

bool elf_can_read(const struct elf_object *object, const void *address, size_t size, size_t alignment)
{
	return (uintptr_t)address % alignment == 0 && size <= elf_readable(object, (uintptr_t)address);
}

bool elf_contains(const struct elf_object *object, uintptr_t address)
{
	return elf_readable(object, address) != 0;
}

/* glibc relocates d_ptr in memory on most machines; musl, riscv and the vDSO do not. */
static const void *dynamic_pointer(const struct elf_object *object, const ElfW(Dyn) * entry, size_t alignment)
{
	uintptr_t address = entry->d_un.d_ptr;

	if (address < object->base) {
		address += object->base;
	}
	return elf_can_read(object, (const void *)address, 1, alignment) ? (const void *)address : NULL;
}

/* Uncounted, symbol_count is merely what can be read, which spares look-ups the walk over all buckets. */
enum symbols { SYMBOLS_UNCOUNTED, SYMBOLS_COUNTED };

static void count_symbols(struct elf_object *object, enum symbols symbols)
{
	size_t room = elf_readable(object, (uintptr_t)object->symbols) / sizeof(ElfW(Sym));
	size_t count = 0;

	if (object->sysv_hash) {
		count = object->sysv_hash[1];
	} else if (symbols == SYMBOLS_COUNTED) {
		count = elf_hashed_symbols(object);
	}
	/* ld writes an empty GNU hash for an object that exports nothing, whatever it imports. */
	object->symbol_count = count > 0 && count < room ? count : room;
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

static int view(const struct dl_phdr_info *info, enum symbols symbols, struct elf_object *ret_object)
{
	struct elf_object object = {.base = info->dlpi_addr,
	                            .path = info->dlpi_name ? info->dlpi_name : "",
	                            .phdr = info->dlpi_phdr,
	                            .phdr_count = info->dlpi_phnum};
	size_t soname = 0;
	size_t entries;

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
	count_symbols(&object, symbols);
	object.soname = soname && soname < object.strings_size ? object.strings + soname : NULL;
	*ret_object = object;
	return 0;
}

int elf_view_quickly(const struct dl_phdr_info *info, struct elf_object *ret_object)
{
	return view(info, SYMBOLS_UNCOUNTED, ret_object);
}

int elf_view(const struct dl_phdr_info *info, struct elf_object *ret_object)
{
	return view(info, SYMBOLS_COUNTED, ret_object);
}

/* The walks over loaded objects. */

struct walk {
	int (*each)(const struct elf_object *object, void *context);
	void *context;
	uintptr_t vdso;
};

static int walk_one(struct dl_phdr_info *info, size_t size, void *context)
{
	struct walk *walk = context;
	struct elf_object object;

	(void)size;
	if (view(info, SYMBOLS_UNCOUNTED, &object) < 0 || (walk->vdso && elf_contains(&object, walk->vdso))) {
		return 0;
	}
	return walk->each(&object, walk->context);
}

int elf_each_object(int (*each)(const struct elf_object *object, void *context), void *context)
{
	int saved_errno = errno; /* getauxval reports a missing entry through it */
	struct walk walk = {.each = each, .context = context, .vdso = getauxval(AT_SYSINFO_EHDR)};

	errno = saved_errno;
	return dl_iterate_phdr(walk_one, &walk);
}

static int read_generation(struct dl_phdr_info *info, size_t size, void *context)
{
	struct elf_generation *generation = context;

	(void)size;
	generation->loads = info->dlpi_adds;
	generation->unloads = info->dlpi_subs;
	return 1;
}

struct elf_generation elf_generation(void)
{
	struct elf_generation generation = {0, 0};

	dl_iterate_phdr(read_generation, &generation);
	return generation;
}

struct holder {
	uintptr_t address;
	struct elf_object *ret_object;
};

static int is_holder(const struct elf_object *object, void *context)
{
	struct holder *holder = context;

	if (!elf_contains(object, holder->address)) {
		return 0;
	}
	*holder->ret_object = *object;
	return 1;
}

bool elf_object_at(uintptr_t address, struct elf_object *ret_object)
{
	struct holder holder = {address, ret_object};

	return elf_each_object(is_holder, &holder) != 0;
}

struct scope {
	const char *name;
	const char *version;
	uintptr_t after; /* 0 once objects count */
	uintptr_t skip;
	uintptr_t found;
};

static int scope_one(const struct elf_object *object, void *context)
{
	struct scope *scope = context;

	if (scope->after) {
		if (elf_contains(object, scope->after)) {
			scope->after = 0;
		}
		return 0;
	}
	if (elf_contains(object, scope->skip)) {
		return 0;
	}
	return elf_finds(object, scope->name, scope->version, &scope->found);
}

uintptr_t elf_next_symbol(uintptr_t after, const char *name, const char *version)
{
	struct scope scope = {.name = name, .version = version, .after = after, .skip = (uintptr_t)elf_next_symbol};

	elf_each_object(scope_one, &scope);
	return scope.found;
}

uintptr_t elf_global_symbol(const char *name, const char *version)
{
	return elf_next_symbol(0, name, version);
}
