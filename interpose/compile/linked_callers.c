/* SPDX-License-Identifier: MIT */

#include "interpose/compile/library.h"

#include "interpose/elf/loaded.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

/* Returns true if calls of this name on this node reach this library. */
static bool reaches_us(const struct node *node, const char *name)
{
	const struct compiler *compiler = node->compiler;

	if (compiler->exports || compiler->hallmark) {
		return compiler->exports && compiler->exports(node, name);
	}
	for (size_t i = 0; i < compiler->function_count; i++) {
		if (strcmp(name, compiler->functions[i].name) == 0 && node_exports(node, i)) {
			return true;
		}
	}
	return false;
}

static bool is_bypassing(const struct node *node, const char *name)
{
	const struct compiler *compiler = node->compiler;

	/* modules that link against private functions do not call them with a handle that the cache knows */
	if ((name[0] == '_' && !compiler->links_private) || !compiler->owns(name) || !compiler->wants_door(name)) {
		return false;
	}
	return !reaches_us(node, name) && !(compiler->only_gives && compiler->only_gives(name));
}

static int is_bypassing_import(const struct elf_import *import, void *context)
{
	const struct node *node = context;

	if (!import->version || strcmp(import->version, node->name) != 0) {
		return false;
	}
	/*
	 * If the import is bound to the library itself (RTLD_DEEPBIND), calls go directly to the compiler, even if the
	 * name is exported here.
	 */
	return is_bypassing(node, import->name) ||
	       (import->slot && node->compiler->owns(import->name) && node->compiler->wants_door(import->name) &&
	        library_holds(node, (uintptr_t)*import->slot));
}

/*
 * For libraries without versions: an undefined symbol is bound to the first definition, perhaps in a library loaded
 * later.
 */
static int is_bypassing_unversioned(const struct elf_import *import, void *context)
{
	return is_bypassing(context, import->name);
}

/* For elf_each_object(): returns nonzero if the object may call the compiler without this library. */
static int is_bypassing_object(const struct elf_object *object, void *context)
{
	const struct node *node = context;

	if (node->compiler->hallmark) {
		int result = elf_each_undefined(object, is_bypassing_unversioned, context);

		return result != -ENODATA ? result : elf_each_import(object, is_bypassing_unversioned, context) == 1;
	}
	return elf_needs_version(object, node->name) && elf_each_import(object, is_bypassing_import, context) == 1;
}

bool linked_callers_one_bypasses(const struct elf_object *object, const struct node *node)
{
	return is_bypassing_object(object, (void *)node) != 0;
}

/*
 * A positive answer stays valid after unloading: the modules may have changed process-wide state of the library, and
 * their handles may still exist.
 */
bool linked_callers_bypass(struct node *node)
{
	uint64_t generation = loaded_generation() << 1;
	uint64_t answer = atomic_load_explicit(&node->callers, memory_order_relaxed);

	if (answer & 1) {
		return true;
	}
	if ((answer & ~UINT64_C(1)) != generation) {
		answer = generation | (elf_each_object(is_bypassing_object, node) != 0);
		atomic_store_explicit(&node->callers, answer, memory_order_relaxed);
	}
	return answer & 1;
}
