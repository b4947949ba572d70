/* SPDX-License-Identifier: MIT */
#include "interpose/nvvm/functions.h"

#include "interpose/elf/plain.h"

const struct compiler_function nvvm_functions[FUNCTION_COUNT] = {
#define FUNCTION_ROW(name, since, gone, ...) [FUNCTION_##name] = {#name, since, gone},
    NVVM_HANDLED(FUNCTION_ROW)
#undef FUNCTION_ROW
};

_Static_assert(FUNCTION_COUNT <= COMPILER_FUNCTIONS_MAX, "a library's record has room for all functions");

static const char *const plain[] = {
#define PLAIN_NAME(name) #name,
    NVVM_PLAIN(PLAIN_NAME)
#undef PLAIN_NAME
};

bool nvvm_owns(const char *name)
{
	return plain_begins(name, "nvvm") || plain_begins(name, "__nvvm");
}

bool nvvm_wants_door(const char *name)
{
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (plain_equal(name, plain[i])) {
			return false;
		}
	}
	return true;
}

bool nvvm_opens(const char *name)
{
	return plain_begins(name, "__nvvmHandle");
}
