/* SPDX-License-Identifier: MIT */
/*
 * compiler: npiece (tests/fake/piece), as interpose/compiler.h asks for it
 */
#ifndef TESTS_COMPILERS_NPIECE_COMPILER_H
#define TESTS_COMPILERS_NPIECE_COMPILER_H

#include "interpose/compiler.h"

/* As many of its codes as concern us. */
enum npiece_result {
	RESULT_SUCCESS = 0,
	RESULT_UNKNOWN_OPTION = 2,
	RESULT_BAD_PIECE = 3,
	RESULT_NOT_COMPLETED = 4,
	RESULT_ALREADY_COMPLETED = 5,
	RESULT_OUT_OF_MEMORY = 6,
	RESULT_INTERNAL_ERROR = 7,
	RESULT_INVALID_INPUT = 1
};

extern const struct compiler npiece_compiler;

#endif
