/* SPDX-License-Identifier: MIT */
#include "elf_fixture.h"

/* Build-ids. */

Test(elf_image, the_build_id_is_that_of_readelf)
{
	char path[PATH_MAX];
	struct elf_object object = fixture("watched_lazy.so");

	fixture_path("watched_lazy.so", path);
	cr_expect(expect_build_id_of_readelf(&object, path));
}

/* Copies the bytes into a block of exactly their size, so that a sanitizer sees a read past the end. */
static int build_id_of_copy(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	const uint8_t *id = NULL;
	size_t id_size = 0;
	int result;

	cr_assert_not_null(copy);
	memcpy(copy, bytes, size);
	result = elf_build_id_in_file(copy, size, &id, &id_size);
	if (result == 0) {
		cr_assert_geq(id, copy);
		cr_assert_leq(id + id_size, copy + size);
	}
	free(copy);
	return result;
}

Test(elf_image, a_file_cut_at_any_length_gives_no_build_id_from_outside)
{
	static uint8_t start[2048];
	bool found = false;
	size_t size = read_fixture("watched_lazy.so", start, sizeof(start));

	for (size_t i = 0; i <= size; i++) {
		found = build_id_of_copy(start, i) == 0;
	}
	cr_expect(found, "the whole start holds it");
	cr_expect_eq(build_id_of_copy(start, 10), -ENOEXEC);
	cr_expect_eq(build_id_of_copy(start, sizeof(ElfW(Ehdr))), -ENOENT);
	cr_expect_eq(build_id_of_copy((const uint8_t *)"#!/bin/sh", 9), -ENOEXEC);
}

Test(elf_image, flipped_bytes_of_a_file_cause_no_read_outside_it)
{
	static uint8_t start[2048];
	size_t size = read_fixture("watched_lazy.so", start, sizeof(start));

	for (size_t i = 0; i < size; i++) {
		start[i] ^= 0xff;
		build_id_of_copy(start, size);
		start[i] ^= 0xff;
	}
}

Test(elf_image, the_build_id_of_notes_that_claim_a_wrong_alignment_is_found)
{
	struct {
		ElfW(Ehdr) header;
		ElfW(Phdr) segment;
		ElfW(Nhdr) first;
		char first_text[4 + 4];
		ElfW(Nhdr) note;
		char text[4 + 8];
	} file = {.header = {.e_ident = ELFMAG,
	                     .e_phoff = sizeof(ElfW(Ehdr)),
	                     .e_phnum = 1,
	                     .e_phentsize = sizeof(ElfW(Phdr))},
	          .segment = {.p_type = PT_NOTE, .p_align = 8, .p_offset = sizeof(ElfW(Ehdr)) + sizeof(ElfW(Phdr))},
	          .first = {.n_namesz = 4, .n_descsz = 4, .n_type = 1},
	          .first_text = "GNU",
	          .note = {.n_namesz = 4, .n_descsz = 8, .n_type = NT_GNU_BUILD_ID},
	          .text = "GNU\0identity"};
	const uint8_t *id;
	size_t size;

	file.header.e_ident[EI_CLASS] = ELFCLASS64;
	file.header.e_ident[EI_DATA] = ELFDATA2LSB;
	file.segment.p_filesz = sizeof(file) - file.segment.p_offset;
	cr_assert_eq(elf_build_id_in_file(&file, sizeof(file), &id, &size), 0);
	cr_expect_eq(size, 8);
	cr_expect_arr_eq(id, "identity", 8);
}

/* A damaged loaded image: a copy of the fixture, laid out as loaded, with one byte after another wrong. */

static int ignore_import(const struct elf_import *import, void *context)
{
	*(size_t *)context += strlen(import->name) + (import->version ? strlen(import->version) : 0);
	return 0;
}

static int ignore_needed(const char *name, void *context)
{
	*(size_t *)context += strlen(name);
	return 0;
}

static void look_at_everything(const struct dl_phdr_info *info, size_t *sum)
{
	struct elf_object object;
	const uint8_t *id;
	size_t size;

	if (elf_view(info, &object) != 0) {
		return;
	}
	*sum += elf_symbol(&object, "lib_mkdir", NULL);
	*sum += elf_symbol(&object, "lib_mkdir", "LIB_1.0");
	*sum += elf_symbol(&object, "no_such", NULL);
	if (elf_symbol_version(&object, "lib_fopen")) {
		++*sum;
	}
	elf_each_import(&object, ignore_import, sum);
	elf_each_needed(&object, ignore_needed, sum);
	*sum += elf_build_id(&object, &id, &size) == 0;
}

static void spoil_image(const char *name)
{
	static uint8_t file[1 << 17];
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)file;
	const ElfW(Phdr) * segments;
	struct dl_phdr_info info = {.dlpi_name = ""};
	size_t end = 0;
	size_t spoilt = 0;
	size_t sum = 0;
	uint8_t *image;

	read_fixture(name, file, sizeof(file));
	segments = (const ElfW(Phdr) *)(file + header->e_phoff);
	for (size_t i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type == PT_LOAD && segments[i].p_vaddr + segments[i].p_memsz > end) {
			end = segments[i].p_vaddr + segments[i].p_memsz;
		}
	}
	image = aligned_alloc(4096, (end + 4095) & ~(size_t)4095);
	cr_assert_not_null(image);
	memset(image, 0, end);
	for (size_t i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type == PT_LOAD) {
			memcpy(image + segments[i].p_vaddr, file + segments[i].p_offset, segments[i].p_filesz);
		}
	}
	info.dlpi_addr = (uintptr_t)image;
	info.dlpi_phdr = segments;
	info.dlpi_phnum = header->e_phnum;
	look_at_everything(&info, &sum);
	cr_assert_gt(sum, 0, "the copy can be read before it is spoilt");
	for (size_t i = 0; i < header->e_phnum; i++) {
		/* code is not read */
		if (segments[i].p_type != PT_LOAD || (segments[i].p_flags & PF_X)) {
			continue;
		}
		for (size_t j = 0; j < segments[i].p_filesz; j++) {
			uint8_t *at = image + segments[i].p_vaddr + j;
			uint8_t kept = *at;

			*at = (uint8_t)(kept ^ (j % 3 == 0 ? 0xff : j % 3 == 1 ? 0x01 : 0x80));
			look_at_everything(&info, &sum);
			*at = kept;
			spoilt++;
		}
	}
	cr_expect_gt(spoilt, 1000);
	free(image);
}

ROW(elf_image, an_image_with_any_byte_wrong_is_read_within_its_bounds, spoil_image("watched_lazy.so"))
ROW(elf_image, an_image_with_the_old_hash_and_any_byte_wrong_is_read_within_its_bounds, spoil_image("watched_sysv.so"))
