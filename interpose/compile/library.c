/* SPDX-License-Identifier: MIT */
/*
 * Records are in an array of LIBRARIES_MAX slots, which only grows, because each thunk belongs to one slot for the life
 * of the process.
 */
#include "interpose/compile/library.h"

#include "cache/fork_mutex.h"
#include "interpose/compilers.h"
#include "interpose/elf/loaded.h"
#include "interpose/elf/next_symbol.h"

#include <errno.h>
#include <string.h>

struct search {
	const struct node *node;
	struct elf_object first;
	size_t count;
};

static struct library libraries[LIBRARIES_MAX];
static _Atomic int library_count;
static struct fork_mutex adopt_lock = FORK_MUTEX_INITIALIZER;

int library_slots(void)
{
	return atomic_load_explicit(&library_count, memory_order_acquire);
}

struct library *library_in_slot(int slot)
{
	return &libraries[slot];
}

/*
 * Returns the object's node if it is a compiler's library, and neither this library nor a copy of it; otherwise NULL.
 * The marker of copies is checked last: most objects define no compiler's version, and a hit checks all objects.
 */
static struct node *node_of(const struct elf_object *object)
{
	struct node *node = elf_contains(object, (uintptr_t)&libraries) ? NULL : compiler_node_of(object);

	return node && !elf_is_copy(object) ? node : NULL;
}

/*
 * Returns true if the object is still the build that was recorded. Until a library is pinned, it may be unloaded, and
 * another build may be loaded at the same address from the same path (an upgrade, a changed link). Without a build-id,
 * the sizes of the string tables are compared.
 */
static bool same_build(const struct library *library, const struct elf_object *object)
{
	int state = atomic_load_explicit(&library->state, memory_order_acquire);
	const uint8_t *id;
	size_t id_size;

	if (state == STEP_DONE) {
		return true;
	}
	if (elf_build_id(object, &id, &id_size) != 0 || id_size > sizeof(library->build_id)) {
		return library->build_id_size == 0 && library->object.strings_size == object->strings_size;
	}
	return id_size == library->build_id_size && memcmp(id, library->build_id, id_size) == 0;
}

static struct library *known_library(const struct elf_object *object)
{
	int count = library_slots();

	for (int i = 0; i < count; i++) {
		if (libraries[i].object.base == object->base && libraries[i].object.dynamic == object->dynamic &&
		    strcmp(libraries[i].path, object->path) == 0 && same_build(&libraries[i], object)) {
			return &libraries[i];
		}
	}
	return NULL;
}

/*
 * Returns the record of the library, added if necessary. NULL: no slot is free, or the path is too long. `now` was read
 * before `object`.
 */
static struct library *library_adopt(const struct elf_object *object, struct node *node, uint64_t now)
{
	struct library *library = known_library(object);
	const uint8_t *id;
	size_t id_size;
	int count;

	if (library || strlen(object->path) >= sizeof(library->path)) {
		return library;
	}
	fork_mutex_lock(&adopt_lock);
	library = known_library(object);
	count = atomic_load_explicit(&library_count, memory_order_relaxed);
	if (library || count == LIBRARIES_MAX) {
		goto out;
	}
	library = &libraries[count];
	library->slot = count;
	library->node = node;
	library->compiler = node->compiler;
	memcpy(library->path, object->path, strlen(object->path) + 1);
	library->object = *object;
	library->object.path = library->path;
	library->adopted = now;
	if (elf_build_id(object, &id, &id_size) == 0 && id_size <= sizeof(library->build_id)) {
		memcpy(library->build_id, id, id_size);
		library->build_id_size = id_size;
	}
	atomic_store_explicit(&library_count, count + 1, memory_order_release);
out:
	fork_mutex_unlock(&adopt_lock);
	return library;
}

static int count_library(const struct elf_object *object, void *context)
{
	struct search *search = context;

	if (node_of(object) == search->node && search->count++ == 0) {
		search->first = *object;
	}
	return 0;
}

/*
 * Used if several libraries of one node are loaded. The loader would have bound the caller's reference in the global
 * scope first, then in the caller's own scope; finds the library that this yields.
 */
static bool find_bound(const struct node *node, void *caller, struct elf_object *ret_object)
{
	uintptr_t address = (uintptr_t)next_symbol(RTLD_NEXT, node->landmark, node->name, NEXT_SYMBOL_DLVSYM);

	if (!address && elf_object_at((uintptr_t)caller, ret_object) && ret_object->path[0]) {
		address = (uintptr_t)next_symbol_in(ret_object->path, node->landmark, node->name, NEXT_SYMBOL_DLVSYM);
	}
	return address && elf_object_at(address, ret_object) && node_of(ret_object) == node;
}

/* Returns how many libraries of the node are loaded, and in `ret_object` the one that the call is for. */
static size_t choose_library(const struct node *node, void *caller, struct elf_object *ret_object)
{
	struct search search = {.node = node};

	(void)elf_each_object(count_library, &search);
	if (search.count > 0 && (search.count == 1 || !find_bound(node, caller, ret_object))) {
		*ret_object = search.first;
	}
	return search.count;
}

/* Returns the library of a node for a call from `caller`, adopting it if necessary. NULL: none is loaded. */
static struct library *library_of_node(struct node *node, void *caller)
{
	uint64_t now = loaded_generation();
	struct library *library = atomic_load_explicit(&node->library, memory_order_acquire);
	struct elf_object object;
	size_t count;

	/*
	 * `library` is compared again after the number, because another thread may have stored another library's
	 * meanwhile.
	 */
	if (library && atomic_load_explicit(&node->generation, memory_order_acquire) == now &&
	    atomic_load_explicit(&node->library, memory_order_relaxed) == library) {
		return library;
	}
	count = choose_library(node, caller, &object);
	library = count ? library_adopt(&object, node, now) : NULL;
	if (library && count == 1) {
		atomic_store_explicit(&node->library, NULL, memory_order_relaxed);
		atomic_store_explicit(&node->generation, now, memory_order_release);
		atomic_store_explicit(&node->library, library, memory_order_release);
	}
	return library;
}

struct library *library_of_door(const struct door *door)
{
	return door->library ? door->library : library_of_node(door->node, door->caller);
}

/* Finds a function of a library that has no slot. */
static real_function *function_of_node(struct node *node, void *caller, size_t function)
{
	struct elf_object object;
	char room[NODE_NAME_BYTES];

	return choose_library(node, caller, &object)
	           ? (real_function *)elf_symbol(&object, node_name(node, function, room), node->name)
	           : NULL;
}

real_function *library_function(const struct door *door, const struct library *known, size_t function)
{
	const struct library *library = known ? known : library_of_door(door);

	return library ? library_real(library, function) : function_of_node(door->node, door->caller, function);
}

struct library *library_at(uintptr_t address)
{
	const uint64_t now = loaded_generation();
	const int count = library_slots();
	struct elf_object object;

	for (int i = 0; i < count; i++) { /* a ready library is pinned; others stand while nothing else was loaded */
		struct library *known = &libraries[i];

		if ((known->adopted == now || atomic_load_explicit(&known->state, memory_order_acquire) == STEP_DONE) &&
		    elf_contains(&known->object, address)) {
			return known;
		}
	}
	return elf_object_at(address, &object) ? library_of_object(&object, now) : NULL;
}

bool library_was_at(uintptr_t base)
{
	int count = library_slots();

	while (count > 0 && libraries[count - 1].object.base != base) {
		count--;
	}
	return count > 0;
}

struct library *library_of_object(const struct elf_object *object, uint64_t now)
{
	struct node *node = node_of(object);

	return node ? library_adopt(object, node, now) : NULL;
}

/* Only the thread that called fork() exists in the child, so no thread completes a preparation or patch in progress. */
void library_fork_child(void)
{
	int count = atomic_load_explicit(&library_count, memory_order_relaxed);

	for (int i = 0; i < count; i++) {
		int preparing = STEP_UNDER_WAY, patching = STEP_UNDER_WAY, waking = STEP_UNDER_WAY;

		atomic_compare_exchange_strong(&libraries[i].state, &preparing, STEP_NOT_YET);
		atomic_compare_exchange_strong(&libraries[i].patching, &patching, STEP_REFUSED);
		atomic_compare_exchange_strong(&libraries[i].waking, &waking, STEP_DONE);
	}
	(void)fork_mutex_fork_child(&adopt_lock);
}
