/* SPDX-License-Identifier: MIT */
/*
 * types: as much of libNVVM's interface as the door needs, declared anew, so that nothing of ours needs a toolkit
 */
#ifndef INTERPOSE_NVVM_TYPES_H
#define INTERPOSE_NVVM_TYPES_H

/* nvvmResult; 10 (cancelled) is in the header of 13.0 alone. */
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

/* What makes something: the kind of a call (interpose/compiler.h). A compile leaves all that a verification leaves. */
enum nvvm_work { WORK_VERIFY = 1, WORK_COMPILE = 2 };

/* What a program can be asked for; the position is its number in stored results. */
enum nvvm_artifact { ARTIFACT_RESULT, ARTIFACT_LOG, ARTIFACT_COUNT };

#endif
