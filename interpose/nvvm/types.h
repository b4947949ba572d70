/* SPDX-License-Identifier: MIT */
/* types: the part of libNVVM's interface that is used, declared here so that the build needs no toolkit */
#ifndef INTERPOSE_NVVM_TYPES_H
#define INTERPOSE_NVVM_TYPES_H

/* nvvmResult; only the header of 13.0 has 10 (cancelled). */
enum nvvm_result {
	RESULT_SUCCESS = 0,
	RESULT_OUT_OF_MEMORY = 1,
	RESULT_PROGRAM_CREATION_FAILURE = 2,
	RESULT_IR_VERSION_MISMATCH = 3,
	RESULT_INVALID_INPUT = 4,
	RESULT_INVALID_PROGRAM = 5,
	RESULT_INVALID_IR = 6,
	RESULT_INVALID_OPTION = 7,
	RESULT_NO_MODULE_IN_PROGRAM = 8,
	RESULT_COMPILATION = 9
};

/* The kind of a call (interpose/compiler.h). A compilation leaves everything that a verification leaves. */
enum nvvm_work { WORK_VERIFY = 1, WORK_COMPILE = 2 };

/* The artifacts; the position is the number in stored results. */
enum nvvm_artifact { ARTIFACT_RESULT, ARTIFACT_LOG, ARTIFACT_COUNT };

#endif
