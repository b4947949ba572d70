/* SPDX-License-Identifier: MIT */
#include "interpose/compile/linked_callers.h"

#include <stdatomic.h>
#include <string.h>

static bool passes_by(const struct node *node, const char *name)
{
	const struct compiler *compiler = node->compiler;

	/* private functions are none that anybody links against and calls with a handle of ours */
	if (name[0] == '_' || !compiler->owns(name) || !compiler->wants_door(name)) {
		return false;
	}
	for (size_t i = 0; i < compiler->function_count; i++) {
		if (strcmp(name, compiler->functions[i].name) == 0 && node_exports(node, i)) {
			return false;
		}
	}
	return !compiler->only_gives(name);
}

static int import_passes_by(const struct elf_import *import, void *context)
{
	const struct node *node = context;

	return import->version && strcmp(import->version, node->name) == 0 && passes_by(node, import->name);
}

static int object_passes_by(const struct elf_object *object, void *context)
{
	const struct node *node = context;

	return elf_needs_version(object, node->name) && elf_each_import(object, import_passes_by, context) == 1;
}

bool linked_callers_pass_by(struct node *node)
{
	struct elf_generation now = elf_generation();
	uint64_t generation = (now.loads << 32 ^ now.unloads << 1) | UINT64_C(1) << 63;
	uint64_t answer = atomic_load_explicit(&node->callers, memory_order_relaxed);

	if ((answer & ~UINT64_C(1)) != generation) {
		answer = generation | (elf_each_object(object_passes_by, node) != 0);
		atomic_store_explicit(&node->callers, answer, memory_order_relaxed);
	}
	return answer & 1;
}
