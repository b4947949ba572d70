/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/functions.h"

#include "interpose/elf/plain.h"

#include <stddef.h>
#include <string.h>

const struct compiler_function nvrtc_functions[FUNCTION_COUNT] = {
#define FUNCTION_ROW(name, since, gone, ...) [FUNCTION_##name] = {#name, since, gone},
    NVRTC_HANDLED(FUNCTION_ROW)
#undef FUNCTION_ROW
};

_Static_assert(FUNCTION_COUNT <= COMPILER_FUNCTIONS_MAX, "a library's record has room for all functions");

static const char *const plain[] = {
#define PLAIN_NAME(name) #name,
    NVRTC_PLAIN(PLAIN_NAME)
#undef PLAIN_NAME
};

static const char *const getters[] = {
#define PRODUCT_NAMES(name) "nvrtcGet" #name, "nvrtcGet" #name "Size",
    NVRTC_PRODUCTS(PRODUCT_NAMES)
#undef PRODUCT_NAMES
};

static bool is_among(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(name, list[i]) == 0) {
			return true;
		}
	}
	return false;
}

bool nvrtc_owns(const char *name)
{
	/* nvrtccache_library_version is this library's own */
	return (plain_begins(name, "nvrtc") && !plain_begins(name, "nvrtccache")) || plain_begins(name, "__nvrtc");
}

bool nvrtc_wants_door(const char *name)
{
	/* libnvrtc looks these up in its builtins, at each first compilation */
	return !is_among(name, plain, sizeof(plain) / sizeof(plain[0])) && strncmp(name, "__nvrtc_builtins", 16) != 0;
}

bool nvrtc_only_gives(const char *name)
{
	return is_among(name, getters, sizeof(getters) / sizeof(getters[0]));
}
