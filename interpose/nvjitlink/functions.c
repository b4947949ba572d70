/* SPDX-License-Identifier: MIT */
#include "interpose/nvjitlink/functions.h"

#include "interpose/elf/plain.h"
#include "interpose/nvjitlink/nodes.h"
#include "interpose/watch/environment.h"

#include <ctype.h>
#include <string.h>

const struct compiler_function nvjitlink_functions[NVJITLINK_FUNCTION_COUNT] = {NVJITLINK_HANDLED(COMPILER_ROW)};

_Static_assert(NVJITLINK_FUNCTION_COUNT <= COMPILER_FUNCTIONS_MAX, "a library's record has room for all functions");

bool nvjitlink_owns(const char *name)
{
	return plain_begins(name, "nvJitLink") || plain_begins(name, "__nvJitLink");
}

bool nvjitlink_wants_door(const char *name)
{
	return !plain_equal(name, "nvJitLinkVersion");
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

bool nvjitlink_names(const char *name, const char *function)
{
	size_t size = strlen(function);

	if (strncmp(name, "__", 2) != 0) {
		return strcmp(name, function) == 0;
	}
	return strncmp(name + 2, function, size) == 0 && is_release(name + 2 + size);
}

/* Plain names exist only from 12.3 on, so a library of node 12 is asked for the names of 12.0. */
const char *nvjitlink_name_on(const struct node *node, size_t function)
{
	static const char *const of_12[NVJITLINK_FUNCTION_COUNT] = {
#define NAME_ROW(name, ...) [FUNCTION_##name] = "__" #name "_12_0",
	    NVJITLINK_HANDLED(NAME_ROW)
#undef NAME_ROW
	};

	return node == &nvjitlink_nodes[NVJITLINK_NODE_12] ? of_12[function] : nvjitlink_functions[function].name;
}

static bool is_spelled(const char *name, const char *prefix, const char *function, const char *suffix)
{
	size_t front = strlen(prefix), size = strlen(function);

	return strncmp(name, prefix, front) == 0 && strncmp(name + front, function, size) == 0 &&
	       strcmp(name + front + size, suffix) == 0;
}

bool nvjitlink_exports(const struct node *node, const char *name)
{
	for (size_t i = 0; i < NVJITLINK_FUNCTION_COUNT; i++) {
		const char *function = nvjitlink_functions[i].name;

		if (!node_exports(node, i)) {
			continue;
		}
#define IS_EXPORT(which, prefix, suffix, version, id, floor, ...)                                          \
	if (node == &nvjitlink_nodes[NVJITLINK_NODE_##id] && is_spelled(name, prefix, function, suffix)) { \
		return true;                                                                               \
	}
		NVJITLINK_LINKED(IS_EXPORT, )
#undef IS_EXPORT
	}
	return false;
}

bool nvjitlink_opens(const char *name)
{
	return plain_equal(name, "__nvJitLinkAPI");
}

/*
 * The variables that nvJitLink reads (interpose/watch/environment.h explains the kinds).
 *
 * Some are read when a handle is created or an input is added, so their values at that moment go into the creation run.
 * FINALIZER_CUBIE is left out on purpose: 13.5 writes the CUBIN to the file that the variable names, so a result with
 * it must not be cached.
 */

/* X(kind, name) */
#define NVJITLINK_VARIABLES(X)                    \
	X(LOAD, AS_SECURE_LOG_FILE)               \
	X(LOAD, LIBNVVM_DISABLE_CONCURRENT_API)   \
	X(LOAD, LLVM_IGNORED_ENV_VAR)             \
	X(LOAD, LLVM_OVERRIDE_PRODUCER)           \
	X(LOAD, OPENSSL_ia32cap)                  \
	X(LOAD, bar)                              \
	X(CALL, CAN_FINALIZE_DEBUG)               \
	X(CALL, DUMP_KNOBS_TO_FILE)               \
	X(CALL, FINALIZER_USE_LEGACY_ELF_BUILDER) \
	X(CALL, LIBNVVM_NVVM_VERSION)             \
	X(CALL, NVJITLINK_TRACE_MESSAGES)         \
	X(CALL, NVVM_IR_VER_CHK)                  \
	X(CALL, NV_NVVM_VERSION)                  \
	X(PLAIN, MAKEFLAGS) /* 13.5: a job server, how many threads */

static const struct variable variables[] = {NVJITLINK_VARIABLES(ENVIRONMENT_VARIABLE)};

struct environment nvjitlink_environment = ENVIRONMENT_OF(NVJITLINK_VARIABLES, variables);
