/* SPDX-License-Identifier: MIT */
/*
 * The states of one library's slots:
 *
 *     planned (elf_each_needed, elf_each_import) --all imports known--> resolved --elf_store--> patched
 *         \--an import is not in the table: -ENOTSUP  \--not found: -ENOTSUP \--mprotect fails: -EPERM
 *
 * The plan is complete before the first slot is written. If a page is protected by a tool, the slots before it stay
 * redirected; their replacements make the library's calls.
 */
#include "interpose/watch/watch.h"
#include "interpose/watch/imports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct patch {
	void **slot;
	void *replacement;
};

#define PATCHES_MAX 512 /* a function may have two slots, as data and for calls */

struct watch {
	struct arithmetic arithmetic;
	struct patch patches[PATCHES_MAX];
	size_t count;
};

struct plan {
	const struct elf_object *object;
	uintptr_t real[IMPORT_COUNT];
	struct watch *watch; /* what the library's slots will be */
	const char *reason;
};

/* Refuses all libraries but those whose functions the table of imports lists, libc and its family: -ENOTSUP. */
static int refuse_unknown_library(const char *name, void *context)
{
	static const char *const known[] = {"libc.so.",  "libm.so.",    "libdl.so.", "libpthread.so.",
	                                    "librt.so.", "libgcc_s.so", "ld-linux"};
	const char **ret_reason = context;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strncmp(name, known[i], strlen(known[i])) == 0) {
			return 0;
		}
	}
	*ret_reason = name;
	return -ENOTSUP;
}

/*
 * Returns true for a function that is not in the table, or a watched one whose slot cannot be redirected. A weak name
 * without a version does not belong to libc: the linker defines it, or a library that the compiler loads itself.
 */
static bool is_obstacle(const struct import_entry *entry, const struct elf_import *import)
{
	if (!entry) {
		return !(import->weak && !import->version);
	}
	return entry->replacement && !entry->is_arithmetic && !import->slot;
}

static int add_patch(struct watch *watch, const struct elf_import *import, const struct import_entry *entry)
{
	if (watch->count == PATCHES_MAX) {
		return -ENOTSUP;
	}
	watch->patches[watch->count++] = (struct patch){import->slot, (void *)entry->replacement};
	return 0;
}

static int plan_import(const struct elf_import *import, void *context)
{
	struct plan *plan = context;
	const struct import_entry *entry = imports_find(import->name);
	uintptr_t earlier, real;
	size_t id;

	plan->reason = import->name;
	if (is_obstacle(entry, import)) {
		return -ENOTSUP;
	}
	if (!entry) {
		return 0;
	}
	id = (size_t)(entry - imports);
	if (entry->is_arithmetic) {
		return arithmetic_add(&plan->watch->arithmetic, plan->object, import, entry, &plan->real[id])
		           ? add_patch(plan->watch, import, entry)
		           : 0;
	}
	if (!entry->replacement) {
		return 0;
	}
	real = plan->watch->arithmetic.resolve(NULL, import->name, import->version);
	if (!real) {
		/*
		 * A weak import that nothing defines is never called, and its slot is 0. Any other import without an
		 * address (perhaps an IFUNC) cannot be watched.
		 */
		return import->weak && atomic_load((_Atomic(uintptr_t) *)import->slot) == 0 ? 0 : -ENOTSUP;
	}
	/* One replacement has one real function, so two versions that are two functions cannot both be watched. */
	earlier = plan->real[id] ? plan->real[id] : atomic_load(&imports_real[id]);
	if (earlier && earlier != real) {
		return -ENOTSUP;
	}
	plan->real[id] = real;
	return add_patch(plan->watch, import, entry);
}

/*
 * Stores the real functions. Fails if another thread patched another library with other functions meanwhile. A function
 * that is stored but then not used does no harm.
 */
static int claim_functions(const struct plan *plan)
{
	for (size_t i = 0; i < IMPORT_COUNT; i++) {
		uintptr_t there = 0;

		if (plan->real[i] && !imports[i].is_arithmetic &&
		    !atomic_compare_exchange_strong(&imports_real[i], &there, plan->real[i]) &&
		    there != plan->real[i]) {
			return -ENOTSUP;
		}
	}
	return 0;
}

/* A thread that calls through a slot immediately finds the real function in imports_real. */
static int store_slots(const struct elf_object *object, const struct watch *watch)
{
	int error = 0;

	for (size_t i = 0; i < watch->count && error == 0; i++) {
		error = elf_store(object, watch->patches[i].slot, watch->patches[i].replacement);
	}
	return error;
}

int watch_patch(const struct elf_object *object, watch_resolver *resolve, struct watch **ret_watch,
                const char **ret_reason)
{
	/* Both are on the heap, because their kilobytes are too much for the small stacks of some hosts' threads. */
	struct plan *plan = calloc(1, sizeof(*plan));
	struct watch *watch = calloc(1, sizeof(*watch));
	int error = -ENOMEM;

	if (plan && watch) {
		plan->object = object;
		plan->watch = watch;
		watch->arithmetic.resolve = resolve;
		error = elf_each_needed(object, refuse_unknown_library, &plan->reason);
		error = error ? error : elf_each_import(object, plan_import, plan);
	}
	if (error == -ENOTSUP) {
		*ret_reason = plan->reason;
	}
	if (error == 0) {
		arithmetic_end(&watch->arithmetic, plan->real);
		error = claim_functions(plan);
		error = error ? error : store_slots(object, watch);
	}
	if (error == 0) {
		*ret_watch = watch;
	} else {
		free(watch);
	}
	free(plan);
	return error;
}

const struct arithmetic *watch_arithmetic(const struct watch *watch)
{
	return &watch->arithmetic;
}

/*
 * A slot can change after the patch: a thread that was inside the lazy resolver meanwhile writes the real function into
 * it.
 */
bool watch_verify(const struct watch *watch)
{
	for (size_t i = 0; i < watch->count; i++) {
		const struct patch *patch = &watch->patches[i];

		if (__atomic_load_n(patch->slot, __ATOMIC_ACQUIRE) != patch->replacement) {
			return false;
		}
	}
	return true;
}

/* ---- the functions that take paths ---- */

/* The functions with which NVRTC and this library find files; before glibc 2.33 stat is __xstat. */
static const char *const path_functions[] = {"statx", "__xstat", "access", "fopen", "fopen64",
                                             "open",  "open64",  "openat", "stat",  "realpath"};
#define NAME_COUNT (sizeof(path_functions) / sizeof(path_functions[0]))

/* Returns true for objects whose functions do not count: this library, libpthread and sanitizer runtimes. */
static bool passes_on(const struct elf_object *object)
{
	return elf_contains(object, (uintptr_t)&path_functions) ||
	       (object->soname && strcmp(object->soname, "libpthread.so.0") == 0) ||
	       elf_symbol(object, "__sanitizer_set_death_callback", NULL) != 0;
}

enum agreement { AGREEMENT_UNKNOWN, AGREEMENT_FULL, AGREEMENT_NONE };

/*
 * Objects come in load order, so all callers are bound to the first one that defines a function; if it defines some of
 * them only, the others come from another one. libc defines all that there are.
 */
static int judge_object(const struct elf_object *object, void *context)
{
	size_t defined = 0;

	(void)context;
	for (size_t i = 0; i < NAME_COUNT; i++) {
		defined += elf_symbol(object, path_functions[i], NULL) != 0;
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
