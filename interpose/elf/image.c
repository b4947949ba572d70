/* SPDX-License-Identifier: MIT */
/*
 * Every table of an object is checked against its loaded segments before it is read, because objects may be truncated,
 * packed or modified (patchelf), and a fault here would kill the host.
 */
#include "interpose/elf/image.h"

#include "interpose/elf/plain.h"

#include <errno.h>

#define VERSION_HIDDEN 0x8000
#define VERSION_INDEX  0x7fff
#define VERSION_LOCAL  0
#define VERSION_GLOBAL 1

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

const char *elf_string(const struct elf_object *object, size_t offset)
{
	return offset < object->strings_size ? object->strings + offset : NULL;
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
	object.soname = VALUE(DT_SONAME) ? elf_string(&object, VALUE(DT_SONAME)) : NULL;
	*ret_object = object;
	return 0;
}

/* ---- versions ---- */

/* Each record of a version tells how far the next one is. */
static const void *next_record(const void *record, size_t distance)
{
	return distance > 0 && distance % sizeof(uint32_t) == 0 ? (const char *)record + distance : NULL;
}

static bool is_record(const struct elf_object *object, const void *at, size_t size)
{
	return at && elf_can_read(object, at, size, sizeof(uint32_t));
}

static const char *find_defined_version(const struct elf_object *object, unsigned index)
{
	const ElfW(Verdef) *def = object->verdef;
	size_t room = def ? elf_readable(object, (uintptr_t)def) : 0;

	for (size_t i = 0; def && i < object->verdef_count && room >= sizeof(*def); i++) {
		if ((def->vd_ndx & VERSION_INDEX) == index) {
			const ElfW(Verdaux) *aux = next_record(def, def->vd_aux);

			return is_record(object, aux, sizeof(*aux)) ? elf_string(object, aux->vda_name) : NULL;
		}
		room -= def->vd_next < room ? def->vd_next : room;
		def = next_record(def, def->vd_next);
	}
	return NULL;
}

static const char *find_needed_version(const struct elf_object *object, unsigned index)
{
	const ElfW(Verneed) *need = object->verneed;

	for (size_t i = 0; i < object->verneed_count && is_record(object, need, sizeof(*need)); i++) {
		const ElfW(Vernaux) *aux = next_record(need, need->vn_aux);

		for (unsigned j = 0; j < need->vn_cnt && is_record(object, aux, sizeof(*aux)); j++) {
			if ((aux->vna_other & VERSION_INDEX) == index) {
				return elf_string(object, aux->vna_name);
			}
			aux = next_record(aux, aux->vna_next);
		}
		need = next_record(need, need->vn_next);
	}
	return NULL;
}

/* Returns its number among the versions of the object, with VERSION_HIDDEN. */
static unsigned version_of(const struct elf_object *object, size_t index)
{
	if (!object->versym || !elf_can_read(object, &object->versym[index], sizeof(ElfW(Half)), sizeof(ElfW(Half)))) {
		return VERSION_GLOBAL;
	}
	return object->versym[index];
}

const char *elf_version(const struct elf_object *object, size_t symbol)
{
	unsigned index = version_of(object, symbol) & VERSION_INDEX;

	if (index <= VERSION_GLOBAL) {
		return NULL;
	}
	return object->symbols[symbol].st_shndx == SHN_UNDEF ? find_needed_version(object, index)
	                                                     : find_defined_version(object, index);
}

/* ---- definitions by name ---- */

/* Returns the name of a symbol to which other objects can bind, or NULL. IFUNCs have names too; elf_finds() leaves out
 * their addresses. */
static const char *exported_name(const struct elf_object *object, size_t index)
{
	const ElfW(Sym) *symbol = &object->symbols[index];
	unsigned type = ELF64_ST_TYPE(symbol->st_info);
	unsigned bind = ELF64_ST_BIND(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || bind == STB_LOCAL ||
	    (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE && type != STT_GNU_IFUNC) ||
	    (version_of(object, index) & VERSION_INDEX) == VERSION_LOCAL) {
		return NULL;
	}
	return elf_string(object, symbol->st_name);
}

/* The result of a walk over the definitions of one name. */
struct search {
	const char *name;
	const char *version;
	size_t found; /* index of the symbol; 0: none, because symbol 0 is never a real one */
	bool sure;    /* no later definition can be better */
};

/*
 * As the loader chooses: the wanted version, else a symbol without a version. Without a wanted version the default one
 * (not hidden) is best, and any other better than none.
 */
static void consider_symbol(const struct elf_object *object, size_t index, struct search *search)
{
	unsigned version;
	const char *text;

	if (index == 0 || index >= object->symbol_count) {
		return;
	}
	text = exported_name(object, index);
	if (!text || !plain_equal(text, search->name)) {
		return;
	}
	version = version_of(object, index);
	if (search->version && (version & VERSION_INDEX) != VERSION_GLOBAL) {
		text = elf_version(object, index);
		if (!text || !plain_equal(text, search->version)) {
			return;
		}
		search->found = index;
		search->sure = true;
	} else if (search->found == 0 || !(version & VERSION_HIDDEN)) {
		search->found = index;
		search->sure = !search->version && !(version & VERSION_HIDDEN);
	}
}

/* The Bloom filter tells most names apart that an object lacks. The lowest bit of a hash in a chain marks its end. */
static void search_gnu(const struct elf_object *object, struct search *search)
{
	struct elf_hash hash;
	uint32_t value = 5381;
	uint32_t bits = 8 * sizeof(ElfW(Addr));
	ElfW(Addr) word;
	size_t index;

	if (!elf_hash_open(object, &hash)) {
		return;
	}
	for (const char *at = search->name; *at; at++) {
		value = value * 33 + (uint8_t)*at;
	}
	word = hash.bloom[(value / bits) & (hash.bloom_count - 1)];
	if (!((word >> (value % bits)) & (word >> (((ElfW(Addr))value >> hash.bloom_shift) % bits)) & 1)) {
		return;
	}
	index = hash.buckets[value % hash.bucket_count];
	for (; index >= hash.first && index - hash.first < hash.chain_count && !search->sure; index++) {
		uint32_t chain = hash.chains[index - hash.first];

		if ((chain | 1) == (value | 1)) {
			consider_symbol(object, index, search);
		}
		if (chain & 1) {
			break;
		}
	}
}

static void search_sysv(const struct elf_object *object, struct search *search)
{
	const uint32_t *words = object->sysv_hash;
	uint32_t buckets = words[0];
	uint32_t chains = words[1];
	uint32_t value = 0;
	uint32_t index;

	if (buckets == 0 ||
	    !elf_can_read(object, words, (2 + (size_t)buckets + chains) * sizeof(uint32_t), sizeof(uint32_t))) {
		return;
	}
	for (const char *at = search->name; *at; at++) {
		value = (value << 4) + (uint8_t)*at;
		value = (value ^ ((value >> 24) & 0xf0)) & 0x0fffffff;
	}
	index = words[2 + value % buckets];
	/* The number of steps is limited, in case the chain is a circle. */
	for (uint32_t steps = 0; index != 0 && index < chains && steps < chains && !search->sure; steps++) {
		consider_symbol(object, index, search);
		index = words[2 + buckets + index];
	}
}

static size_t find_symbol(const struct elf_object *object, const char *name, const char *version)
{
	struct search search = {.name = name, .version = version};

	if (object->gnu_hash) {
		search_gnu(object, &search);
	} else if (object->sysv_hash) {
		search_sysv(object, &search);
	}
	return search.found;
}

bool elf_finds(const struct elf_object *object, const char *name, const char *version, uintptr_t *ret_address)
{
	size_t index = find_symbol(object, name, version);
	bool indirect = ELF64_ST_TYPE(object->symbols[index].st_info) == STT_GNU_IFUNC;

	*ret_address = index && !indirect ? object->base + object->symbols[index].st_value : 0;
	return index != 0;
}

uintptr_t elf_symbol(const struct elf_object *object, const char *name, const char *version)
{
	uintptr_t address;

	return elf_finds(object, name, version, &address) ? address : 0;
}

const char *elf_symbol_version(const struct elf_object *object, const char *name)
{
	size_t index = find_symbol(object, name, NULL);

	return index ? elf_version(object, index) : NULL;
}
