/* SPDX-License-Identifier: MIT */
/*
 * stub_driver: a libcuda.so.1 to link and start the samples with where neither a driver nor a toolkit's stub is there
 *
 * Every function takes whatever it is given and returns CUDA_ERROR_NO_DEVICE. NVRTC opens libcuda.so.1 too, for its own
 * cache, and goes on without it when cuInit fails.
 */
enum { NO_DEVICE = 100 };

#define STUB(name)                \
	int name(void);           \
	int name(void)            \
	{                         \
		return NO_DEVICE; \
	}

STUB(cuInit)
STUB(cuDriverGetVersion)
STUB(cuGetErrorName)
STUB(cuGetErrorString)
STUB(cuGetExportTable)
STUB(cuGetProcAddress)
STUB(cuGetProcAddress_v2)
STUB(cuDeviceGet)
STUB(cuDeviceGetCount)
STUB(cuDeviceGetName)
STUB(cuDeviceGetAttribute)
STUB(cuDevicePrimaryCtxRetain)
STUB(cuDevicePrimaryCtxRelease)
STUB(cuDevicePrimaryCtxRelease_v2)
STUB(cuCtxSetCurrent)
STUB(cuCtxSynchronize)
STUB(cuModuleLoadData)
STUB(cuModuleGetFunction)
STUB(cuModuleUnload)
STUB(cuMemAlloc_v2)
STUB(cuMemFree_v2)
STUB(cuMemcpyHtoD_v2)
STUB(cuMemcpyDtoH_v2)
STUB(cuLaunchKernel)

/* cuda.compute (tests/clients) is linked to these and binds them at start */
STUB(cuCtxGetCurrent)
STUB(cuCtxGetDevice)
STUB(cuCtxPopCurrent_v2)
STUB(cuCtxPushCurrent_v2)
STUB(cuFuncGetAttribute)
STUB(cuFuncSetAttribute)
STUB(cuKernelGetFunction)
STUB(cuLaunchKernelEx)
STUB(cuLibraryGetKernel)
STUB(cuLibraryLoadData)
STUB(cuLibraryUnload)
STUB(cuMemcpyAsync)
STUB(cuMemsetD8Async)
STUB(cuOccupancyMaxActiveBlocksPerMultiprocessor)
