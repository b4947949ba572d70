/* SPDX-License-Identifier: MIT */
#include "cli/image.h"

#include "elf_fixture.h"

#include <sys/mman.h>

#define GIB ((uint64_t)1 << 30)

static int count_name(const char *name, void *context)
{
	cr_assert_not_null(name);
	*(size_t *)context += 1;
	return 0;
}

static size_t undefined_of(const struct image *image)
{
	size_t count = 0;

	cr_assert_eq(elf_each_undefined(&image->object, count_name, &count), 0);
	return count;
}

/* A copy of a library of which the first segment says that it is `memory` bytes long, and which has no table of hashes. */
static int copy_with(uint64_t memory, char ret_path[64])
{
	static uint8_t file[1 << 17];
	char path[PATH_MAX];
	ElfW(Ehdr) *header = (ElfW(Ehdr) *)file;
	ElfW(Phdr) * segments;
	int copy = memfd_create("image", MFD_CLOEXEC);
	size_t changed = 0;

	fixture_path("watched_lazy.so", path);
	read_start(path, file, sizeof(file));
	segments = (ElfW(Phdr) *)(file + header->e_phoff);
	for (size_t i = 0; i < header->e_phnum; i++) {
		ElfW(Dyn) *entries = (ElfW(Dyn) *)(file + segments[i].p_offset);

		if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0) {
			segments[i].p_memsz = memory ? memory : segments[i].p_memsz;
			changed++;
		}
		for (size_t j = 0; segments[i].p_type == PT_DYNAMIC && entries[j].d_tag != DT_NULL; j++) {
			if (entries[j].d_tag == DT_GNU_HASH) {
				entries[j].d_tag = DT_HIOS;
				changed++;
			}
		}
	}
	cr_assert_eq(changed, 2);
	cr_assert_eq(write(copy, file, sizeof(file)), (ssize_t)sizeof(file));
	snprintf(ret_path, 64, "/proc/self/fd/%d", copy);
	return copy;
}

Test(image, symbols_are_not_looked_for_behind_the_bytes_of_the_file)
{
	struct image plain, large;
	char plain_path[64], large_path[64];
	int plain_file = copy_with(0, plain_path);
	int large_file = copy_with(12 * GIB, large_path);

	cr_assert_eq(image_open(plain_path, &plain), 0);
	cr_assert_eq(image_open(large_path, &large), 0);
	cr_assert(plain.has_dynamic && large.has_dynamic);
	cr_expect_gt(large.mapped_size, 11 * GIB);
	cr_expect_eq(large.object.symbol_count, plain.object.symbol_count);
	cr_expect_gt(undefined_of(&plain), 1);
	cr_expect_eq(undefined_of(&large), undefined_of(&plain));
	image_close(&large);
	image_close(&plain);
	close(large_file);
	close(plain_file);
}
