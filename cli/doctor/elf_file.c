/* SPDX-License-Identifier: MIT */
/*
 * The file is mapped, because the libraries of compilers have a hundred megabytes, of which only the tables are read.
 * The content is untrusted: lies_within() checks each offset before it is used, and each structure is copied with
 * memcpy(), because in a damaged file it may be misaligned.
 */
#include "cli/doctor/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool lies_within(const struct elf_file *file, size_t offset, size_t size)
{
	return offset <= file->size && size <= file->size - offset;
}

static int map_file(struct elf_file *file, const char *path)
{
	struct stat found;
	/* open() must neither wait for the writer of a FIFO nor acquire a controlling terminal */
	int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int error = descriptor < 0 ? -errno : 0;

	if (error == 0 && fstat(descriptor, &found) < 0) {
		error = -errno;
	} else if (error == 0 && (!S_ISREG(found.st_mode) || found.st_size == 0)) {
		error = -ENOEXEC;
	}
	if (error == 0) {
		void *bytes = mmap(NULL, (size_t)found.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);

		error = bytes == MAP_FAILED ? -errno : 0;
		file->bytes = error ? NULL : bytes;
		file->size = error ? 0 : (size_t)found.st_size;
	}
	if (descriptor >= 0) {
		close(descriptor);
	}
	return error;
}

/* Class, machine and type have the same offsets in 32-bit files; the rest of a 32-bit file is not read. */
static int read_header(struct elf_file *file, Elf64_Ehdr *ret_header)
{
	Elf32_Ehdr small;

	if (file->size < sizeof(small) || memcmp(file->bytes, ELFMAG, SELFMAG) != 0) {
		return -ENOEXEC;
	}
	memcpy(&small, file->bytes, sizeof(small));
	file->is_elf = true;
	file->bits = small.e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64;
	file->machine = small.e_machine;
	file->type = small.e_type;
	if (small.e_ident[EI_CLASS] != ELFCLASS64 || small.e_ident[EI_DATA] != ELFDATA2LSB ||
	    file->size < sizeof(*ret_header)) {
		return -ENOEXEC;
	}
	memcpy(ret_header, file->bytes, sizeof(*ret_header));
	return ret_header->e_phentsize == sizeof(Elf64_Phdr) &&
	               lies_within(file, ret_header->e_phoff, ret_header->e_phnum * sizeof(Elf64_Phdr))
	           ? 0
	           : -ENOEXEC;
}

static void read_interpreter(struct elf_file *file, const Elf64_Ehdr *header)
{
	for (size_t i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;

		memcpy(&segment, file->bytes + header->e_phoff + i * sizeof(segment), sizeof(segment));
		if (segment.p_type == PT_INTERP && segment.p_filesz > 0 &&
		    segment.p_filesz <= sizeof(file->interpreter) &&
		    lies_within(file, segment.p_offset, segment.p_filesz)) {
			memcpy(file->interpreter, file->bytes + segment.p_offset, segment.p_filesz);
			file->interpreter[segment.p_filesz - 1] = '\0';
		}
	}
}

int elf_file_open(const char *path, struct elf_file *ret_file)
{
	Elf64_Ehdr header;
	int error;

	*ret_file = (struct elf_file){.bytes = NULL};
	error = map_file(ret_file, path);
	error = error ? error : read_header(ret_file, &header);
	if (error) {
		elf_file_close(ret_file);
		return error;
	}
	read_interpreter(ret_file, &header);
	return 0;
}

/* The members `is_elf`, `bits`, `machine`, `type` and `interpreter` stay valid. */
void elf_file_close(struct elf_file *file)
{
	if (file->bytes) {
		munmap((void *)file->bytes, file->size);
	}
	file->bytes = NULL;
	file->size = 0;
}

/* Returns false if the section does not exist or lies outside the file. */
static bool read_section(const struct elf_file *file, const Elf64_Ehdr *header, size_t number, Elf64_Shdr *ret_section)
{
	if (number >= header->e_shnum || header->e_shentsize != sizeof(*ret_section) ||
	    !lies_within(file, header->e_shoff, header->e_shnum * sizeof(*ret_section))) {
		return false;
	}
	memcpy(ret_section, file->bytes + header->e_shoff + number * sizeof(*ret_section), sizeof(*ret_section));
	/* a section of type NOBITS has no bytes in the file, so its offset is not checked */
	return ret_section->sh_type == SHT_NOBITS || lies_within(file, ret_section->sh_offset, ret_section->sh_size);
}

void elf_file_each_symbol(const struct elf_file *file, void (*visit)(const struct elf_file_symbol *, void *),
                          void *context)
{
	Elf64_Shdr table, strings;
	Elf64_Ehdr header;

	memcpy(&header, file->bytes, sizeof(header));
	for (size_t number = 0; read_section(file, &header, number, &table); number++) {
		/* the string table has to end with NUL, so that every name in it is terminated */
		if ((table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) ||
		    !read_section(file, &header, table.sh_link, &strings) || strings.sh_type != SHT_STRTAB ||
		    strings.sh_size == 0 || file->bytes[strings.sh_offset + strings.sh_size - 1] != '\0') {
			continue;
		}
		for (size_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
			struct elf_file_symbol seen;
			Elf64_Sym symbol;

			memcpy(&symbol, file->bytes + table.sh_offset + at, sizeof(symbol));
			if (symbol.st_name < strings.sh_size) {
				seen.name = file->bytes + strings.sh_offset + symbol.st_name;
				seen.is_defined = symbol.st_shndx != SHN_UNDEF;
				seen.is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
				visit(&seen, context);
			}
		}
	}
}
