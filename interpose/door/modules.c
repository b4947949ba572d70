/* SPDX-License-Identifier: MIT */
/*
 * Slots are written while the loader's lock is held (loaded_each()), because an object may be unloaded at any other
 * time.
 */
#include "interpose/door/modules.h"

#include "interpose/compile/host_call.h"
#include "interpose/compilers.h"
#include "interpose/door/doors.h"
#include "interpose/elf/elf.h"
#include "interpose/elf/loaded.h"
#include "interpose/elf/plain.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

uint64_t modules_seen;

static _Atomic int settling;     /* id of the process in which a thread is at work */
static _Atomic uint64_t settled; /* loaded_generation() of the last time */
static _Atomic uint64_t known;   /* objects of the list at that time, and dlpi_subs */
static _Atomic bool has_copies;  /* an object has a compiler's functions without their version, perhaps for itself */

/* ---- the objects ---- */

struct pass {
	uint64_t now; /* loaded_generation() */
	uint64_t known;
	uint64_t index;      /* of objects; the loader appends new ones */
	uint64_t adds, subs; /* dlpi_adds and dlpi_subs when the libraries were collected */
	bool at_start;       /* of the process */
	bool has_new_library;
	bool wrote_early; /* a slot that was not bound yet */
	struct library *libraries[LIBRARIES_MAX];
	size_t count;
	bool unreached[COMPILER_COUNT]; /* the first unreached module of this compiler was found */
};

/*
 * Takes the next object. Returns true if it has perhaps been loaded since the last pass. dlpi_adds and dlpi_subs count
 * the objects of all namespaces, so they do not tell how long the list is.
 */
static bool next_is_new(struct pass *pass, const struct dl_phdr_info *info)
{
	uint64_t place = pass->index++;

	return pass->known <= info->dlpi_subs || place >= pass->known - info->dlpi_subs;
}

/* Collects the compilers' libraries. */
static int view_library(struct dl_phdr_info *info, size_t size, void *context)
{
	struct pass *pass = context;
	bool is_added = next_is_new(pass, info);
	struct library *library;
	struct elf_object object;

	(void)size;
	pass->adds = info->dlpi_adds;
	pass->subs = info->dlpi_subs;
	if ((!is_added && !library_was_at(info->dlpi_addr)) || loaded_view(info, &object) < 0 ||
	    !compiler_is_defined(&object)) {
		return 0;
	}
	library = library_of_object(&object, pass->now);
	if (library && pass->count < LIBRARIES_MAX) {
		pass->libraries[pass->count++] = library;
		pass->has_new_library = pass->has_new_library || is_added;
	} else if (!library && !elf_is_copy(&object)) {
		atomic_store_explicit(&has_copies, true, memory_order_relaxed);
	}
	return 0;
}

/* ---- one import of a module ---- */

enum import_way { WAY_OTHER, WAY_REACHED, WAY_TO_WRITE, WAY_MISSED };

static struct library *holder_of(const struct pass *pass, uintptr_t address)
{
	for (size_t i = 0; i < pass->count; i++) {
		if (elf_contains(&pass->libraries[i]->object, address)) {
			return pass->libraries[i];
		}
	}
	return NULL;
}

/* Returns true if this library exports the name with that version. */
static bool is_exported(const struct elf_import *import)
{
	struct elf_object ours;

	return import->version && elf_object_at((uintptr_t)__ehdr_start, &ours) &&
	       elf_symbol(&ours, import->name, import->version);
}

/*
 * Returns the library to which the loader will bind a slot that it has not bound yet, and the function's address. NULL:
 * none, or more than one has the function; `ret_address` then tells which.
 */
static struct library *bound_later(const struct pass *pass, const struct compiler *compiler,
                                   const struct elf_import *import, uintptr_t *ret_address)
{
	struct library *found = NULL;

	*ret_address = 0;
	for (size_t i = 0; i < pass->count; i++) {
		struct library *library = pass->libraries[i];
		uintptr_t address = library->compiler != compiler ||
		                            (import->version && !plain_equal(import->version, library->node->name))
		                        ? 0
		                        : elf_symbol(&library->object, import->name, import->version);

		if (address && *ret_address) {
			return NULL;
		}
		if (address) {
			found = library;
			*ret_address = address;
		}
	}
	return import->version || !has_copies ? found : NULL;
}

static int find_entry(const struct elf_import *import, void *context)
{
	struct elf_import *wanted = context;

	if (import->entry != wanted->entry) {
		return 0;
	}
	*wanted = *import;
	return 1;
}

static enum import_way way_by_address(const struct pass *pass, const struct elf_import *import, uintptr_t address);

/* Returns where an import leads, and in `ret_door` what its slot must hold with WAY_TO_WRITE. */
static enum import_way way_of(const struct pass *pass, const struct elf_object *object, const struct elf_import *import,
                              void **ret_door)
{
	const struct compiler *compiler = compiler_to_intercept(import->name);
	struct library *library;
	uintptr_t address;

	if (!compiler) {
		return WAY_OTHER;
	}
	if (!import->place) {
		return WAY_MISSED;
	}
	address = (uintptr_t)__atomic_load_n(import->place, __ATOMIC_RELAXED);
	if (elf_is_ours(address)) {
		return WAY_REACHED;
	}
	library = holder_of(pass, address);
	if (!library && elf_contains(object, address)) {
		/* not bound yet: the program, and what is loaded with it, will be bound to the export */
		if ((pass->at_start || !object->path[0]) && is_exported(import)) {
			return WAY_REACHED;
		}
		library = bound_later(pass, compiler, import, &address);
		if (!library && address) {
			return is_exported(import) ? WAY_REACHED : WAY_MISSED;
		}
	}
	if (!library) {
		return address ? way_by_address(pass, import, address) : WAY_OTHER;
	}
	*ret_door = doors_of_library(library, import->name, (void *)address);
	return *ret_door ? WAY_TO_WRITE : WAY_MISSED;
}

/*
 * If another preload defines the function, it looks the next one up, and then gets a door. If the program has an entry
 * for the function, the program's slot, which is looked at first, tells. Otherwise a tool has written the slot, and may
 * have kept the address that was there.
 */
static enum import_way way_by_address(const struct pass *pass, const struct elf_import *import, uintptr_t address)
{
	struct elf_object object;
	struct elf_import of_program = {.entry = address};
	enum import_way way;
	void *door;

	if (!elf_object_at(address, &object)) {
		return WAY_MISSED;
	}
	if (elf_symbol(&object, import->name, NULL) == address) {
		return WAY_OTHER;
	}
	if (import->entry) { /* the program's own slot: following an entry from there might never end */
		return WAY_MISSED;
	}
	way = elf_each_import(&object, find_entry, &of_program) == 1 ? way_of(pass, &object, &of_program, &door)
	                                                             : WAY_MISSED;
	return way == WAY_TO_WRITE ? WAY_MISSED : way;
}

/* ---- one module ---- */

struct module {
	struct pass *pass;
	const struct elf_object *object;
	bool found[COMPILER_COUNT][WAY_MISSED + 1];
};

static int is_compilers(const struct elf_import *import, void *context)
{
	(void)context;
	return (import->name[0] == 'n' || plain_begins(import->name, "__n")) && compiler_to_intercept(import->name);
}

static int settle_import(const struct elf_import *import, void *context)
{
	struct module *module = context;
	struct pass *pass = module->pass;
	void *door;
	enum import_way way = way_of(pass, module->object, import, &door);
	const struct compiler *compiler = compiler_of_name(import->name);

	if (way == WAY_TO_WRITE) {
		bool early = !pass->at_start && elf_contains(module->object, (uintptr_t)*import->place);

		way = elf_store(module->object, import->place, door) == 0 ? WAY_REACHED : WAY_MISSED;
		pass->wrote_early = pass->wrote_early || (early && way == WAY_REACHED);
	}
	for (size_t i = 0; i < COMPILER_COUNT; i++) {
		module->found[i][way] = module->found[i][way] || compilers[i] == compiler;
	}
	return 0;
}

/* Of each compiler the first module is reported. */
static void note_unreached(const struct module *module, size_t index)
{
	struct missed *missed = compilers[index]->missed;

	if (module->found[index][WAY_REACHED]) {
		atomic_store(&missed->in_part, true);
	}
	if (!atomic_load(&missed->module)) {
		size_t size = strlen(module->object->path);

		memcpy(missed->path, module->object->path, size < sizeof(missed->path) ? size : 0);
		atomic_store(&missed->module, missed->path);
		module->pass->unreached[index] = true;
	}
}

static void settle_module(struct pass *pass, const struct elf_object *object)
{
	struct module module = {.pass = pass, .object = object};

	(void)elf_each_import(object, settle_import, &module);
	for (size_t i = 0; i < COMPILER_COUNT; i++) {
		if (module.found[i][WAY_MISSED]) {
			note_unreached(&module, i);
		}
	}
}

static int view_module(struct dl_phdr_info *info, size_t size, void *context)
{
	struct pass *pass = context;
	bool is_first = pass->index == 0;
	bool concerned = next_is_new(pass, info) || pass->has_new_library;
	struct elf_object object;

	(void)size;
	if (is_first && (loaded_is_changing() || info->dlpi_adds != pass->adds || info->dlpi_subs != pass->subs)) {
		return -EBUSY;
	}
	if (concerned && loaded_view(info, &object) == 0 && !elf_is_ours((uintptr_t)object.dynamic) &&
	    !holder_of(pass, (uintptr_t)object.dynamic) && elf_each_undefined(&object, is_compilers, NULL) != 0 &&
	    !elf_is_copy(&object)) {
		settle_module(pass, &object);
	}
	return 0;
}

/* ---- the moments ---- */

/*
 * Only one thread writes slots. A child that was forked meanwhile finds its parent's id. Returns false if a module was
 * perhaps not looked at.
 */
static bool settle_modules(struct pass *pass)
{
	int process = (int)getpid();
	int there = atomic_load(&settling);
	int error;

	if (there == process || !atomic_compare_exchange_strong(&settling, &there, process)) {
		return false;
	}
	pass->index = 0;
	error = loaded_each(view_module, pass);
	atomic_store(&settling, 0);
	for (size_t i = 0; i < COMPILER_COUNT; i++) {
		if (pass->unreached[i]) {
			host_call_unreached(compilers[i], compilers[i]->missed->path);
		}
	}
	return error == 0;
}

/*
 * A pass that another thread disturbs is made again at the next call. So is one that wrote a slot which was not bound
 * yet: a thread that calls by it has perhaps entered the loader before, and the loader then writes it again.
 */
static void settle(bool at_start)
{
	struct pass pass = {.now = loaded_generation(), .known = atomic_load(&known), .at_start = at_start};

	if (!elf_another_copy_is_active() &&
	    (loaded_each(view_library, &pass) != 0 || (pass.count > 0 && !settle_modules(&pass)) || pass.wrote_early)) {
		return;
	}
	if (pass.adds >= pass.now) { /* what was loaded since `now` is looked at once more */
		atomic_store(&known, pass.index + pass.subs - (pass.adds - pass.now));
	}
	atomic_store(&settled, pass.now);
	__atomic_store_n(&modules_seen, loaded_counter_value(pass.now), __ATOMIC_RELEASE);
}

void modules_settle(void)
{
	if (atomic_load_explicit(&settled, memory_order_acquire) != loaded_generation()) {
		settle(false);
	}
}

/* Returns the last part of a path; one pass, because every process that preloads the library pays for it. */
static const char *base_name(const char *path)
{
	const char *base = path;

	while (*path) {
		base = *path++ == '/' ? path : base;
	}
	return base;
}

/* What is loaded with the program is looked at only if it has a compiler, by the names of files. */
__attribute__((constructor)) static void start(void)
{
	for (const struct link_map *map = loaded_list(); map; map = map->l_next) {
		if (!elf_is_ours((uintptr_t)map->l_ld) && plain_begins(base_name(map->l_name), "libnv")) {
			settle(true);
			return;
		}
	}
}
