/* SPDX-License-Identifier: MIT */
#include "interpose/elf/elf.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/auxv.h>

struct walk {
	int (*each)(const struct elf_object *object, void *context);
	void *context;
	uintptr_t vdso;
};

static int walk_one(struct dl_phdr_info *info, size_t size, void *context)
{
	struct walk *walk = context;
	struct elf_object object;

	(void)size;
	if (elf_view_quickly(info, &object) < 0 || (walk->vdso && elf_contains(&object, walk->vdso))) {
		return 0;
	}
	return walk->each(&object, walk->context);
}

int elf_each_object(int (*each)(const struct elf_object *object, void *context), void *context)
{
	int saved_errno = errno; /* getauxval reports a missing entry through it */
	struct walk walk = {.each = each, .context = context, .vdso = getauxval(AT_SYSINFO_EHDR)};

	errno = saved_errno;
	return dl_iterate_phdr(walk_one, &walk);
}

static int read_generation(struct dl_phdr_info *info, size_t size, void *context)
{
	struct elf_generation *generation = context;

	(void)size;
	generation->loads = info->dlpi_adds;
	generation->unloads = info->dlpi_subs;
	return 1;
}

struct elf_generation elf_generation(void)
{
	struct elf_generation generation = {0, 0};

	dl_iterate_phdr(read_generation, &generation);
	return generation;
}

struct holder {
	uintptr_t address, vdso;
	struct elf_object *ret_object;
	bool found;
};

/*
 * Programs that look up each function before each use call this often, so only the dynamic section of the right object
 * is read.
 */
static int view_holder(struct dl_phdr_info *info, size_t size, void *context)
{
	struct holder *holder = context;
	const struct elf_object segments = {
	    .base = info->dlpi_addr, .phdr = info->dlpi_phdr, .phdr_count = info->dlpi_phnum};

	(void)size;
	if (!elf_contains(&segments, holder->address)) {
		return 0;
	}
	holder->found =
	    !(holder->vdso && elf_contains(&segments, holder->vdso)) && elf_view_quickly(info, holder->ret_object) == 0;
	return 1;
}

bool elf_object_at(uintptr_t address, struct elf_object *ret_object)
{
	int saved_errno = errno;
	struct holder holder = {.address = address, .vdso = getauxval(AT_SYSINFO_EHDR), .ret_object = ret_object};

	errno = saved_errno;
	dl_iterate_phdr(view_holder, &holder);
	return holder.found;
}

struct scope {
	const char *name;
	const char *version;
	uintptr_t after; /* set to 0 when the walk has passed that object */
	uintptr_t skip;
	uintptr_t found;
};

/* As in the loader, the first definition in load order is used. */
static int scope_one(const struct elf_object *object, void *context)
{
	struct scope *scope = context;

	if (scope->after) {
		if (elf_contains(object, scope->after)) {
			scope->after = 0;
		}
		return 0;
	}
	if (!elf_finds(object, scope->name, scope->version, &scope->found)) {
		return 0;
	}
	if (elf_contains(object, scope->skip) || elf_is_copy(object)) {
		scope->found = 0;
		return 0;
	}
	return 1;
}

uintptr_t elf_next_symbol(uintptr_t after, const char *name, const char *version)
{
	struct scope scope = {.name = name, .version = version, .after = after, .skip = (uintptr_t)elf_next_symbol};

	elf_each_object(scope_one, &scope);
	return scope.found;
}

uintptr_t elf_global_symbol(const char *name, const char *version)
{
	return elf_next_symbol(0, name, version);
}

/* Stored as one atomic value, so concurrent first calls compute it twice with the same result. */
enum active { ACTIVE_UNKNOWN, ACTIVE_THIS, ACTIVE_ANOTHER };

static _Atomic int active; /* enum active */

/*
 * Stops at the first copy in load order. A program that is linked statically with this library, as tests are, exports
 * no marker.
 */
static int decide_copy(const struct elf_object *object, void *context)
{
	(void)context;
	if (elf_contains(object, (uintptr_t)&active)) {
		return ACTIVE_THIS;
	}
	return elf_is_copy(object) ? ACTIVE_ANOTHER : ACTIVE_UNKNOWN;
}

bool elf_another_copy_is_active(void)
{
	int now = atomic_load_explicit(&active, memory_order_relaxed);

	if (now == ACTIVE_UNKNOWN) {
		now = elf_each_object(decide_copy, NULL);
		atomic_store_explicit(&active, now, memory_order_relaxed);
	}
	return now == ACTIVE_ANOTHER;
}
