/* SPDX-License-Identifier: MIT */
#include "elf_fixture.h"

#include "interpose/elf/loaded.h"

#include <sys/resource.h>

Test(elf, every_undefined_symbol_of_a_library_is_listed_as_an_import)
{
	static const char *const variants[] = {"watched_lazy.so", "watched_now.so", "watched_noplt.so",
	                                       "watched_sysv.so"};

	for (size_t i = 0; i < COUNT(variants); i++) {
		struct elf_object object = fixture(variants[i]);
		struct names names = imports_of(&object);
		size_t missing;
		size_t count = undefined_symbols(&object, &names, &missing);

		cr_assert_gt(count, 20);
		cr_expect_eq(missing, 0, "%s: %zu of %zu not listed", variants[i], missing, count);
		cr_expect_eq(names.count, count);
	}
}

struct wanted {
	const char *name;
	struct elf_import found;
};

static int match_import(const struct elf_import *import, void *context)
{
	struct wanted *wanted = context;

	if (strcmp(import->name, wanted->name) != 0) {
		return 0;
	}
	wanted->found = *import;
	return 17;
}

Test(elf, slots_of_a_library_bound_at_load_are_in_relro)
{
	struct elf_object object = fixture("watched_now.so");
	struct wanted wanted = {.name = "fopen"};

	cr_assert_eq(elf_each_import(&object, match_import, &wanted), 17);
	cr_expect_geq((uintptr_t)wanted.found.slot, object.relro_start);
	cr_expect_lt((uintptr_t)wanted.found.slot, object.relro_end);
	cr_expect_eq(*(void **)wanted.found.slot, dlsym(RTLD_DEFAULT, "fopen"));
}

Test(elf, a_function_pointer_in_data_is_an_import_without_a_slot)
{
	struct elf_object object = fixture("watched_pointer.so");
	struct names names = imports_of(&object);
	bool seen = false;

	/* the jump slot of fopen comes later, so all imports are read */
	cr_expect(holds(&names, "fopen"));
	for (const ElfW(Dyn) *entry = object.dynamic; entry->d_tag != DT_NULL; entry++) {
		seen = seen || entry->d_tag == DT_RELA;
	}
	cr_expect(seen);
	struct wanted wanted = {.name = "fopen"};
	cr_assert_eq(elf_each_import(&object, match_import, &wanted), 17);
	cr_expect_null(wanted.found.slot);
}

Test(elf, an_import_among_instructions_has_no_place)
{
	struct elf_object object = fixture("watched_pointer.so");
	struct wanted wanted = {.name = "fopen"};
	ElfW(Phdr) segments[32];

	cr_assert_leq(object.phdr_count, sizeof(segments) / sizeof(segments[0]));
	memcpy(segments, object.phdr, object.phdr_count * sizeof(segments[0]));
	object.phdr = segments;
	cr_assert_eq(elf_each_import(&object, match_import, &wanted), 17);
	cr_expect_not_null(wanted.found.place);
	for (size_t i = 0; i < object.phdr_count; i++) {
		segments[i].p_flags &= ~(ElfW(Word))PF_W;
	}
	cr_assert_eq(elf_each_import(&object, match_import, &wanted), 17);
	cr_expect_null(wanted.found.place);
}

Test(elf, symbols_are_found_by_gnu_hash_and_by_sysv_hash)
{
	static const char *const variants[] = {"watched_lazy.so", "watched_sysv.so"};

	for (size_t i = 0; i < 2; i++) {
		void *handle = load_fixture(variants[i]);
		struct elf_object object = object_of(handle, FIXTURE_EXPORT);

		cr_expect_eq(object.gnu_hash == NULL, i == 1);
		cr_expect_eq(elf_symbol(&object, "lib_getenv", NULL), (uintptr_t)dlsym(handle, "lib_getenv"));
		cr_expect_eq(elf_symbol(&object, "lib_nothing", NULL), 0);
		cr_expect_eq(elf_symbol(&object, "fopen", NULL), 0, "an undefined symbol is no definition");
		cr_expect_str_eq(object.soname, variants[i]);
	}
}

Test(elf, an_unversioned_definition_satisfies_every_version)
{
	struct elf_object object = fixture("watched_lazy.so");

	cr_expect_neq(elf_symbol(&object, FIXTURE_EXPORT, NULL), 0);
	cr_expect_eq(elf_symbol(&object, FIXTURE_EXPORT, "LIB_1.0"), elf_symbol(&object, FIXTURE_EXPORT, NULL));
	cr_expect_null(elf_symbol_version(&object, FIXTURE_EXPORT));
}

Test(elf, a_versioned_definition_is_found_only_by_its_version)
{
	struct elf_object object = libc_object();
	const char *version = elf_symbol_version(&object, "fopen");

	cr_assert_not_null(version);
	cr_expect_eq(elf_symbol(&object, "fopen", version), elf_symbol(&object, "fopen", NULL));
	cr_expect_eq(elf_symbol(&object, "fopen", "GLIBC_0.0"), 0);
}

Test(elf, of_several_versions_the_default_one_is_found)
{
#ifdef __x86_64__
	struct elf_object object = libc_object();
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	cr_expect_eq(elf_symbol(&object, "realpath", NULL), (uintptr_t)dlvsym(libc, "realpath", "GLIBC_2.3"));
	cr_expect_eq(elf_symbol(&object, "realpath", "GLIBC_2.2.5"),
	             (uintptr_t)dlvsym(libc, "realpath", "GLIBC_2.2.5"));
	cr_expect_neq(elf_symbol(&object, "realpath", "GLIBC_2.2.5"), elf_symbol(&object, "realpath", NULL));
	cr_expect_str_eq(elf_symbol_version(&object, "realpath"), "GLIBC_2.3");
	/* hidden, without any default */
	cr_expect_eq(elf_symbol(&object, "__xstat", "GLIBC_2.2.5"), (uintptr_t)dlvsym(libc, "__xstat", "GLIBC_2.2.5"));
#else
	skip_test("libc has one version of everything on this machine");
#endif
}

Test(elf, an_indirect_function_is_not_found)
{
	struct elf_object object = libc_object();

	cr_assert_not_null(dlsym(RTLD_DEFAULT, "memcpy"));
	cr_expect_eq(elf_symbol(&object, "memcpy", NULL), 0, "and an older version does not stand in for it");
	cr_expect_eq(elf_symbol(&object, "strlen", NULL), 0);
	/* a sanitizer has its own strlen; on x86-64 rawmemchr is an indirect function too */
#ifdef __x86_64__
	cr_expect_eq(elf_next_symbol(0, "rawmemchr", NULL), 0);
#else
	cr_expect_eq(elf_next_symbol(0, "strlen", NULL), 0);
#endif
}

static int count_object(const struct elf_object *object, void *context)
{
	(void)object;
	++*(size_t *)context;
	return 0;
}

Test(elf, every_loaded_object_is_listed)
{
	size_t before = 0;
	size_t after = 0;

	elf_each_object(count_object, &before);
	load_fixture("watched_lazy.so");
	elf_each_object(count_object, &after);
	cr_expect_gt(before, 2);
	cr_expect_eq(after, before + 1);
}

Test(elf, loading_changes_the_generation_and_lookups_do_not)
{
	uint64_t first = loaded_generation(), second;
	void *handle;

	cr_expect_eq(loaded_generation(), first);
	handle = load_fixture("watched_lazy.so");
	second = loaded_generation();
	cr_expect_neq(second, first);
	dlclose(handle);
	load_fixture("watched_lazy.so");
	cr_expect_neq(loaded_generation(), second);
	cr_expect_neq(loaded_generation(), first);
}

static int copy_first(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	memcpy(context, info, sizeof(*info));
	return 1;
}

Test(elf, a_view_is_kept_until_an_object_is_unloaded)
{
	struct dl_phdr_info info;
	struct elf_object first, kept, anew;
	ElfW(Phdr) segments[32];

	cr_assert_eq(loaded_each(copy_first, &info), 1);
	cr_assert_leq(info.dlpi_phnum, COUNT(segments));
	memcpy(segments, info.dlpi_phdr, info.dlpi_phnum * sizeof(segments[0]));
	info.dlpi_phdr = segments;
	cr_assert_eq(loaded_view(&info, &first), 0);
	for (size_t i = 0; i < info.dlpi_phnum; i++) {
		segments[i].p_memsz += segments[i].p_type == PT_GNU_RELRO;
	}
	info.dlpi_adds++;
	cr_assert_eq(loaded_view(&info, &kept), 0);
	cr_expect_eq(kept.relro_end, first.relro_end);
	info.dlpi_subs++;
	cr_assert_eq(loaded_view(&info, &anew), 0);
	cr_expect_eq(anew.relro_end, first.relro_end + 1);
}

Test(elf, an_address_outside_all_objects_belongs_to_none)
{
	struct elf_object object;
	int local;

	cr_expect_not(elf_object_at((uintptr_t)&local, &object));
	cr_expect_not(elf_object_at(0, &object));
}

Test(elf, a_global_lookup_finds_what_the_loader_finds_outside_this_library)
{
	struct elf_object object;
	uintptr_t found = elf_next_symbol(0, "lib_stat", NULL);

	cr_expect_eq(found, 0);
	cr_assert(elf_object_at((uintptr_t)elf_next_symbol, &object));
	found = elf_next_symbol(0, "opendir", NULL);
	cr_expect_neq(found, 0);
	cr_expect_not(elf_contains(&object, found));
}

Test(elf, the_next_definition_comes_after_the_given_object)
{
	struct elf_object first = fixture("watched_lazy.so");
	struct elf_object second = fixture("watched_now.so");

	cr_expect_eq(elf_next_symbol(0, "lib_stat", NULL), elf_symbol(&first, "lib_stat", NULL));
	cr_expect_eq(elf_next_symbol((uintptr_t)first.dynamic, "lib_stat", NULL),
	             elf_symbol(&second, "lib_stat", NULL));
	cr_expect_eq(elf_next_symbol((uintptr_t)second.dynamic, "lib_stat", NULL), 0);
}

Test(elf, lookups_preserve_errno_and_dlerror)
{
	fixture("watched_lazy.so");
	cr_assert_null(dlopen("/nonexistent/library.so", RTLD_LAZY));
	errno = 77;
	elf_next_symbol(0, "fopen", NULL);
	elf_next_symbol(0, "lib_no_such", NULL);
	loaded_generation();
	cr_expect_eq(errno, 77);
	cr_expect_not_null(dlerror());
}

static int collect_needed(const char *name, void *context)
{
	return collect_import(&(struct elf_import){.name = name}, context);
}

Test(elf, needed_libraries_are_listed)
{
	struct elf_object object = fixture("watched_needed.so");
	struct names names = {.count = 0};

	cr_assert_eq(elf_each_needed(&object, collect_needed, &names), 0);
	cr_expect(holds(&names, "libc.so.6"));
	cr_expect(holds(&names, "watched_lazy.so"));
}

static int walk_within(struct dl_phdr_info *info, size_t size, void *context)
{
	struct rusage before, after;

	if (context) {
		return size > 0 && info->dlpi_phdr ? 3 : 0;
	}
	loaded_fork_prepare(); /* as another thread would, which waits for this walk */
	cr_assert_eq(getrusage(RUSAGE_THREAD, &before), 0);
	cr_expect_eq(loaded_each(walk_within, info), 3);
	cr_assert_eq(getrusage(RUSAGE_THREAD, &after), 0);
	loaded_fork_parent();
	cr_expect_lt(after.ru_nvcsw - before.ru_nvcsw, LOADED_WAIT_MS / 2, "it slept");
	return 7;
}

Test(elf, a_walk_within_a_walk_does_not_wait_for_a_fork)
{
	cr_expect_eq(loaded_each(walk_within, NULL), 7);
}
