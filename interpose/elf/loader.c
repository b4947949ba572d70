/* SPDX-License-Identifier: MIT */
/*
 * The search repeats the loader's order without opening the library. If it finds a directory for processor variants,
 * the answer is UNKNOWN, because the choice of the variant depends on the loader's own tests of the processor.
 */
#include "interpose/elf/loader.h"

#include "interpose/elf/loaded.h"

#include <elf.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOADER_CACHE       "/etc/ld.so.cache"
#define LOADER_CACHE_MAGIC "glibc-ld.so.cache1.1"
#define LOADER_CACHE_MAX   (16 << 20)

#if defined(__x86_64__)
#define LOADER_CACHE_FLAGS 0x0303 /* FLAG_X8664_LIB64 | FLAG_ELF_LIBC6 */
#define LOADER_VARIANTS    "x86_64", "haswell", "avx512_1"
#else
#define LOADER_CACHE_FLAGS 0x0a03 /* FLAG_AARCH64_LIB64 | FLAG_ELF_LIBC6 */
#define LOADER_VARIANTS    "aarch64", "atomics"
#endif

/* Both structs are those of glibc's sysdeps/generic/dl-cache.h. */
struct loader_cache {
	char magic[20];
	uint32_t count;
	uint32_t strings_size;
	uint32_t reserved[5];
};

struct loader_cache_entry {
	int32_t flags;
	uint32_t key, value;
	uint32_t os_version;
	uint64_t hwcap;
};

/*
 * The file is mapped, not read: it has about 100 KB, of which a search reads little. ld.so maps it too. ldconfig
 * replaces it by rename(), so no page of the mapping can vanish.
 */
static const char *map_loader_cache(size_t *ret_size)
{
	int descriptor = open(LOADER_CACHE, O_RDONLY | O_CLOEXEC);
	struct stat stat;
	void *bytes = MAP_FAILED;

	if (descriptor < 0) {
		return NULL;
	}
	if (fstat(descriptor, &stat) == 0 && stat.st_size > (off_t)sizeof(struct loader_cache) &&
	    stat.st_size <= LOADER_CACHE_MAX) {
		*ret_size = (size_t)stat.st_size;
		bytes = mmap(NULL, *ret_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
	}
	(void)close(descriptor);
	return bytes == MAP_FAILED ? NULL : bytes;
}

static bool is_string(const char *bytes, size_t size, uint32_t offset)
{
	return offset < size && memchr(bytes + offset, '\0', size - offset);
}

/* Looks at the NUL first: of hundreds of names few have that length. */
static bool is_name(const char *bytes, size_t size, uint32_t offset, const char *name, size_t name_size)
{
	return offset < size && name_size < size - offset && bytes[offset + name_size] == '\0' &&
	       memcmp(bytes + offset, name, name_size) == 0;
}

/* O_NONBLOCK, because opening a FIFO of that name would otherwise block the host. */
static enum loader_search open_file(struct loader_file *file)
{
	file->descriptor = open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return file->descriptor >= 0 ? LOADER_SEARCH_FOUND : LOADER_SEARCH_NOWHERE;
}

/* Finds the file of a name in ld.so.cache. */
static enum loader_search look_in_loader_cache(const char *name, struct loader_file *ret_file)
{
	size_t size = 0;
	const char *bytes = map_loader_cache(&size);
	const struct loader_cache *cache = (const struct loader_cache *)bytes;
	const struct loader_cache_entry *entry = (const struct loader_cache_entry *)(cache + 1);
	enum loader_search result = LOADER_SEARCH_NOWHERE;
	size_t name_size = strlen(name);

	if (!bytes) {
		return LOADER_SEARCH_NOWHERE;
	}
	if (memcmp(cache->magic, LOADER_CACHE_MAGIC, sizeof(cache->magic)) != 0 ||
	    cache->count > (size - sizeof(*cache)) / sizeof(*entry)) {
		goto out;
	}
	for (uint32_t i = 0; i < cache->count; i++, entry++) {
		if (entry->flags != LOADER_CACHE_FLAGS || !is_name(bytes, size, entry->key, name, name_size)) {
			continue;
		}
		result = LOADER_SEARCH_UNKNOWN;
		if (!entry->hwcap && is_string(bytes, size, entry->value) &&
		    strlen(bytes + entry->value) < sizeof(ret_file->path)) {
			memcpy(ret_file->path, bytes + entry->value, strlen(bytes + entry->value) + 1);
			result = open_file(ret_file);
		}
		break;
	}
out:
	(void)munmap((void *)bytes, size);
	return result;
}

/*
 * Returns how many of `variants` the loader knows. glibc up to 2.36 searches also those after the first, alone and
 * nested.
 */
static size_t count_variants(size_t all)
{
	const char *version = gnu_get_libc_version();

	return strtol(version, NULL, 10) > 2 || (version[1] == '.' && strtol(version + 2, NULL, 10) > 36) ? 1 : all;
}

static enum loader_search look_in_directory(const char *directory, const char *name, struct loader_file *ret_file)
{
	static const char *const variants[] = {"glibc-hwcaps", "tls", LOADER_VARIANTS};
	size_t count = count_variants(sizeof(variants) / sizeof(variants[0]));
	struct stat stat_buffer;
	char *path = ret_file->path;
	size_t length = strlen(directory[0] ? directory : ".");

	if (length + strlen(name) + sizeof("/glibc-hwcaps") > sizeof(ret_file->path)) {
		return LOADER_SEARCH_UNKNOWN;
	}
	memcpy(path, directory[0] ? directory : ".", length);
	path[length++] = '/';
	for (size_t i = 0; i < count; i++) {
		memcpy(path + length, variants[i], strlen(variants[i]) + 1);
		if (stat(path, &stat_buffer) == 0 && S_ISDIR(stat_buffer.st_mode)) {
			return LOADER_SEARCH_UNKNOWN;
		}
	}
	memcpy(path + length, name, strlen(name) + 1);
	return open_file(ret_file);
}

/*
 * Returns how many directories at the end of the search path are also the last ones of a list that ends at `end`. The
 * loader keeps its default directories as such a list: each with a slash and a NUL.
 */
static unsigned count_alike(const Dl_serinfo *info, const char *begin, const char *end)
{
	unsigned count = 0;

	while (count < info->dls_cnt) {
		const char *name = info->dls_serpath[info->dls_cnt - 1 - count].dls_name;
		size_t size = strlen(name) + sizeof("/");

		if ((size_t)(end - begin) < size || memcmp(end - size, name, size - sizeof("/")) != 0 ||
		    memcmp(end - sizeof("/"), "/", sizeof("/")) != 0) {
			break;
		}
		end -= size;
		count++;
	}
	return count;
}

/* Searches the bytes for the list of default directories. Returns how many of them end the search path; 0: none. */
static unsigned count_defaults_in(const Dl_serinfo *info, const char *bytes, size_t size)
{
	const char *last = info->dls_serpath[info->dls_cnt - 1].dls_name;
	const char *end = bytes + size;
	size_t needed = strlen(last) + sizeof("/");
	unsigned most = 0;

	/* memmem() takes six times as many instructions. Often all are defaults, and the list is near the beginning. */
	for (const char *at = bytes; (at = memchr(at, last[0], (size_t)(end - at))) && most < info->dls_cnt; at++) {
		bool ends = (size_t)(end - at) >= needed && at[needed - 1] == '\0';
		unsigned count = ends ? count_alike(info, bytes, at + needed) : 0;

		most = count > most ? count : most;
	}
	return most;
}

/*
 * Returns how many of the directories are the loader's defaults, which are at the end and are searched after
 * ld.so.cache; 0: it is not known. dls_flags would say so, but glibc always sets it to 0 (elf/dl-load.c, "XXX"), and
 * the defaults differ between distributions, so they are read from the loader's image, from its constants, which before
 * glibc 2.28 are beside its code.
 */
static unsigned count_defaults(const Dl_serinfo *info)
{
	static const ElfW(Word) kinds[] = {PF_R, PF_R | PF_X};
	const struct elf_object *loader = loaded_loader();
	unsigned defaults = 0;

	if (info->dls_cnt == 0 || !loader) {
		return 0;
	}
	for (size_t i = 0; i < 2 * loader->phdr_count && defaults == 0; i++) {
		const ElfW(Phdr) *segment = &loader->phdr[i % loader->phdr_count];

		if (segment->p_type == PT_LOAD && segment->p_flags == kinds[i / loader->phdr_count]) {
			defaults =
			    count_defaults_in(info, (const char *)loader->base + segment->p_vaddr, segment->p_memsz);
		}
	}
	return defaults;
}

static enum loader_search look_along(const Dl_serinfo *info, unsigned from, unsigned to, const char *name,
                                     struct loader_file *ret_file)
{
	enum loader_search found = LOADER_SEARCH_NOWHERE;

	for (unsigned i = from; i < to && found == LOADER_SEARCH_NOWHERE; i++) {
		found = look_in_directory(info->dls_serpath[i].dls_name, name, ret_file);
	}
	return found;
}

/*
 * If it is not known when the loader searches ld.so.cache, a name that is in it is UNKNOWN; for any other name this
 * does not matter. A loader that was started by hand may have been told to ignore that file (--inhibit-cache).
 */
static enum loader_search look_everywhere(const Dl_serinfo *info, const char *name, struct loader_file *ret_file)
{
	bool by_hand = getauxval(AT_BASE) == 0;
	unsigned defaults = count_defaults(info);
	unsigned first_default = defaults ? info->dls_cnt - defaults : 0;
	enum loader_search found = look_along(info, 0, first_default, name, ret_file);

	if (found == LOADER_SEARCH_NOWHERE) {
		found = look_in_loader_cache(name, ret_file);
		if (found == LOADER_SEARCH_FOUND && (defaults == 0 || by_hand)) {
			(void)close(ret_file->descriptor);
			return LOADER_SEARCH_UNKNOWN;
		}
	}
	if (found == LOADER_SEARCH_NOWHERE) {
		found = look_along(info, first_default, info->dls_cnt, name, ret_file);
	}
	return found;
}

enum loader_search loader_search(void *handle, const char *name, struct loader_file *ret_file)
{
	enum loader_search found = LOADER_SEARCH_UNKNOWN;
	Dl_serinfo size_only;
	Dl_serinfo *info = NULL;

	if (dlinfo && dlinfo(handle, RTLD_DI_SERINFOSIZE, &size_only) == 0 && (info = malloc(size_only.dls_size))) {
		info->dls_size = size_only.dls_size;
		info->dls_cnt = size_only.dls_cnt;
		found = dlinfo(handle, RTLD_DI_SERINFO, info) == 0 ? look_everywhere(info, name, ret_file) : found;
	}
	free(info);
	loader_forget_error();
	return found;
}
