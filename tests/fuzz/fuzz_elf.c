/* SPDX-License-Identifier: MIT */
/*
 * Objects as the loader has laid them out, and the start of a file. The first byte: bit 0: the rest is a file; bit 1:
 * the image has a gap; bit 2: a segment of notes; bit 3: one of what is read-only after relocation. Then, for an image:
 * where its dynamic section lies (in units of 8), and its notes (in units of 4), two bytes each, and how long they are
 * (two bytes). The rest is the image. What the loader itself has read to lay it out (program headers) is right.
 *
 * Properties: everything can be asked, nothing outside the image is read, answers lie within it.
 * Seeds: tests/fuzz/elf_seeds.py.
 */
#include "interpose/elf/elf.h"

#include "tests/fuzz/fuzz.h"

#include <sanitizer/asan_interface.h>

#define GAP 64

struct image {
	const uint8_t *bytes;
	size_t size;
};

static bool lies_in(const struct image *image, const void *at)
{
	return (const uint8_t *)at >= image->bytes && (const uint8_t *)at < image->bytes + image->size;
}

static void check_text(const struct image *image, const char *text)
{
	require(lies_in(image, text));
	require(memchr(text, '\0', (size_t)(image->bytes + image->size - (const uint8_t *)text)) != NULL);
}

static int see_import(const struct elf_import *import, void *context)
{
	const struct image *image = context;

	check_text(image, import->name);
	if (import->version) {
		check_text(image, import->version);
	}
	if (import->slot) {
		require((uintptr_t)import->slot % sizeof(void *) == 0);
		require(lies_in(image, import->slot) && lies_in(image, (uint8_t *)import->slot + sizeof(void *) - 1));
	}
	return 0;
}

static int see_needed(const char *name, void *context)
{
	check_text(context, name);
	return 0;
}

static void ask(const struct dl_phdr_info *info, struct image *image)
{
	static const char *const names[] = {"exported", "hidden_one", "fopen", ""};
	static const char *const versions[] = {NULL, "V_1", "V_2", "GLIBC_2.2.5"};
	struct elf_object object;
	const uint8_t *id;
	size_t size;

	if (elf_view(info, &object) != 0) {
		return;
	}
	if (object.soname) {
		check_text(image, object.soname);
	}
	for (size_t i = 0; i < 4; i++) {
		const char *version = elf_symbol_version(&object, names[i]);

		if (version) {
			check_text(image, version);
		}
		for (size_t j = 0; j < 4; j++) {
			(void)elf_symbol(&object, names[i], versions[j]);
		}
	}
	(void)elf_each_import(&object, see_import, image);
	(void)elf_each_needed(&object, see_needed, image);
	if (elf_build_id(&object, &id, &size) == 0) {
		require(size > 0 && lies_in(image, id) && lies_in(image, id + size - 1));
	}
}

static void try_image(struct input input, uint8_t what)
{
	uint64_t dynamic = take_number(&input, 2) * 8;
	uint64_t notes = take_number(&input, 2) * 4;
	uint64_t notes_size = take_number(&input, 2);
	struct image image = {copy_of(input.at, input.left), input.left};
	uint64_t half = what & 2 ? (image.size / 2) & ~UINT64_C(15) : image.size;
	ElfW(Phdr) segments[5] = {{.p_type = PT_LOAD, .p_memsz = half},
	                          {.p_type = PT_LOAD,
	                           .p_vaddr = half + GAP,
	                           .p_memsz = image.size - half > GAP ? image.size - half - GAP : 0},
	                          {.p_type = PT_DYNAMIC, .p_vaddr = dynamic},
	                          {.p_type = what & 4 ? PT_NOTE : PT_NULL, .p_vaddr = notes, .p_memsz = notes_size},
	                          {.p_type = what & 8 ? PT_GNU_RELRO : PT_NULL, .p_memsz = half / 2}};
	struct dl_phdr_info info = {
	    .dlpi_addr = (uintptr_t)image.bytes, .dlpi_name = "", .dlpi_phdr = segments, .dlpi_phnum = 5};

	if (image.size - half > GAP) {
		ASAN_POISON_MEMORY_REGION(image.bytes + half, GAP);
	}
	ask(&info, &image);
	ASAN_UNPOISON_MEMORY_REGION(image.bytes, image.size);
	free((void *)image.bytes);
}

static void try_file(const uint8_t *data, size_t size)
{
	uint8_t *copy = copy_of(data, size);
	const uint8_t *id;
	size_t id_size;

	if (elf_build_id_in_file(copy, size, &id, &id_size) == 0) {
		require(id_size > 0 && id >= copy && id_size <= size && id + id_size <= copy + size);
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 0 && data[0] & 1) {
		try_file(data + 1, size - 1);
	} else if (size > 0) {
		try_image(input_of(data + 1, size - 1), data[0]);
	}
	return 0;
}
