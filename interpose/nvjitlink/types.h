/* SPDX-License-Identifier: MIT */
/* types: the part of nvJitLink's interface that is used, declared here so that the build needs no toolkit */
#ifndef INTERPOSE_NVJITLINK_TYPES_H
#define INTERPOSE_NVJITLINK_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef void *nvjitlink_handle;

/* The return codes that are used. */
enum nvjitlink_result {
	NVJITLINK_SUCCESS = 0,
	NVJITLINK_UNRECOGNIZED_OPTION = 1,
	NVJITLINK_MISSING_ARCH = 2,
	NVJITLINK_INVALID_INPUT = 3,
	NVJITLINK_PTX_COMPILE = 4,
	NVJITLINK_NVVM_COMPILE = 5,
	NVJITLINK_INTERNAL = 6,
	NVJITLINK_NULL_INPUT = 10 /* from 13.0 on */
};

enum nvjitlink_type {
	NVJITLINK_CUBIN = 1,
	NVJITLINK_PTX = 2,
	NVJITLINK_LTOIR = 3,
	NVJITLINK_FATBIN = 4,
	NVJITLINK_OBJECT = 5,
	NVJITLINK_LIBRARY = 6,
	NVJITLINK_ANY = 10
};

#endif
