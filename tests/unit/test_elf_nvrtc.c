/* SPDX-License-Identifier: MIT */
#include "elf_fixture.h"

static size_t count_by_command(const char *format, const char *path)
{
	char command[PATH_MAX + 100];
	size_t count = 0;
	FILE *stream;

	snprintf(command, sizeof(command), format, path);
	stream = popen(command, "r");
	cr_assert_not_null(stream);
	if (fscanf(stream, "%zu", &count) != 1) {
		count = 0;
	}
	pclose(stream);
	return count;
}

/* The real library. */

Test(elf_nvrtc, imports_of_nvrtc_are_those_that_nm_lists)
{
	char path[PATH_MAX];
	struct elf_object object = object_of(load_nvrtc(path), "nvrtcVersion");
	struct names names = imports_of(&object);
	size_t missing;
	size_t count = undefined_symbols(&object, &names, &missing);
	size_t by_nm = count_by_command("nm -D --undefined-only '%s' | wc -l", path);

	cr_expect_gt(names.count, 200);
	if (by_nm > 0) {
		cr_expect_eq(count, by_nm);
	}
	/* thread-local variables are reached by other relocations than these */
	cr_expect_leq(missing, 3, "%zu of %zu undefined symbols have no import", missing, count);
}

struct comparison {
	size_t same, indirect;
};

static int compare_with_loader(const struct elf_import *import, void *context)
{
	struct comparison *comparison = context;
	struct elf_object libc = libc_object();
	void *handle = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	uintptr_t ours = elf_symbol(&libc, import->name, import->version);
	void *theirs = import->version ? dlvsym(handle, import->name, import->version) : dlsym(handle, import->name);

	if (ours) {
		cr_expect_eq(ours, (uintptr_t)theirs, "%s@%s", import->name, import->version ? import->version : "");
		comparison->same++;
	} else if (theirs) {
		/* libc's choice of a function for this processor, or another library's function reached through libc */
		comparison->indirect++;
	}
	return 0;
}

Test(elf_nvrtc, functions_that_nvrtc_imports_are_where_the_loader_finds_them)
{
	char path[PATH_MAX];
	struct elf_object object = object_of(load_nvrtc(path), "nvrtcVersion");
	struct comparison comparison = {0, 0};

	cr_assert_eq(elf_each_import(&object, compare_with_loader, &comparison), 0);
	cr_expect_gt(comparison.same, 150);
	cr_expect_gt(comparison.same, comparison.indirect);
}

Test(elf_nvrtc, functions_that_nvrtc_exports_are_where_the_loader_finds_them)
{
	char path[PATH_MAX];
	void *handle = load_nvrtc(path);
	struct elf_object object = object_of(handle, "nvrtcVersion");
	const char *version = elf_symbol_version(&object, "nvrtcVersion");
	size_t count = 0;

	cr_assert_not_null(version);
	cr_expect_eq(strncmp(version, "libnvrtc.so.", 12), 0, "%s", version);
	for (size_t i = 1; i < object.symbol_count; i++) {
		const ElfW(Sym) *symbol = &object.symbols[i];
		const char *name = object.strings + symbol->st_name;

		if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) {
			continue;
		}
		cr_expect_eq(elf_symbol(&object, name, version), (uintptr_t)dlsym(handle, name), "%s", name);
		count++;
	}
	cr_expect_gt(count, 15);
}

Test(elf_nvrtc, the_build_id_of_nvrtc_is_that_of_readelf)
{
	char path[PATH_MAX];
	struct elf_object object = object_of(load_nvrtc(path), "nvrtcVersion");

	expect_build_id_of_readelf(&object, path);
}
