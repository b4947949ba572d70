/* SPDX-License-Identifier: MIT */
#include "watch_fixture.h"

WATCHED(watch);

/* The table. */

Test(watch, the_table_of_imports_is_sorted_and_searched_by_name)
{
	for (size_t i = 0; i < IMPORT_COUNT; i++) {
		cr_assert(i == 0 || strcmp(imports[i - 1].name, imports[i].name) < 0, "%s", imports[i].name);
		cr_assert_eq(imports_find(imports[i].name), &imports[i]);
	}
	cr_assert_not_null(imports_find("malloc"));
	cr_expect_null(imports_find("malloc")->replacement);
	cr_expect_not_null(imports_find("fopen")->replacement);
	cr_expect_null(imports_find("glob"));
	cr_expect_null(imports_find(""));
}

/* Slots. */

static int slot_state(const struct elf_import *import, void *context)
{
	const struct import_entry *entry = imports_find(import->name);

	if (entry && entry->replacement && import->slot) {
		int *counts = context;

		counts[*import->slot == (void *)*entry->replacement]++;
	}
	return 0;
}

static void expect_slots(const struct elf_object *object, bool replaced)
{
	int counts[2] = {0, 0};

	elf_each_import(object, slot_state, counts);
	cr_expect_gt(counts[replaced], 10);
	cr_expect_eq(counts[!replaced], 0);
}

static bool is_writable(uintptr_t address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[PATH_MAX + 100];
	bool writable = false;

	cr_assert_not_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		uintptr_t low, high;
		char mode[5];

		if (sscanf(line, "%lx-%lx %4s", &low, &high, mode) == 3 && address >= low && address < high) {
			writable = mode[1] == 'w';
		}
	}
	fclose(maps);
	return writable;
}

static void expect_watched(const char *variant)
{
	patched = patch_fixture(variant);
	void *(*address_of_unlink)(void) = dlsym(patched.handle, "lib_address_of_unlink");

	expect_slots(&patched.object, true);
	cr_expect(watch_verify(patched.watch));
	begin();
	cr_expect_eq(LIB(patched, fopen)("missing.h", "r"), NULL);
	cr_expect_eq(((int (*)(const char *))address_of_unlink())("missing.h"), -1);
	live_end(&trace);
	cr_expect_not_null(event_of("missing.h", TRACE_OPEN));
	cr_expect_eq(trace.tainted, TAINT_WRITE);
	cr_expect(watch_verify(patched.watch));
}

ROW(watch, a_lazily_bound_library_is_watched, expect_watched("watched_lazy.so"))
ROW(watch, a_library_bound_at_load_with_protected_slots_is_watched, expect_watched("watched_now.so"))
ROW(watch, a_library_without_a_plt_is_watched, expect_watched("watched_noplt.so"))

Test(watch, protected_pages_are_protected_again)
{
	patched = patch_fixture("watched_now.so");

	cr_assert_gt(patched.object.relro_end, patched.object.relro_start);
	cr_expect_not(is_writable(patched.object.relro_start));
	cr_expect_not(is_writable((patched.object.relro_end & ~(uintptr_t)4095) - 1));
}

Test(watch, two_libraries_are_watched_at_once)
{
	struct patched second = patch_fixture("watched_noplt.so");

	begin();
	LIB(patched, getenv)("FIRST");
	LIB(second, getenv)("SECOND");
	live_end(&trace);
	cr_expect(asked("FIRST") && asked("SECOND"));
}

static void expect_refused(const char *variant, watch_resolver *resolve, const char *why)
{
	struct elf_object object = object_of(load_fixture(variant), "lib_fopen");
	struct watch *watch = NULL;
	const char *reason = NULL;

	cr_expect_eq(watch_patch(&object, resolve, &watch, &reason), -ENOTSUP);
	cr_assert_not_null(reason);
	cr_expect_str_eq(reason, why);
	cr_expect_null(watch);
	expect_slots(&object, false);
}

ROW(watch, a_library_with_an_unknown_import_is_rejected_and_unchanged,
    expect_refused("watched_forbidden.so", resolve_here, "glob"))
ROW(watch, a_library_with_a_watched_function_in_its_data_is_rejected,
    expect_refused("watched_pointer.so", resolve_here, "fopen"))
ROW(watch, a_library_that_needs_an_unknown_library_is_rejected,
    expect_refused("watched_needed.so", resolve_here, "watched_lazy.so"))

static uintptr_t resolve_nothing(const struct elf_object *library, const char *name, const char *version)
{
	return strcmp(name, "mkdir") == 0 ? 0 : resolve_here(library, name, version);
}

ROW(watch, a_library_with_an_unresolved_function_is_rejected,
    expect_refused("watched_now.so", resolve_nothing, "mkdir"))

static uintptr_t resolve_elsewhere(const struct elf_object *library, const char *name, const char *version)
{
	return strcmp(name, "getenv") == 0 ? (uintptr_t)secure_getenv : resolve_here(library, name, version);
}

ROW(watch, one_replacement_does_not_serve_two_real_functions,
    expect_refused("watched_noplt.so", resolve_elsewhere, "getenv"))

struct overwrite {
	const char *name;
	void *value;
};

static int overwrite_slot(const struct elf_import *import, void *context)
{
	struct overwrite *overwrite = context;

	if (strcmp(import->name, overwrite->name) == 0) {
		*import->slot = overwrite->value;
		return 1;
	}
	return 0;
}

Test(watch, a_slot_that_is_overwritten_later_is_noticed)
{
	struct overwrite overwrite = {"fopen", dlsym(RTLD_DEFAULT, "fopen")};

	cr_assert(watch_verify(patched.watch));
	cr_assert_eq(elf_each_import(&patched.object, overwrite_slot, &overwrite), 1);
	cr_expect_not(watch_verify(patched.watch));
}

Test(watch, the_slots_of_dlopen_are_not_changed)
{
	patched = patch_fixture("watched_now.so");
	struct overwrite overwrite = {"dlopen", NULL};

	cr_expect_not_null(LIB(patched, dlopen)("libc.so.6", RTLD_LAZY | RTLD_NOLOAD));
	cr_expect_null(imports_find(overwrite.name)->replacement);
}
