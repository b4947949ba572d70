/* SPDX-License-Identifier: MIT */
/*
 * functions: the functions of both libraries that the samples use, for tables of pointers filled by dlsym
 *
 *     static struct { DRIVER_FUNCTIONS(FUNCTION_MEMBER) } driver;
 *     static const char *const names[] = {DRIVER_FUNCTIONS(FUNCTION_NAME)};
 *
 * cuda.h renames some functions by macro (cuMemAlloc is cuMemAlloc_v2): members and names both carry the new name.
 */
#ifndef APPS_FUNCTIONS_H
#define APPS_FUNCTIONS_H

#include <cuda.h>
#include <nvrtc.h>

#define NVRTC_FUNCTIONS(X)           \
	X(nvrtcVersion)              \
	X(nvrtcGetErrorString)       \
	X(nvrtcGetNumSupportedArchs) \
	X(nvrtcGetSupportedArchs)    \
	X(nvrtcCreateProgram)        \
	X(nvrtcDestroyProgram)       \
	X(nvrtcAddNameExpression)    \
	X(nvrtcCompileProgram)       \
	X(nvrtcGetLoweredName)       \
	X(nvrtcGetPTXSize)           \
	X(nvrtcGetPTX)               \
	X(nvrtcGetCUBINSize)         \
	X(nvrtcGetCUBIN)             \
	X(nvrtcGetLTOIRSize)         \
	X(nvrtcGetLTOIR)             \
	X(nvrtcGetOptiXIRSize)       \
	X(nvrtcGetOptiXIR)           \
	X(nvrtcGetProgramLogSize)    \
	X(nvrtcGetProgramLog)

#define DRIVER_FUNCTIONS(X)          \
	X(cuInit)                    \
	X(cuDeviceGet)               \
	X(cuDeviceGetAttribute)      \
	X(cuDevicePrimaryCtxRetain)  \
	X(cuDevicePrimaryCtxRelease) \
	X(cuCtxSetCurrent)           \
	X(cuCtxSynchronize)          \
	X(cuModuleLoadData)          \
	X(cuModuleGetFunction)       \
	X(cuModuleUnload)            \
	X(cuMemAlloc)                \
	X(cuMemFree)                 \
	X(cuMemcpyHtoD)              \
	X(cuMemcpyDtoH)              \
	X(cuLaunchKernel)

#define FUNCTION_MEMBER(function)     __typeof__(&function) function;
#define FUNCTION_NAME(function)       FUNCTION_NAME_AFTER(function)
#define FUNCTION_NAME_AFTER(function) #function,

#endif
