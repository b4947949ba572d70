/* SPDX-License-Identifier: MIT */
#include "interpose/elf/elf.h"

#include "interpose/elf/loaded.h"

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
	if (loaded_view(info, &object) < 0 || (walk->vdso && elf_contains(&object, walk->vdso))) {
		return 0;
	}
	return walk->each(&object, walk->context);
}

int elf_each_object(int (*each)(const struct elf_object *object, void *context), void *context)
{
	int saved_errno = errno; /* getauxval reports a missing entry through it */
	struct walk walk = {.each = each, .context = context, .vdso = getauxval(AT_SYSINFO_EHDR)};

	errno = saved_errno;
	return loaded_each(walk_one, &walk);
}

struct holder {
	uintptr_t address;
	struct elf_object *ret_object;
};

static int copy_holder(const struct elf_object *object, void *context)
{
	const struct holder *holder = context;
	bool holds = elf_contains(object, holder->address);

	if (holds) {
		*holder->ret_object = *object;
	}
	return holds;
}

bool elf_object_at(uintptr_t address, struct elf_object *ret_object)
{
	struct holder holder = {address, ret_object};

	return elf_each_object(copy_holder, &holder) == 1;
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

/* ---- for the first dlsym of a process, when dl_iterate_phdr cannot be called (elf.h) */

/* The dynamic section of this object. link.h does not declare it hidden, so it could be another object's. */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden"))); /* NOLINT(readability-redundant-declaration) */

/*
 * Returns true if the object defines the symbol and is not a copy of this library. A link map does not contain the
 * segments, and the ELF header need not be at l_addr. So the view has one segment that covers all memory, and the
 * tables of the dynamic section are trusted, as the loader trusts them.
 */
static bool finds_in(const struct link_map *map, const char *name, const char *version, uintptr_t *ret_address)
{
	const ElfW(Phdr) phdr[] = {
	    {.p_type = PT_LOAD, .p_vaddr = -map->l_addr, .p_memsz = UINTPTR_MAX},
	    {.p_type = PT_DYNAMIC, .p_vaddr = (uintptr_t)map->l_ld - map->l_addr},
	};
	const struct dl_phdr_info info = {
	    .dlpi_addr = map->l_addr, .dlpi_name = map->l_name, .dlpi_phdr = phdr, .dlpi_phnum = 2};
	struct elf_object object;

	return elf_view(&info, &object) == 0 && elf_finds(&object, name, version, ret_address) && !elf_is_copy(&object);
}

uintptr_t elf_next_symbol_early(const char *name, const char *version)
{
	uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
	int saved_errno = errno;
	uintptr_t found = 0;
	bool passed = false;

	for (const struct link_map *map = loaded_list(); map; map = map->l_next) {
		if (!passed) {
			passed = map->l_ld == _DYNAMIC;
		} else if (map->l_addr != vdso && finds_in(map, name, version, &found)) {
			errno = saved_errno;
			return found;
		}
	}
	errno = saved_errno;
	return 0;
}

/* ---- copies of this library */

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
