/* SPDX-License-Identifier: MIT */
/*
 * A file that doctor is asked about: the input is the file. Scripts are followed to what they name, ELF files mapped.
 *
 * Properties: nothing outside the mapping is read; what is found in it lies within; nothing is run; what was opened can
 * be opened again and is the same; paths end.
 */
#include "cli/executable.h"
#include "cli/image.h"

#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>

static bool lies_in(const struct image *image, const void *at)
{
	return (const char *)at >= (const char *)image->mapped &&
	       (const char *)at < (const char *)image->mapped + image->mapped_size;
}

static int see_import(const struct elf_import *import, void *context)
{
	const struct image *image = context;

	require(lies_in(image, import->name));
	require(!import->version || lies_in(image, import->version));
	if (import->slot) {
		require(lies_in(image, import->slot) && lies_in(image, (const char *)(import->slot + 1) - 1));
		/* private to us: who looks may also be one who writes */
		*(volatile void **)import->slot = NULL;
	}
	return 0;
}

static int see_needed(const char *name, void *context)
{
	require(lies_in(context, name));
	return 0;
}

static void ask(struct image *image)
{
	const uint8_t *id;
	size_t size;

	(void)image_contains_function(image, "exported");
	(void)image_contains_function(image, "");
	require(image_contains_text(image, ELFMAG));
	(void)image_imports(image, "fopen");
	if (!image->has_dynamic) {
		return;
	}
	(void)elf_each_import(&image->object, see_import, image);
	(void)elf_each_needed(&image->object, see_needed, image);
	(void)elf_each_undefined(&image->object, see_needed, image);
	(void)elf_needs_version(&image->object, "V_1");
	(void)elf_symbol(&image->object, "exported", NULL);
	(void)elf_symbol_version(&image->object, "exported");
	if (elf_build_id(&image->object, &id, &size) == 0) {
		require(lies_in(image, id) && lies_in(image, id + size - 1));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image image, again;
	struct executable executable;
	char path[64];
	int file = memfd_create("input", MFD_CLOEXEC);
	int error;

	require(file >= 0 && fchmod(file, 0700) == 0 && write(file, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	error = image_open(path, &image);
	require(error <= 0);
	if (error == 0) {
		require(image.is_elf && image.bits == 64);
		ask(&image);
		require(image_open(path, &again) == 0);
		require(again.has_dynamic == image.has_dynamic && again.mapped_size == image.mapped_size);
		image_close(&again);
		image_close(&image);
	}
	executable_find(path, &executable);
	require(memchr(executable.path, '\0', sizeof(executable.path)) != NULL);
	require(memchr(executable.loader, '\0', sizeof(executable.loader)) != NULL);
	require(executable.script_count >= 0 && executable.script_count <= EXECUTABLE_SCRIPTS_MAX);
	close(file);
	return 0;
}
