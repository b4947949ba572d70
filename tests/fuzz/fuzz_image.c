/* SPDX-License-Identifier: MIT */
/*
 * A file that doctor is asked about: the input is the file. Scripts are followed to what they name, ELF files read.
 *
 * Properties: names lie in the file, and end there; nothing is run; paths end.
 */
#include "cli/doctor/elf_file.h"
#include "cli/doctor/executable.h"

#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>

static void see_symbol(const struct elf_file_symbol *symbol, void *context)
{
	const struct elf_file *file = context;

	require(symbol->name >= file->bytes && symbol->name < file->bytes + file->size);
	require(memchr(symbol->name, '\0', (size_t)(file->bytes + file->size - symbol->name)) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct executable executable;
	struct elf_file elf;
	char path[64];
	int file = memfd_create("input", MFD_CLOEXEC);
	int error;

	require(file >= 0 && fchmod(file, 0700) == 0 && write(file, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	error = elf_file_open(path, &elf);
	require(error <= 0 && (error != 0 || (elf.is_elf && elf.bits == 64)));
	require(memchr(elf.interpreter, '\0', sizeof(elf.interpreter)) != NULL);
	if (error == 0) {
		elf_file_each_symbol(&elf, see_symbol, &elf);
	}
	elf_file_close(&elf);
	executable_find(path, &executable);
	require(memchr(executable.path, '\0', sizeof(executable.path)) != NULL);
	require(memchr(executable.script, '\0', sizeof(executable.script)) != NULL);
	close(file);
	return 0;
}
