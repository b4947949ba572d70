/* SPDX-License-Identifier: MIT */
#include "interpose/compilers.h"

#include "interpose/elf/plain.h"

#include <ctype.h>
#include <string.h>

#define COMPILER_TABLE(name, NAME) extern const struct compiler name##_compiler;
COMPILERS(COMPILER_TABLE)
#undef COMPILER_TABLE

#define COMPILER_POINTER(name, NAME) &name##_compiler,
const struct compiler *const compilers[COMPILER_COUNT] = {COMPILERS(COMPILER_POINTER)};
#undef COMPILER_POINTER

/* Finds the compiler of a name, and how long its prefix is. */
static inline const struct compiler *find_compiler(const char *name, size_t *ret_prefix)
{
	const size_t begin = name[0] == '_' && name[1] == '_' ? 2 : 0;

	for (size_t i = 0; i < COMPILER_COUNT; i++) {
		const char *prefix = compilers[i]->prefix;
		size_t at = begin;

		while (*prefix && *prefix == name[at]) {
			prefix++;
			at++;
		}
		if (!*prefix) {
			*ret_prefix = at;
			return compilers[i];
		}
	}
	return NULL;
}

const struct compiler *compiler_of_name(const char *name)
{
	size_t prefix;

	return find_compiler(name, &prefix);
}

const struct compiler *compiler_to_intercept(const char *name)
{
	size_t prefix;
	const struct compiler *compiler = find_compiler(name, &prefix);

	if (!compiler || (compiler->inner && plain_begins(name, compiler->inner))) {
		return NULL;
	}
	for (const char *const *plain = compiler->plain; plain < compiler->plain + compiler->plain_count; plain++) {
		/* one letter tells most names apart */
		if ((*plain)[prefix] == name[prefix] && strcmp(*plain, name) == 0) {
			return NULL;
		}
	}
	return compiler;
}

/* Nodes with the same landmark stand together in the table, so its version is looked up once for all of them. */
static struct node *node_among(const struct compiler *compiler, const struct elf_object *object)
{
	const char *landmark = compiler->nodes[0].landmark;
	const char *version = elf_symbol_version(object, landmark);

	if (compiler->hallmark) {
		return !version && elf_symbol(object, landmark, NULL) && elf_symbol(object, compiler->hallmark, NULL)
		           ? compiler->nodes
		           : NULL;
	}
	for (size_t i = 0; i < compiler->node_count; i++) {
		struct node *node = &compiler->nodes[i];

		if (node->landmark != landmark) {
			landmark = node->landmark;
			version = elf_symbol_version(object, landmark);
		}
		if (version && strcmp(version, node->name) == 0) {
			return node;
		}
	}
	return NULL;
}

bool compiler_is_defined(const struct elf_object *object)
{
	const char *landmark = NULL;
	bool found = false;

	for (size_t i = 0; i < COMPILER_COUNT && !found; i++) {
		for (size_t j = 0; j < compilers[i]->node_count && !found; j++) {
			if (landmark != compilers[i]->nodes[j].landmark) {
				landmark = compilers[i]->nodes[j].landmark;
				found = elf_symbol(object, landmark, NULL) != 0;
			}
		}
	}
	return found;
}

struct node *compiler_node_of(const struct elf_object *object)
{
	struct node *node = NULL;

	for (size_t i = 0; i < COMPILER_COUNT && !node; i++) {
		node = node_among(compilers[i], object);
	}
	return node;
}

unsigned compiler_option_what(const struct compiler_option *table, size_t count, const char *option, unsigned otherwise)
{
	for (size_t i = 0; i < count; i++) {
		size_t size = strlen(table[i].name);

		if (strncmp(option, table[i].name, size) == 0 &&
		    (table[i].name[size - 1] == '=' || option[size] == '\0')) {
			return table[i].what;
		}
	}
	return otherwise;
}

const char *node_name(const struct node *node, size_t function, char room[NODE_NAME_BYTES])
{
	const char *name = node->compiler->functions[function].name;

	if (!node->suffix) {
		return name;
	}
	(void)stpcpy(stpcpy(stpcpy(room, "__"), name), node->suffix);
	return room;
}

/* Returns true for a release like "_12_9". */
static bool is_release(const char *text)
{
	for (int i = 0; i < 2; i++) {
		if (*text++ != '_' || !isdigit((unsigned char)*text)) {
			return false;
		}
		while (isdigit((unsigned char)*text)) {
			text++;
		}
	}
	return *text == '\0';
}

bool node_names_release(const char *name, const char *function)
{
	size_t size = strlen(function);

	return strncmp(name, "__", 2) == 0 && strncmp(name + 2, function, size) == 0 && is_release(name + 2 + size);
}
