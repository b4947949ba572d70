/* SPDX-License-Identifier: MIT */
/*
 * Objects are visited in load order, so all callers are bound to the first object that defines a function. If that
 * object defines some of them only, the others come from another one.
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

enum agreement { AGREEMENT_UNKNOWN, AGREEMENT_FULL, AGREEMENT_NONE };

/* Judges the first object that defines any of the functions; libc defines all that there are. */
static int judge_object(const struct elf_object *object, void *context)
{
	size_t defined = 0;

	(void)context;
	for (size_t i = 0; i < NAME_COUNT; i++) {
		defined += elf_symbol(object, names[i], NULL) != 0;
	}
	if (defined == 0 || passes_on(object)) {
		return AGREEMENT_UNKNOWN;
	}
	return defined == NAME_COUNT || (object->soname && strcmp(object->soname, "libc.so.6") == 0) ? AGREEMENT_FULL
	                                                                                             : AGREEMENT_NONE;
}

bool path_functions_agree(void)
{
	static _Atomic int known; /* enum agreement */
	int now = atomic_load_explicit(&known, memory_order_relaxed);

	if (now == AGREEMENT_UNKNOWN) {
		now = elf_each_object(judge_object, NULL);
		atomic_store_explicit(&known, now, memory_order_relaxed);
	}
	return now != AGREEMENT_NONE;
}
