/* SPDX-License-Identifier: MIT */
#include "tests/compilers/npiece/functions.h"

#include "interpose/elf/plain.h"

#include <stddef.h>

const struct compiler_function npiece_functions[FUNCTION_COUNT] = {
#define FUNCTION_ROW(name, since, gone, ...) [FUNCTION_##name] = {#name, since, gone},
    NPIECE_HANDLED(FUNCTION_ROW)
#undef FUNCTION_ROW
};

_Static_assert(FUNCTION_COUNT <= COMPILER_FUNCTIONS_MAX, "a library's record has room for all functions");

bool npiece_owns(const char *name)
{
	return plain_begins(name, "npiece");
}

bool npiece_wants_door(const char *name)
{
	return !plain_equal(name, "npieceVersion");
}

bool npiece_only_gives(const char *name)
{
	return plain_begins(name, "npieceGet");
}
