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

#define NVRTC_LIBRARY(X)   X(nvrtcVersion) X(nvrtcGetErrorString) X(nvrtcGetNumSupportedArchs) X(nvrtcGetSupportedArchs)
#define NVRTC_PROGRAM(X)   X(nvrtcCreateProgram) X(nvrtcDestroyProgram) X(nvrtcAddNameExpression) X(nvrtcCompileProgram)
#define NVRTC_RESULT(X)    X(nvrtcGetLoweredName) X(nvrtcGetPTXSize) X(nvrtcGetPTX) X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN)
#define NVRTC_IR(X)        X(nvrtcGetLTOIRSize) X(nvrtcGetLTOIR) X(nvrtcGetOptiXIRSize) X(nvrtcGetOptiXIR)
#define NVRTC_LOG(X)       X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog)
#define NVRTC_FUNCTIONS(X) NVRTC_LIBRARY(X) NVRTC_PROGRAM(X) NVRTC_RESULT(X) NVRTC_IR(X) NVRTC_LOG(X)

#define DRIVER_DEVICE(X) X(cuInit) X(cuDeviceGet) X(cuDeviceGetAttribute)
#define DRIVER_CONTEXT(X) \
	X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease) X(cuCtxSetCurrent) X(cuCtxSynchronize)
#define DRIVER_MODULE(X)    X(cuModuleLoadData) X(cuModuleGetFunction) X(cuModuleUnload) X(cuLaunchKernel)
#define DRIVER_MEMORY(X)    X(cuMemAlloc) X(cuMemFree) X(cuMemcpyHtoD) X(cuMemcpyDtoH)
#define DRIVER_FUNCTIONS(X) DRIVER_DEVICE(X) DRIVER_CONTEXT(X) DRIVER_MODULE(X) DRIVER_MEMORY(X)

#define FUNCTION_MEMBER(function)     __typeof__(&function) function;
#define FUNCTION_NAME(function)       FUNCTION_NAME_AFTER(function)
#define FUNCTION_NAME_AFTER(function) #function,

#endif
