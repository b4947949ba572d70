/* SPDX-License-Identifier: MIT */
/* Finding the libraries that test_elf.c and test_watch.c look into. */
#ifndef TESTS_UNIT_WATCHED_FIXTURE_H
#define TESTS_UNIT_WATCHED_FIXTURE_H

#include "interpose/elf/elf.h"
#include "interpose/elf/next_symbol.h"
#include "tests/unit/support.h"

#include <dlfcn.h>

/* tests/fixtures/<name> beside this program, or under $WATCHED_FIXTURES. */
static inline void fixture_path(const char *name, char path[PATH_MAX])
{
	const char *directory = getenv("WATCHED_FIXTURES");
	char self[PATH_MAX / 2] = "";
	ssize_t size;

	if (directory) {
		snprintf(path, PATH_MAX, "%s/%s", directory, name);
		return;
	}
	size = readlink("/proc/self/exe", self, sizeof(self) - 1);
	cr_assert_gt(size, 0);
	*strrchr(self, '/') = '\0';
	snprintf(path, PATH_MAX, "%s/tests/fixtures/%s", self, name);
}

/* A watch_resolver. */
static inline uintptr_t resolve_here(const struct elf_object *library, const char *name, const char *version)
{
	return library ? (uintptr_t)dlsym(RTLD_DEFAULT, name) : elf_next_symbol(0, name, version);
}

static inline void *load(const char *path, int flags)
{
	void *handle = dlopen(path, flags);

	cr_assert_not_null(handle, "cannot load '%s': %s", path, dlerror());
	return handle;
}

static inline void *load_fixture(const char *name)
{
	char path[PATH_MAX];

	fixture_path(name, path);
	return load(path, RTLD_LAZY);
}

/* Returns the object with its symbols; elf_object_at() only bounds their number. */
static inline struct elf_object object_of(void *handle, const char *function)
{
	struct elf_object object;
	void *address = dlsym(handle, function);
	struct dl_phdr_info info = {0};

	cr_assert_not_null(address, "no %s", function);
	cr_assert(elf_object_at((uintptr_t)address, &object));
	info.dlpi_addr = object.base;
	info.dlpi_name = object.path;
	info.dlpi_phdr = object.phdr;
	info.dlpi_phnum = (ElfW(Half))object.phdr_count;
	cr_assert_eq(elf_view(&info, &object), 0);
	return object;
}

#endif
