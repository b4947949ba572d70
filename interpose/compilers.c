/* SPDX-License-Identifier: MIT */
#include "interpose/compilers.h"

#include "interpose/node.h"

#include <string.h>

#define COMPILER_TABLE(name, NAME) extern const struct compiler name##_compiler;
COMPILERS(COMPILER_TABLE)
#undef COMPILER_TABLE

#define COMPILER_POINTER(name, NAME) &name##_compiler,
static const struct compiler *const compilers[] = {COMPILERS(COMPILER_POINTER)};
#undef COMPILER_POINTER

#define COMPILER_COUNT (sizeof(compilers) / sizeof(compilers[0]))

const struct compiler *compiler_of_name(const char *name)
{
	for (size_t i = 0; i < COMPILER_COUNT; i++) {
		if (compilers[i]->owns(name)) {
			return compilers[i];
		}
	}
	return NULL;
}

struct node *compiler_node_of(const struct elf_object *object)
{
	for (size_t i = 0; i < COMPILER_COUNT; i++) {
		const char *version = elf_symbol_version(object, compilers[i]->landmark);

		for (size_t j = 0; version && j < compilers[i]->node_count; j++) {
			if (strcmp(version, compilers[i]->nodes[j].name) == 0) {
				return &compilers[i]->nodes[j];
			}
		}
	}
	return NULL;
}
