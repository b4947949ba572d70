/* SPDX-License-Identifier: MIT */
/*
 * image: a program or library as it would lie in memory, without loading it
 *
 * Purpose: what the library asks of loaded objects (interpose/elf) can be asked of a file: its segments are mapped where
 * the loader would map them, nothing is relocated and nothing of it runs.
 *
 * Calling sequence: image_open(), look, image_close(). Errors: -ENOEXEC: no ELF file, damaged, or of another class or
 * byte order (`ret_image->machine`, `bits` and `is_elf` say so); -errno of what the system refused. Threads: one. A file
 * that somebody cuts short meanwhile ends the process, as it would end one that loads it.
 */
#ifndef CLI_IMAGE_H
#define CLI_IMAGE_H

#include "interpose/elf/elf.h"

struct image {
	bool is_elf;
	int bits;              /* 32 or 64 */
	unsigned machine;      /* EM_X86_64, ... */
	unsigned type;         /* ET_DYN, ... */
	char interpreter[256]; /* of programs: the loader's path; "": none */
	bool has_dynamic;      /* `object` can be looked at */
	struct elf_object object;
	/* of image.c */
	const char *bytes; /* the file */
	size_t size;
	void *mapped;
	size_t mapped_size;
	ElfW(Phdr) * headers; /* those that `object` looks at */
};

int image_open(const char *path, struct image *ret_image);
void image_close(struct image *image);

/* Is a function of that name in the file, whether others can find it there or not (.symtab)? */
bool image_contains_function(const struct image *image, const char *name);
/* Does the text stand anywhere in the file? */
bool image_contains_text(const struct image *image, const char *text);
/* Does it import it, by whatever version? */
bool image_imports(const struct image *image, const char *name);

#endif
