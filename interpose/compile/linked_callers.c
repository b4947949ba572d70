/* SPDX-License-Identifier: MIT */

#include "interpose/compile/library.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

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

static bool passes_by(const struct node *node, const char *name)
{
	const struct compiler *compiler = node->compiler;

	/* private functions are none that anybody links against and calls with a handle of ours */
	if ((name[0] == '_' && !compiler->links_private) || !compiler->owns(name) || !compiler->wants_door(name)) {
		return false;
	}
	return !reaches_us(node, name) && !(compiler->only_gives && compiler->only_gives(name));
}

static int import_passes_by(const struct elf_import *import, void *context)
{
	const struct node *node = context;

	if (!import->version || strcmp(import->version, node->name) != 0) {
		return false;
	}
	/* bound to the library itself (RTLD_DEEPBIND): the name is one of ours, and yet its calls go past us */
	return passes_by(node, import->name) ||
	       (import->slot && node->compiler->owns(import->name) && node->compiler->wants_door(import->name) &&
	        library_holds(node, (uintptr_t)*import->slot));
}

static int unversioned_passes_by(const struct elf_import *import, void *context)
{
	return passes_by(context, import->name);
}

/* Of libraries without versions: bound to whichever is found first, maybe to one that is loaded only later. */
static int undefined_passes_by(const char *name, void *context)
{
	return passes_by(context, name);
}

static int object_passes_by(const struct elf_object *object, void *context)
{
	const struct node *node = context;

	if (node->compiler->hallmark) {
		int result = elf_each_undefined(object, undefined_passes_by, context);

		return result != -ENODATA ? result : elf_each_import(object, unversioned_passes_by, context) == 1;
	}
	return elf_needs_version(object, node->name) && elf_each_import(object, import_passes_by, context) == 1;
}

bool linked_callers_one_passes_by(const struct elf_object *object, const struct node *node)
{
	return object_passes_by(object, (void *)node) != 0;
}

/* Whoever was there once may have told the library what works on in it, and handles of theirs may live on. */
bool linked_callers_pass_by(struct node *node)
{
	struct elf_generation now = elf_generation();
	uint64_t generation = (now.loads << 32 ^ now.unloads << 1) | UINT64_C(1) << 63;
	uint64_t answer = atomic_load_explicit(&node->callers, memory_order_relaxed);

	if (answer & 1) {
		return true;
	}
	if ((answer & ~UINT64_C(1)) != generation) {
		answer = generation | (elf_each_object(object_passes_by, node) != 0);
		atomic_store_explicit(&node->callers, answer, memory_order_relaxed);
	}
	return answer & 1;
}
