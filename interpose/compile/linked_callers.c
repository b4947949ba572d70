/* SPDX-License-Identifier: MIT */
#include "interpose/compile/linked_callers.h"

#include <stdatomic.h>
#include <string.h>

static bool passes_by(const struct library *library, const char *name)
{
	if (strncmp(name, "nvrtc", 5) != 0 || !nvrtc_needs_door(name)) {
		return false;
	}
	for (int f = 0; f < FUNCTION_COUNT; f++) {
		if (strcmp(name, nvrtc_function_name((enum nvrtc_function)f)) == 0 &&
		    library_exports(library, (enum nvrtc_function)f)) {
			return false;
		}
	}
	return !nvrtc_gets_product(name);
}

static int import_passes_by(const struct elf_import *import, void *context)
{
	const struct library *library = context;

	return import->version && strcmp(import->version, library_node_name(library->node)) == 0 &&
	       passes_by(library, import->name);
}

static int object_passes_by(const struct elf_object *object, void *context)
{
	const struct library *library = context;

	return elf_needs_version(object, library_node_name(library->node)) &&
	       elf_each_import(object, import_passes_by, context) == 1;
}

bool linked_callers_pass_by(const struct library *library)
{
	static _Atomic uint64_t answers[NODE_COUNT]; /* which generation it is of, and the answer in the lowest bit */
	struct elf_generation now = elf_generation();
	uint64_t generation = (now.loads << 32 ^ now.unloads << 1) | UINT64_C(1) << 63;
	uint64_t answer = atomic_load_explicit(&answers[library->node], memory_order_relaxed);

	if ((answer & ~UINT64_C(1)) != generation) {
		answer = generation | (elf_each_object(object_passes_by, (void *)library) != 0);
		atomic_store_explicit(&answers[library->node], answer, memory_order_relaxed);
	}
	return answer & 1;
}
