/* SPDX-License-Identifier: MIT */
#include "interpose/elf/elf.h"

#include "interpose/elf/loaded.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define RELOC_SLOT     R_X86_64_JUMP_SLOT
#define RELOC_DATA     R_X86_64_GLOB_DAT
#define RELOC_ABSOLUTE R_X86_64_64
#elif defined(__aarch64__)
#define RELOC_SLOT     R_AARCH64_JUMP_SLOT
#define RELOC_DATA     R_AARCH64_GLOB_DAT
#define RELOC_ABSOLUTE R_AARCH64_ABS64
#else
#error "no relocation types known for this machine"
#endif

#define MOVED_MAX ((size_t)64 * 1024)

/* ---- objects ---- */

struct walk {
	int (*each)(const struct elf_object *object, void *context);
	void *context;
};

static int walk_one(struct dl_phdr_info *info, size_t size, void *context)
{
	struct walk *walk = context;
	struct elf_object object;

	(void)size;
	return loaded_view(info, &object) == 0 ? walk->each(&object, walk->context) : 0;
}

int elf_each_object(int (*each)(const struct elf_object *object, void *context), void *context)
{
	struct walk walk = {each, context};

	return loaded_each(walk_one, &walk);
}

struct holder {
	uintptr_t address;
	struct elf_object *ret_object;
};

static int copy_holder(const struct elf_object *object, void *context)
{
	const struct holder *holder = context;
	bool holds = elf_contains(object, holder->address);

	if (holds) {
		*holder->ret_object = *object;
	}
	return holds;
}

bool elf_object_at(uintptr_t address, struct elf_object *ret_object)
{
	struct holder holder = {address, ret_object};

	return elf_each_object(copy_holder, &holder) == 1;
}

/* ---- copies of this library ---- */

#define TEXT_OF(name)     #name
#define NAME_OF(constant) TEXT_OF(constant)

bool elf_is_copy(const struct elf_object *object)
{
	return elf_symbol(object, NAME_OF(ELF_COPY_MARKER), NULL) != 0;
}

/* Stored as one atomic value, so concurrent first calls compute it twice with the same result. */
enum active { ACTIVE_UNKNOWN, ACTIVE_THIS, ACTIVE_ANOTHER };

static _Atomic int active; /* enum active */

/*
 * Stops at the first copy in load order. A program that is linked statically with this library, as tests are, exports
 * no marker.
 */
static int decide_copy(const struct elf_object *object, void *context)
{
	(void)context;
	if (elf_contains(object, (uintptr_t)&active)) {
		return ACTIVE_THIS;
	}
	return elf_is_copy(object) ? ACTIVE_ANOTHER : ACTIVE_UNKNOWN;
}

bool elf_another_copy_is_active(void)
{
	int now = atomic_load_explicit(&active, memory_order_relaxed);

	if (now == ACTIVE_UNKNOWN) {
		now = elf_each_object(decide_copy, NULL);
		atomic_store_explicit(&active, now, memory_order_relaxed);
	}
	return now == ACTIVE_ANOTHER;
}

/* ---- what an object needs from others ---- */

/* The first DT_RELACOUNT relocations are skipped: libnvrtc has 200,000 relative ones, which have no symbol. */
static int each_relocation(const struct elf_object *object, const struct elf_relocations *relocations, size_t from,
                           int (*each)(const struct elf_import *import, void *context), void *context)
{
	const ElfW(Rela) *rela = relocations->table;
	size_t count = relocations->size / sizeof(*rela);

	if (relocations->size == 0) {
		return 0;
	}
	if (!rela || !elf_can_read(object, rela, relocations->size, _Alignof(ElfW(Rela))) || from > count) {
		return -ENOEXEC;
	}
	for (size_t i = from; i < count; i++) {
		size_t index = ELF64_R_SYM(rela[i].r_info);
		unsigned type = ELF64_R_TYPE(rela[i].r_info);
		uintptr_t slot = object->base + rela[i].r_offset;
		struct elf_import import = {0};
		const ElfW(Phdr) * segment;
		const ElfW(Sym) * symbol;
		int result;

		if (index == 0 || (type != RELOC_SLOT && type != RELOC_DATA && type != RELOC_ABSOLUTE)) {
			continue;
		}
		if (index >= object->symbol_count) {
			return -ENOEXEC;
		}
		symbol = &object->symbols[index];
		if (symbol->st_name >= object->strings_size ||
		    !elf_can_read(object, (const void *)slot, sizeof(void *), 1)) {
			return -ENOEXEC;
		}
		if (symbol->st_shndx != SHN_UNDEF) {
			continue;
		}
		import.name = object->strings + symbol->st_name;
		import.version = elf_version(object, index);
		/*
		 * If there is an addend, the slot does not contain the address of the function itself. With DT_TEXTREL
		 * it may be among instructions.
		 */
		segment = elf_segment(object, slot);
		if ((type == RELOC_SLOT || rela[i].r_addend == 0) && slot % sizeof(void *) == 0 &&
		    (segment->p_flags & PF_W)) {
			import.place = (void **)slot;
			import.slot = type == RELOC_ABSOLUTE ? NULL : import.place;
		}
		import.entry = symbol->st_value ? object->base + symbol->st_value : 0;
		import.weak = ELF64_ST_BIND(symbol->st_info) == STB_WEAK;
		result = each(&import, context);
		if (result != 0) {
			return result;
		}
	}
	return 0;
}

int elf_each_import(const struct elf_object *object, int (*each)(const struct elf_import *import, void *context),
                    void *context)
{
	int result = object->has_odd_relocations
	                 ? -ENOEXEC
	                 : each_relocation(object, &object->data, object->relative_count, each, context);

	return result != 0 ? result : each_relocation(object, &object->calls, 0, each, context);
}

/* The loader protects only whole pages of RELRO, so both ends are rounded down. */
int elf_store(const struct elf_object *object, void **slot, void *value)
{
	uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t page = (uintptr_t)slot & ~(size - 1);

	if (mprotect((void *)page, size, PROT_READ | PROT_WRITE) != 0) {
		return -EPERM;
	}
	__atomic_store_n(slot, value, __ATOMIC_RELEASE);
	if (page >= (object->relro_start & ~(size - 1)) && page < (object->relro_end & ~(size - 1))) {
		(void)mprotect((void *)page, size, PROT_READ);
	}
	return 0;
}

int elf_each_needed(const struct elf_object *object, int (*each)(const char *name, void *context), void *context)
{
	for (const ElfW(Dyn) *entry = object->dynamic;
	     elf_can_read(object, entry, sizeof(*entry), _Alignof(ElfW(Dyn))) && entry->d_tag != DT_NULL; entry++) {
		const char *name = elf_string(object, entry->d_un.d_val);
		int result = entry->d_tag != DT_NEEDED ? 0 : name ? each(name, context) : -ENOEXEC;

		if (result != 0) {
			return result;
		}
	}
	return 0;
}

/*
 * Returns the number of the first symbol behind those that may be undefined; 0: the table is empty. Those are before
 * the first one in the GNU hash table, because the table lists only definitions, and functions of which a program that
 * is not position-independent takes the address: only of the program all are wanted. An empty table cannot be used:
 * its first number is 1.
 */
static size_t end_undefined(const struct elf_object *object, const struct elf_hash *hash)
{
	const bool is_program = !object->path[0];
	size_t last = 0;

	for (uint32_t i = 0; i < hash->bucket_count && (is_program || last == 0); i++) {
		last = hash->buckets[i] > last ? hash->buckets[i] : last;
	}
	if (last == 0 || !is_program) {
		return last == 0 ? 0 : hash->first;
	}
	while (last >= hash->first && last - hash->first < hash->chain_count &&
	       !(hash->chains[last - hash->first] & 1)) {
		last++;
	}
	return last + 1;
}

int elf_each_undefined(const struct elf_object *object, int (*each)(const struct elf_import *import, void *context),
                       void *context)
{
	struct elf_hash hash;
	size_t end = object->symbol_count;
	int result = 0;

	if (object->gnu_hash) {
		size_t wanted = elf_hash_open(object, &hash) ? end_undefined(object, &hash) : 0;

		if (wanted == 0) {
			return -ENODATA;
		}
		end = wanted < end ? wanted : end;
	}
	for (size_t i = 1; i < end && result == 0; i++) {
		const ElfW(Sym) *symbol = &object->symbols[i];
		const struct elf_import import = {.name = elf_string(object, symbol->st_name)};

		result = symbol->st_shndx == SHN_UNDEF && import.name ? each(&import, context) : 0;
	}
	return result;
}

/* ---- build-ids ---- */

/*
 * Notes are read with an alignment of 4, which is right also for the only note that really has 8 (.note.gnu.property).
 */
static int find_build_id(const uint8_t *notes, size_t size, const uint8_t **ret_id, size_t *ret_size)
{
	size_t at = 0;

	while (at <= size && size - at >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) note;
		size_t name_size;
		size_t text_size;

		memcpy(&note, notes + at, sizeof(note));
		at += sizeof(note);
		name_size = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		text_size = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		if (name_size > size - at || note.n_descsz > size - at - name_size) {
			break;
		}
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") && note.n_descsz > 0 &&
		    memcmp(notes + at, "GNU", sizeof("GNU")) == 0) {
			*ret_id = notes + at + name_size;
			*ret_size = note.n_descsz;
			return 0;
		}
		at += name_size + text_size;
	}
	return -ENOENT;
}

/*
 * patchelf has moved the note into its own small segment at the end, but PT_NOTE still points to the old place (the
 * wheels of CUDA 11.8, 12.0 and 12.4). Only section headers, which are not loaded, lead to the note, so the last
 * segment is searched.
 */
static int find_moved_build_id(const struct elf_object *object, const uint8_t **ret_id, size_t *ret_size)
{
	const ElfW(Phdr) *last = NULL;
	const uint8_t *bytes;

	for (size_t i = 0; i < object->phdr_count; i++) {
		if (object->phdr[i].p_type == PT_LOAD) {
			last = &object->phdr[i];
		}
	}
	if (!last || last->p_memsz > MOVED_MAX) {
		return -ENOENT;
	}
	bytes = (const uint8_t *)(object->base + last->p_vaddr);
	for (size_t at = 0; last->p_memsz - at >= sizeof(ElfW(Nhdr)) + sizeof("GNU"); at += 4) {
		static const ElfW(Nhdr) wanted = {.n_namesz = sizeof("GNU"), .n_descsz = 20, .n_type = NT_GNU_BUILD_ID};

		if (memcmp(bytes + at, &wanted, sizeof(wanted)) == 0 &&
		    find_build_id(bytes + at, last->p_memsz - at, ret_id, ret_size) == 0) {
			return 0;
		}
	}
	return -ENOENT;
}

int elf_build_id(const struct elf_object *object, const uint8_t **ret_id, size_t *ret_size)
{
	for (size_t i = 0; i < object->phdr_count; i++) {
		const ElfW(Phdr) *phdr = &object->phdr[i];
		uintptr_t notes = object->base + phdr->p_vaddr;

		if (phdr->p_type == PT_NOTE && elf_can_read(object, (const void *)notes, phdr->p_memsz, 1) &&
		    find_build_id((const uint8_t *)notes, phdr->p_memsz, ret_id, ret_size) == 0) {
			return 0;
		}
	}
	return find_moved_build_id(object, ret_id, ret_size);
}

/* Reads the program headers of a file that is not loaded. All offsets are checked: the file may be cut or forged. */
int elf_build_id_in_file(const void *bytes, size_t size, const uint8_t **ret_id, size_t *ret_size)
{
	const uint8_t *file = bytes;
	ElfW(Ehdr) header;

	if (size < sizeof(header)) {
		return -ENOEXEC;
	}
	memcpy(&header, file, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_phentsize != sizeof(ElfW(Phdr))) {
		return -ENOEXEC;
	}
	for (size_t i = 0; i < header.e_phnum; i++) {
		size_t offset = i * sizeof(ElfW(Phdr));
		ElfW(Phdr) phdr;

		if (header.e_phoff > size || offset > size - header.e_phoff ||
		    size - header.e_phoff - offset < sizeof(phdr)) {
			break;
		}
		memcpy(&phdr, file + header.e_phoff + offset, sizeof(phdr));
		if (phdr.p_type != PT_NOTE || phdr.p_offset > size || phdr.p_filesz > size - phdr.p_offset) {
			continue;
		}
		if (find_build_id(file + phdr.p_offset, phdr.p_filesz, ret_id, ret_size) == 0) {
			return 0;
		}
	}
	return -ENOENT;
}
