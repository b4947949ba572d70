/* SPDX-License-Identifier: MIT */
/* What the tests of elf share: views of libraries, names of imports, build-ids by other means. */
#ifndef TESTS_UNIT_ELF_FIXTURE_H
#define TESTS_UNIT_ELF_FIXTURE_H

#include "interpose/elf/elf.h"
#include "watched_fixture.h"

#define FIXTURE_EXPORT "lib_fopen"

static inline struct elf_object fixture(const char *name)
{
	return object_of(load_fixture(name), FIXTURE_EXPORT);
}

static inline struct elf_object libc_object(void)
{
	return object_of(load("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), "fopen");
}

struct names {
	const char *name[2000];
	size_t count;
};

static inline bool holds(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++) {
		if (strcmp(names->name[i], name) == 0) {
			return true;
		}
	}
	return false;
}

static inline int collect_import(const struct elf_import *import, void *context)
{
	struct names *names = context;

	if (!holds(names, import->name)) {
		cr_assert_lt(names->count, 2000);
		names->name[names->count++] = import->name;
	}
	return 0;
}

/* The same number, found by walking the symbol table. In DT_GNU_HASH undefined symbols come before the defined ones. */
static inline size_t undefined_symbols(const struct elf_object *object, const struct names *imports,
                                       size_t *ret_missing)
{
	struct elf_hash hash;
	const size_t symbols = object->gnu_hash && elf_hash_open(object, &hash) ? hash.first : object->symbol_count;
	size_t count = 0;

	*ret_missing = 0;
	cr_assert_lt(symbols, 2000);
	for (size_t i = 1; i < symbols; i++) {
		const ElfW(Sym) *symbol = &object->symbols[i];

		if (symbol->st_shndx == SHN_UNDEF && object->strings[symbol->st_name]) {
			count++;
			*ret_missing += !holds(imports, object->strings + symbol->st_name);
		}
	}
	return count;
}

static inline struct names imports_of(const struct elf_object *object)
{
	struct names names = {.count = 0};

	cr_assert_eq(elf_each_import(object, collect_import, &names), 0);
	return names;
}

static inline size_t read_start(const char *path, uint8_t *bytes, size_t size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	cr_assert_geq(file, 0);
	got = read(file, bytes, size);
	close(file);
	cr_assert_gt(got, 0);
	return (size_t)got;
}

/* Uses the section, because PT_NOTE may be wrong. Also expects the build-id in the file's first pages. */
static inline size_t read_fixture(const char *name, uint8_t *bytes, size_t size)
{
	char path[PATH_MAX];

	fixture_path(name, path);
	return read_start(path, bytes, size);
}

static inline bool expect_build_id_of_readelf(const struct elf_object *object, const char *path)
{
	static uint8_t start[16384];
	char command[PATH_MAX + 200];
	char text[200] = "";
	char ours[200] = "";
	const uint8_t *id, *in_file;
	size_t size, size_in_file;
	FILE *stream;

	cr_assert_eq(elf_build_id(object, &id, &size), 0);
	for (size_t i = 0; i < size; i++) {
		sprintf(ours + 2 * i, "%02x", id[i]);
	}
	snprintf(command, sizeof(command),
	         "readelf -x .note.gnu.build-id '%s' 2>/dev/null |"
	         " awk '/^ *0x/ { s = s $2 $3 $4 $5 } END { print substr(s, 33, 40) }'",
	         path);
	stream = popen(command, "r");
	cr_assert_not_null(stream);
	skip_unless(fscanf(stream, "%199s", text) == 1, "no readelf");
	pclose(stream);
	cr_expect_str_eq(ours, text);
	if (elf_build_id_in_file(start, read_start(path, start, sizeof(start)), &in_file, &size_in_file) != 0) {
		return false;
	}
	cr_expect_eq(size_in_file, size);
	cr_expect_arr_eq(in_file, id, size);
	return true;
}

#endif
