/* SPDX-License-Identifier: MIT */
/* types: the part of NVRTC's interface that is used, declared here so that the build needs no toolkit */
#ifndef INTERPOSE_NVRTC_TYPES_H
#define INTERPOSE_NVRTC_TYPES_H

#include <stddef.h>

typedef struct nvrtc_program_of_the_library *nvrtcProgram;
typedef int flow_callback(void *payload, void *reserved);

/* The nvrtcResult values that are returned or compared. */
enum nvrtc_result {
	RESULT_SUCCESS = 0,
	RESULT_OUT_OF_MEMORY = 1,
	RESULT_INVALID_INPUT = 3,
	RESULT_INVALID_PROGRAM = 4,
	RESULT_INVALID_OPTION = 5,
	RESULT_COMPILATION = 6,
	RESULT_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
	RESULT_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
	RESULT_NAME_EXPRESSION_NOT_VALID = 10,
	RESULT_INTERNAL_ERROR = 11
};

#endif
