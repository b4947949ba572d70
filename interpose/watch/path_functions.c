/* SPDX-License-Identifier: MIT */
/*
 * Objects are visited in load order, so all callers are bound to the first object that defines a function.
 */
#include "interpose/watch/watch.h"

#include "interpose/elf/elf.h"

#include <stdatomic.h>
#include <string.h>

/* The functions with which NVRTC and this library find files; before glibc 2.33 stat is __xstat. */
static const char *const names[] = {"statx", "__xstat", "access", "fopen", "fopen64",
                                    "open",  "open64",  "openat", "stat",  "realpath"};
#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

/* Returns true for objects whose functions do not count: this library, libpthread and sanitizer runtimes. */
static bool passes_on(const struct elf_object *object)
{
	return elf_contains(object, (uintptr_t)&names) ||
	       (object->soname && strcmp(object->soname, "libpthread.so.0") == 0) ||
	       elf_symbol(object, "__sanitizer_set_death_callback", NULL) != 0;
}

/* Notes in `context`, for each function, base + 1 of the first object that defines it; 0: none does yet. */
static int note_owners(const struct elf_object *object, void *context)
{
	uintptr_t *owners = context;
	size_t defined = 0;

	for (size_t i = 0; i < NAME_COUNT; i++) {
		if (elf_symbol(object, names[i], NULL) != 0) {
			defined |= (size_t)1 << i;
		}
	}
	if (!defined || passes_on(object)) {
		return 0;
	}
	for (size_t i = 0; i < NAME_COUNT; i++) {
		if (!owners[i] && (defined >> i & 1)) {
			owners[i] = object->base + 1;
		}
	}
	return owners[0] != 0; /* libc defines statx (from 2.28), so no later object is needed once it was found */
}

static bool compare_owners(void)
{
	uintptr_t owners[NAME_COUNT] = {0};
	uintptr_t first = 0;

	(void)elf_each_object(note_owners, owners);
	for (size_t i = 0; i < NAME_COUNT; i++) {
		first = first ? first : owners[i];
		if (owners[i] && owners[i] != first) {
			return false;
		}
	}
	return true;
}

bool path_functions_agree(void)
{
	static _Atomic signed char known; /* 1: they do, -1: they do not */
	signed char now = atomic_load_explicit(&known, memory_order_relaxed);

	if (now == 0) {
		now = compare_owners() ? 1 : -1;
		atomic_store_explicit(&known, now, memory_order_relaxed);
	}
	return now > 0;
}
