/* SPDX-License-Identifier: MIT */
#include "cli/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPAN_MAX ((size_t)16 << 30)

static bool lies_within(const struct image *image, size_t offset, size_t size)
{
	return offset <= image->size && size <= image->size - offset;
}

/* The whole file, to be read. */
static int map_file(struct image *image, const char *path)
{
	struct stat found;
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int error = file < 0 ? -errno : 0;

	if (error == 0 && fstat(file, &found) < 0) {
		error = -errno;
	} else if (error == 0 && !S_ISREG(found.st_mode)) {
		error = -ENOEXEC;
	} else if (error == 0 && found.st_size == 0) {
		error = -ENOEXEC;
	}
	if (error == 0) {
		void *bytes = mmap(NULL, (size_t)found.st_size, PROT_READ, MAP_PRIVATE, file, 0);

		error = bytes == MAP_FAILED ? -errno : 0;
		if (error == 0) {
			image->bytes = bytes;
			image->size = (size_t)found.st_size;
		}
	}
	if (file >= 0) {
		close(file);
	}
	return error;
}

/* What it is, also where it cannot be looked into. */
static int read_header(struct image *image, ElfW(Ehdr) * ret_header)
{
	Elf32_Ehdr small;

	if (image->size < sizeof(small) || memcmp(image->bytes, ELFMAG, SELFMAG) != 0) {
		return -ENOEXEC;
	}
	memcpy(&small, image->bytes, sizeof(small));
	image->is_elf = true;
	image->bits = small.e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64;
	image->machine = small.e_machine;
	image->type = small.e_type;
	if (small.e_ident[EI_CLASS] != ELFCLASS64 || small.e_ident[EI_DATA] != ELFDATA2LSB ||
	    image->size < sizeof(*ret_header)) {
		return -ENOEXEC;
	}
	memcpy(ret_header, image->bytes, sizeof(*ret_header));
	return ret_header->e_phentsize == sizeof(ElfW(Phdr)) && ret_header->e_phoff % _Alignof(ElfW(Phdr)) == 0 &&
	               lies_within(image, ret_header->e_phoff, ret_header->e_phnum * sizeof(ElfW(Phdr)))
	           ? 0
	           : -ENOEXEC;
}

static void read_interpreter(struct image *image, const ElfW(Phdr) * phdr)
{
	if (lies_within(image, phdr->p_offset, phdr->p_filesz) && phdr->p_filesz > 0 &&
	    phdr->p_filesz <= sizeof(image->interpreter)) {
		memcpy(image->interpreter, image->bytes + phdr->p_offset, phdr->p_filesz);
		image->interpreter[phdr->p_filesz - 1] = '\0';
	}
}

/* How many bytes all segments span, from address 0 on; 0: they do not lie as segments do. */
static size_t span_of(const struct image *image, const ElfW(Phdr) * phdr, size_t count)
{
	size_t span = 0;

	for (size_t i = 0; i < count; i++) {
		if (phdr[i].p_type != PT_LOAD) {
			continue;
		}
		if (phdr[i].p_vaddr > SPAN_MAX || phdr[i].p_memsz > SPAN_MAX || phdr[i].p_filesz > phdr[i].p_memsz ||
		    !lies_within(image, phdr[i].p_offset, phdr[i].p_filesz)) {
			return 0;
		}
		if (phdr[i].p_vaddr + phdr[i].p_memsz > span) {
			span = phdr[i].p_vaddr + phdr[i].p_memsz;
		}
	}
	return span;
}

/*
 * Private pages of the file, as the loader would have; copies of what is written to, and where segments do not lie on pages
 * of this machine.
 */
static int map_segments(struct image *image, const char *path, const ElfW(Phdr) * phdr, size_t count)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), span = span_of(image, phdr, count);
	int file, error = 0;
	void *base;

	if (span == 0) {
		return -ENOEXEC;
	}
	span = (span + page - 1) / page * page;
	base = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (base == MAP_FAILED || file < 0) {
		error = -errno;
	}
	for (size_t i = 0; i < count && error == 0; i++) {
		size_t skew = phdr[i].p_vaddr % page;
		char *at;

		if (phdr[i].p_type != PT_LOAD || phdr[i].p_filesz == 0) {
			continue;
		}
		at = (char *)base + phdr[i].p_vaddr;
		if (phdr[i].p_offset % page == skew && !(phdr[i].p_flags & PF_W)) {
			if (mmap(at - skew, phdr[i].p_filesz + skew, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
			         file, (off_t)(phdr[i].p_offset - skew)) == MAP_FAILED) {
				error = -errno;
			}
		} else {
			memcpy(at, image->bytes + phdr[i].p_offset, phdr[i].p_filesz);
		}
	}
	if (file >= 0) {
		close(file);
	}
	if (base != MAP_FAILED) {
		image->mapped = base;
		image->mapped_size = span;
	}
	return error;
}

/*
 * Segments end for whoever looks where the file's bytes end. What follows is zero: no table lies there, and a file of some
 * kilobytes can say that 16 GiB follow, each of which would be walked through as symbols.
 */
static int copy_headers(struct image *image, const ElfW(Phdr) * phdr, size_t count)
{
	image->headers = malloc(count * sizeof(*phdr));
	if (!image->headers) {
		return -ENOMEM;
	}
	memcpy(image->headers, phdr, count * sizeof(*phdr));
	for (size_t i = 0; i < count; i++) {
		if (phdr[i].p_type == PT_LOAD) {
			image->headers[i].p_memsz = phdr[i].p_filesz;
		}
	}
	return 0;
}

int image_open(const char *path, struct image *ret_image)
{
	struct image image = {0};
	ElfW(Ehdr) header;
	const ElfW(Phdr) * phdr;
	int error = map_file(&image, path);

	if (error == 0) {
		error = read_header(&image, &header);
	}
	if (error == 0) {
		struct dl_phdr_info info = {.dlpi_name = path};

		phdr = (const ElfW(Phdr) *)(image.bytes + header.e_phoff);
		for (size_t i = 0; i < header.e_phnum; i++) {
			if (phdr[i].p_type == PT_INTERP) {
				read_interpreter(&image, &phdr[i]);
			}
		}
		error = map_segments(&image, path, phdr, header.e_phnum);
		if (error == 0) {
			error = copy_headers(&image, phdr, header.e_phnum);
		}
		if (error == 0) {
			info.dlpi_addr = (ElfW(Addr))image.mapped;
			info.dlpi_phdr = image.headers;
			info.dlpi_phnum = header.e_phnum;
			image.has_dynamic = elf_view(&info, &image.object) == 0;
		}
	}
	*ret_image = image;
	if (error != 0) {
		image_close(ret_image);
	}
	return error;
}

/* What it is stays to be asked for. */
void image_close(struct image *image)
{
	if (image->mapped) {
		munmap(image->mapped, image->mapped_size);
	}
	if (image->bytes) {
		munmap((void *)image->bytes, image->size);
	}
	free(image->headers);
	image->mapped = NULL;
	image->bytes = NULL;
	image->headers = NULL;
	image->has_dynamic = false;
}

struct table {
	const ElfW(Sym) * symbols;
	size_t count;
	const char *strings;
	size_t strings_size;
};

static bool has_function(const struct table *table, const char *name)
{
	size_t size = strlen(name) + 1;

	for (size_t i = 0; i < table->count; i++) {
		const ElfW(Sym) *symbol = &table->symbols[i];

		if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
		    symbol->st_name < table->strings_size && table->strings_size - symbol->st_name >= size &&
		    memcmp(table->strings + symbol->st_name, name, size) == 0) {
			return true;
		}
	}
	return false;
}

bool image_contains_function(const struct image *image, const char *name)
{
	ElfW(Ehdr) header;
	const ElfW(Shdr) * sections;

	memcpy(&header, image->bytes, sizeof(header));
	if (header.e_shentsize != sizeof(*sections) || header.e_shoff % _Alignof(ElfW(Shdr)) != 0 ||
	    !lies_within(image, header.e_shoff, header.e_shnum * sizeof(*sections))) {
		return false;
	}
	sections = (const ElfW(Shdr) *)(image->bytes + header.e_shoff);
	for (size_t i = 0; i < header.e_shnum; i++) {
		const ElfW(Shdr) *symbols = &sections[i], *strings;
		struct table table;

		if ((symbols->sh_type != SHT_SYMTAB && symbols->sh_type != SHT_DYNSYM) ||
		    symbols->sh_link >= header.e_shnum || symbols->sh_offset % _Alignof(ElfW(Sym)) != 0) {
			continue;
		}
		strings = &sections[symbols->sh_link];
		if (!lies_within(image, symbols->sh_offset, symbols->sh_size) ||
		    !lies_within(image, strings->sh_offset, strings->sh_size)) {
			continue;
		}
		table = (struct table){(const ElfW(Sym) *)(image->bytes + symbols->sh_offset),
		                       symbols->sh_size / sizeof(ElfW(Sym)), image->bytes + strings->sh_offset,
		                       strings->sh_size};
		if (has_function(&table, name)) {
			return true;
		}
	}
	return false;
}

bool image_contains_text(const struct image *image, const char *text)
{
	return memmem(image->bytes, image->size, text, strlen(text)) != NULL;
}

static int is_named(const char *name, void *context)
{
	return strcmp(name, context) == 0;
}

static int import_is_named(const struct elf_import *import, void *context)
{
	return strcmp(import->name, context) == 0;
}

bool image_imports(const struct image *image, const char *name)
{
	int found;

	if (!image->has_dynamic) {
		return false;
	}
	found = elf_each_undefined(&image->object, is_named, (void *)name);
	return found != -ENODATA ? found == 1 : elf_each_import(&image->object, import_is_named, (void *)name) == 1;
}
