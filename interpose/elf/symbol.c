/* SPDX-License-Identifier: MIT */
/* Finds a definition by name and version; the second part of elf.h's functions. */
#include "interpose/elf/elf.h"
#include "interpose/elf/plain.h"

#include <errno.h>

#define VERSION_HIDDEN 0x8000
#define VERSION_INDEX  0x7fff
#define VERSION_LOCAL  0
#define VERSION_GLOBAL 1

static const char *string_at(const struct elf_object *object, size_t offset)
{
	return offset < object->strings_size ? object->strings + offset : NULL;
}

/* Returns the name of a version that this object defines, by index; NULL if there is none. */
static const char *defined_version(const struct elf_object *object, unsigned index)
{
	const char *at = (const char *)object->verdef;
	size_t room = at ? elf_readable(object, (uintptr_t)at) : 0;

	for (size_t i = 0; i < object->verdef_count && room >= sizeof(ElfW(Verdef)); i++) {
		const ElfW(Verdef) *def = (const ElfW(Verdef) *)at;
		const ElfW(Verdaux) *aux = (const ElfW(Verdaux) *)(at + def->vd_aux);

		if ((def->vd_ndx & VERSION_INDEX) == index) {
			return elf_can_read(object, aux, sizeof(*aux), sizeof(uint32_t))
			           ? string_at(object, aux->vda_name)
			           : NULL;
		}
		if (def->vd_next == 0 || def->vd_next > room || def->vd_next % sizeof(uint32_t) != 0) {
			break;
		}
		at += def->vd_next;
		room -= def->vd_next;
	}
	return NULL;
}

static unsigned version_of(const struct elf_object *object, size_t index)
{
	if (!object->versym || !elf_can_read(object, &object->versym[index], sizeof(ElfW(Half)), sizeof(ElfW(Half)))) {
		return VERSION_GLOBAL;
	}
	return object->versym[index];
}

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
	return string_at(object, symbol->st_name);
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
		text = defined_version(object, version & VERSION_INDEX);
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
		const struct elf_import import = {.name = string_at(object, symbol->st_name)};

		result = symbol->st_shndx == SHN_UNDEF && import.name ? each(&import, context) : 0;
	}
	return result;
}

uintptr_t elf_symbol(const struct elf_object *object, const char *name, const char *version)
{
	uintptr_t address;

	return elf_finds(object, name, version, &address) ? address : 0;
}

#define TEXT_OF(name)     #name
#define NAME_OF(constant) TEXT_OF(constant)

bool elf_is_copy(const struct elf_object *object)
{
	return elf_symbol(object, NAME_OF(ELF_COPY_MARKER), NULL) != 0;
}

const char *elf_symbol_version(const struct elf_object *object, const char *name)
{
	size_t index = find_symbol(object, name, NULL);
	unsigned version = index ? version_of(object, index) & VERSION_INDEX : VERSION_GLOBAL;

	return version == VERSION_GLOBAL ? NULL : defined_version(object, version);
}
