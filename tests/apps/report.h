/* SPDX-License-Identifier: MIT */
/*
 * report: prints what a compiler gave back so that two runs can be compared line by line
 *
 * Everything goes to stdout and nothing of it depends on a time, a process or an address. report_failed counts checks
 * that did not hold; a sample ends with `return report_status()`.
 */
#ifndef APPS_REPORT_H
#define APPS_REPORT_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPORT_EM_CUDA 190 /* EM_CUDA, missing from older elf.h */

static int report_failed;

static inline int report_status(void)
{
	printf("checks: %s\n", report_failed ? "FAILED" : "ok");
	return report_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline void report_check(bool holds, const char *what)
{
	if (holds) {
		return;
	}
	report_failed++;
	printf("check failed: %s\n", what);
}

static inline void *report_memory(size_t size)
{
	void *memory = calloc(1, size ? size : 1);

	if (!memory) {
		fputs("no memory\n", stderr);
		exit(EXIT_FAILURE);
	}
	return memory;
}

/* FNV-1a, 64 bits: enough to tell two outputs apart, short enough to read. */
static inline uint64_t report_hash(const void *bytes, size_t size)
{
	const unsigned char *at = (const unsigned char *)bytes;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++) {
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	}
	return hash;
}

/* A log or other text: its size, its hash, and its lines indented behind a bar. */
static inline void report_text(const char *what, const char *text, size_t size)
{
	bool fresh = true;

	printf("%s: %zu bytes, fnv1a %016llx\n", what, size, (unsigned long long)report_hash(text, size));
	for (size_t i = 0; i < size && text[i]; i++) {
		if (fresh) {
			fputs("  | ", stdout);
		}
		putchar(text[i]);
		fresh = text[i] == '\n';
	}
	if (!fresh) {
		putchar('\n');
	}
}

/* An ELF object for the GPU whose symbol table names the kernel. */
static inline bool report_is_cubin(const void *image, size_t size, const char *kernel)
{
	const char *bytes = (const char *)image;
	Elf64_Ehdr header;
	Elf64_Shdr table, strings;
	Elf64_Sym symbol;

	if (size < sizeof(header)) {
		return false;
	}
	memcpy(&header, bytes, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_machine != REPORT_EM_CUDA || header.e_shentsize != sizeof(table) || header.e_shoff > size ||
	    header.e_shnum > (size - header.e_shoff) / sizeof(table)) {
		return false;
	}
	for (unsigned i = 0; i < header.e_shnum; i++) {
		memcpy(&table, bytes + header.e_shoff + i * sizeof(table), sizeof(table));
		if (table.sh_type != SHT_SYMTAB || table.sh_link >= header.e_shnum) {
			continue;
		}
		memcpy(&strings, bytes + header.e_shoff + table.sh_link * sizeof(strings), sizeof(strings));
		if (table.sh_offset > size || table.sh_size > size - table.sh_offset || strings.sh_offset > size ||
		    strings.sh_size > size - strings.sh_offset) {
			return false;
		}
		for (size_t at = 0; at + sizeof(symbol) <= table.sh_size; at += sizeof(symbol)) {
			const char *name;
			size_t room;

			memcpy(&symbol, bytes + table.sh_offset + at, sizeof(symbol));
			if (symbol.st_name >= strings.sh_size) {
				continue;
			}
			name = bytes + strings.sh_offset + symbol.st_name;
			room = strings.sh_size - symbol.st_name;
			if (strlen(kernel) < room && !memcmp(name, kernel, strlen(kernel) + 1)) {
				return true;
			}
		}
	}
	return false;
}

/* Text, closed by its NUL, with the kernel as an entry point. */
static inline bool report_is_ptx(const char *ptx, size_t size, const char *kernel)
{
	const char *at = ptx;

	if (!size || ptx[size - 1] || strlen(ptx) != size - 1 || !strstr(ptx, ".version")) {
		return false;
	}
	while ((at = strstr(at, ".entry "))) {
		at += strlen(".entry ");
		if (!strncmp(at, kernel, strlen(kernel)) && at[strlen(kernel)] == '(') {
			return true;
		}
	}
	return false;
}

#endif
