/* SPDX-License-Identifier: MIT */
/*
 * elf_file: reads the header, the interpreter and the symbols of a program or library from its file
 *
 * Nothing is loaded, relocated or run. Calling sequence: elf_file_open(), elf_file_each_symbol(), elf_file_close().
 * Errors: -ENOEXEC if the file is not ELF, damaged, or of another class or byte order (`is_elf`, `bits` and `machine`
 * are set if it has an ELF header); -errno of a system call. Threads: one. If another process truncates the file while
 * it is open, this process gets SIGBUS.
 */
#ifndef CLI_DOCTOR_ELF_FILE_H
#define CLI_DOCTOR_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

struct elf_file {
	bool is_elf;
	int bits;              /* 32 or 64 */
	unsigned machine;      /* EM_X86_64, ... */
	unsigned type;         /* ET_DYN, ... */
	char interpreter[256]; /* path of the program's loader (PT_INTERP); "": none */
	const char *bytes;
	size_t size;
};

/* Maps a file and reads its header. After an error the file is closed. */
int elf_file_open(const char *path, struct elf_file *ret_file);
void elf_file_close(struct elf_file *file);

struct elf_file_symbol {
	const char *name;
	bool is_defined, is_function;
};

/*
 * Calls `visit` for each symbol of an open file, in .dynsym, which the loader uses, and in .symtab, which only tools
 * read. A name is valid until elf_file_close().
 */
void elf_file_each_symbol(const struct elf_file *file, void (*visit)(const struct elf_file_symbol *, void *),
                          void *context);

#endif
