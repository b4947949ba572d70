/* SPDX-License-Identifier: MIT */
/*
 * elf_file: what a program or a library says of itself, read from its file
 *
 * Nothing is loaded, relocated or run. Calling sequence: elf_file_open(), look, elf_file_close(). Errors: -ENOEXEC: no
 * ELF file, damaged, or of another class or byte order (`is_elf`, `bits` and `machine` say so all the same); -errno of
 * what the system refused. Threads: one. A file that is cut short meanwhile ends the process.
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
	char interpreter[256]; /* of programs: the loader's path; "": none */
	const char *bytes;
	size_t size;
};

int elf_file_open(const char *path, struct elf_file *ret_file);
void elf_file_close(struct elf_file *file);

struct elf_file_symbol {
	const char *name;
	bool is_defined, is_function;
};

/* Of the table that the loader looks names up in, and of the one that only tools read. */
void elf_file_each_symbol(const struct elf_file *file, void (*visit)(const struct elf_file_symbol *, void *),
                          void *context);

#endif
