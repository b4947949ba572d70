/* SPDX-License-Identifier: MIT */
/*
 * pretend_device: as much of libcuda and libcudart as lets programs for a GPU reach the point where they compile
 *
 * There is one device, an sm_90, whose memory is that of the host. What is loaded on it is written to the directory
 * $PRETEND_IMAGES. Without $PRETEND_LOADS the load then fails, and all that follows, as it does without a driver; with
 * it loads and launches succeed and do nothing. A compiler that asks for the driver is told that there is no device:
 * NVRTC 13.5 needs cuGetExportTable where cuInit succeeds. Programs are linked to it in the place of libcudart, and find
 * it as libcuda.so.1, libcuda.so or libcudart.so (tests/clients/device.py).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS, OUT_OF_MEMORY = 2, NO_DEVICE = 100 };

#define FAILS(name)               \
	int name(void);           \
	int name(void)            \
	{                         \
		return NO_DEVICE; \
	}
#define SUCCEEDS(name)          \
	int name(void);         \
	int name(void)          \
	{                       \
		return SUCCESS; \
	}

/* After a load that succeeded. */
#define LOADED (getenv("PRETEND_LOADS") ? SUCCESS : NO_DEVICE)
#define WITH_LOADS(name)       \
	int name(void);        \
	int name(void)         \
	{                      \
		return LOADED; \
	}

#define DEFINE(result, name, ...) \
	result name(__VA_ARGS__); \
	result name(__VA_ARGS__)

DEFINE(int, cuGetErrorName, int error, const char **ret_name)
{
	*ret_name = error == SUCCESS ? "CUDA_SUCCESS" : "CUDA_ERROR_NO_DEVICE";
	return SUCCESS;
}

DEFINE(int, cuGetErrorString, int error, const char **ret_text)
{
	return cuGetErrorName(error, ret_text);
}

DEFINE(int, cuCtxGetCurrent, void **ret_context)
{
	static int context;

	*ret_context = &context;
	return SUCCESS;
}

DEFINE(int, cuCtxGetDevice, int *ret_device)
{
	*ret_device = 0;
	return SUCCESS;
}

DEFINE(int, cuDeviceGet, int *ret_device, int index)
{
	return cuCtxGetDevice(ret_device);
}

DEFINE(int, cuDeviceGetCount, int *ret_count)
{
	*ret_count = 1;
	return SUCCESS;
}

DEFINE(int, cuDeviceGetAttribute, int *ret_value, int attribute, int device)
{
	/* threads and shared memory of a block, threads of a warp, multiprocessors and their threads, capability 9.0 */
	static const int values[] = {
	    [1] = 1024,  1024,     1024,          64,    [8] = 49152,   65536,    32, [12] = 65536, 1980000, [16] = 132,
	    [39] = 2048, [75] = 9, [81] = 233472, 65536, [97] = 232448, [120] = 0};

	*ret_value = attribute >= 0 && attribute <= 120 ? values[attribute] : 0;
	return SUCCESS;
}

/* A CUBIN ends with one of its two tables; PTX with its NUL. */
static size_t size_of(const void *image)
{
	const Elf64_Ehdr *head = image;
	size_t sections, segments;

	if (memcmp(image, ELFMAG, SELFMAG) != 0) {
		return strlen(image);
	}
	sections = head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;
	segments = head->e_phoff + (size_t)head->e_phnum * head->e_phentsize;
	return sections > segments ? sections : segments;
}

DEFINE(int, cuModuleLoadData, void **ret_module, const void *image)
{
	static int number;
	const char *directory = getenv("PRETEND_IMAGES");
	char path[4096];
	FILE *file;

	*ret_module = &number;
	(void)snprintf(path, sizeof(path), "%s/%04d", directory ? directory : "", __atomic_fetch_add(&number, 1, 5));
	file = directory ? fopen(path, "w") : NULL;
	if (file) {
		(void)fwrite(image, 1, size_of(image), file);
		(void)fclose(file);
	}
	return LOADED;
}

DEFINE(int, cuLibraryLoadData, void **ret_library, const void *image)
{
	return cuModuleLoadData(ret_library, image);
}

DEFINE(int, cuLibraryGetKernel, void **ret_kernel, void *library)
{
	*ret_kernel = library;
	return LOADED;
}

DEFINE(int, cuModuleGetFunction, void **ret_function, void *module)
{
	return cuLibraryGetKernel(ret_function, module);
}

DEFINE(int, cuKernelGetAttribute, int *ret_value, int attribute)
{
	*ret_value = attribute == 0 ? 1024 : 0; /* threads of a block */
	return LOADED;
}

DEFINE(int, cuFuncGetAttribute, int *ret_value, int attribute)
{
	return cuKernelGetAttribute(ret_value, attribute);
}

DEFINE(int, cuMemAlloc_v2, void **ret_memory, size_t size)
{
	*ret_memory = calloc(1, size ? size : 1);
	return *ret_memory ? SUCCESS : OUT_OF_MEMORY;
}

DEFINE(int, cuMemHostAlloc, void **ret_memory, size_t size, unsigned flags)
{
	return cuMemAlloc_v2(ret_memory, size);
}

DEFINE(int, cuMemHostGetDevicePointer_v2, void **ret_memory, void *memory, unsigned flags)
{
	*ret_memory = memory;
	return SUCCESS;
}

DEFINE(int, cuMemFree_v2, void *memory)
{
	free(memory);
	return SUCCESS;
}

DEFINE(int, cuMemcpyHtoD_v2, void *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	return SUCCESS;
}

DEFINE(int, cuCtxCreate_v4, void **ret_context)
{
	return cuCtxGetCurrent(ret_context);
}

DEFINE(int, cuStreamCreate, void **ret_stream)
{
	return cuCtxGetCurrent(ret_stream);
}

DEFINE(int, cuDeviceGetName, char *ret_name, int size)
{
	(void)snprintf(ret_name, (size_t)size, "NVIDIA H100");
	return SUCCESS;
}

DEFINE(int, cuModuleLoad, void **ret_module, const char *path)
{
	static char image[1 << 24];
	FILE *file = fopen(path, "r");

	if (!file) {
		return NO_DEVICE;
	}
	memset(image, 0, sizeof(image));
	(void)!fread(image, 1, sizeof(image) - 1, file);
	(void)fclose(file);
	return cuModuleLoadData(ret_module, image);
}

DEFINE(int, cuModuleLoadDataEx, void **ret_module, const void *image)
{
	return cuModuleLoadData(ret_module, image);
}

DEFINE(int, cuDriverGetVersion, int *ret_version)
{
	*ret_version = 13050;
	return SUCCESS;
}

DEFINE(int, cuMemGetInfo_v2, size_t *ret_free, size_t *ret_total)
{
	*ret_free = *ret_total = (size_t)1 << 32;
	return SUCCESS;
}

DEFINE(int, cuDeviceTotalMem_v2, size_t *ret_size, int device)
{
	return cuMemGetInfo_v2(ret_size, ret_size);
}

DEFINE(int, cuEventElapsedTime, float *ret_ms)
{
	*ret_ms = 100;
	return SUCCESS;
}

DEFINE(int, cuMemsetD8Async, void *memory, unsigned char value, size_t size)
{
	memset(memory, value, size);
	return SUCCESS;
}

DEFINE(int, cuModuleGetGlobal_v2, void **ret_memory, size_t *ret_size)
{
	static char variable[4096];

	*ret_memory = variable;
	*ret_size = sizeof(variable);
	return SUCCESS;
}

/* What is linked is what was added last: one PTX. */
static const void *linked;

DEFINE(int, cuLinkCreate_v2, unsigned count, const int *options, void **values, void **ret_state)
{
	return LOADED == SUCCESS ? cuCtxGetCurrent(ret_state) : NO_DEVICE;
}

DEFINE(int, cuLinkAddData_v2, void *state, int type, const void *image)
{
	linked = image;
	return LOADED;
}

DEFINE(int, cuLinkComplete, void *state, const void **ret_image, size_t *ret_size)
{
	*ret_image = linked;
	*ret_size = size_of(linked) + 1;
	return LOADED;
}

DEFINE(int, cuInit, unsigned flags)
{
	Dl_info caller;
	bool known = dladdr(__builtin_return_address(0), &caller) != 0;

	return known && (strstr(caller.dli_fname, "libnv") || !getenv("PRETEND_LOADS")) ? NO_DEVICE : SUCCESS;
}

DEFINE(int, cudaMalloc, void **ret_memory, size_t size)
{
	*ret_memory = calloc(1, size ? size : 1);
	return *ret_memory ? SUCCESS : OUT_OF_MEMORY;
}

DEFINE(int, cudaFree, void *memory)
{
	free(memory);
	return SUCCESS;
}

DEFINE(int, cudaMemcpy, void *to, const void *from, size_t size, int kind)
{
	memcpy(to, from, size);
	return SUCCESS;
}

DEFINE(int, cudaMemset, void *memory, int value, size_t size)
{
	memset(memory, value, size);
	return SUCCESS;
}

DEFINE(int, cudaGetDevice, int *ret_device)
{
	return cuCtxGetDevice(ret_device);
}

DEFINE(int, cudaDeviceGetAttribute, int *ret_value, int attribute, int device)
{
	return cuDeviceGetAttribute(ret_value, attribute, device);
}

DEFINE(const char *, cudaGetErrorString, int error)
{
	const char *text;

	(void)cuGetErrorString(error, &text);
	return text;
}

DEFINE(int, cudaMallocManaged, void **ret_memory, size_t size, unsigned flags)
{
	return cudaMalloc(ret_memory, size);
}

DEFINE(int, cudaRuntimeGetVersion, int *ret_version)
{
	*ret_version = 13000;
	return SUCCESS;
}

DEFINE(void **, __cudaRegisterFatBinary, void *binary)
{
	static void *handle[1];

	handle[0] = binary;
	return handle;
}

/* ---- what does the same as another, nothing, or nothing well ---- */

#define FOUR(X, a, b, c, d) X(a) X(b) X(c) X(d)
#define ALIAS(name, other)  int name(void) __attribute__((alias(#other)));
#define COPIES(name)        ALIAS(name, cuMemcpyHtoD_v2)
#define ALLOCATES(name)     ALIAS(name, cuMemAlloc_v2)
#define GIVES_CONTEXT(name) ALIAS(name, cuCtxGetCurrent)

FOUR(GIVES_CONTEXT, cuCtxCreate, cuCtxCreate_v2, cuCtxPopCurrent, cuCtxPopCurrent_v2)
ALIAS(cuDeviceTotalMem, cuDeviceTotalMem_v2)
ALIAS(cuLinkAddData, cuLinkAddData_v2)
ALIAS(cuLinkCreate, cuLinkCreate_v2)
ALLOCATES(cuMemAlloc)
ALLOCATES(cuMemAllocHost)
ALLOCATES(cuMemAllocHost_v2)
ALIAS(cuMemFree, cuMemFree_v2)
ALIAS(cuMemFreeHost, cuMemFree_v2)
ALIAS(cuMemGetInfo, cuMemGetInfo_v2)
FOUR(COPIES, cuMemcpyAsync, cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, cuMemcpyDtoHAsync)
FOUR(COPIES, cuMemcpyDtoHAsync_v2, cuMemcpyDtoH_v2, cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2)
ALIAS(cuModuleGetGlobal, cuModuleGetGlobal_v2)
ALIAS(cuEventCreate, cuStreamCreate)
FOUR(SUCCEEDS, __cudaGetKernel, __cudaInitModule, __cudaRegisterFatBinaryEnd, __cudaRegisterFunction)
FOUR(SUCCEEDS, __cudaRegisterVar, __cudaUnregisterFatBinary, cuCtxDestroy, cuCtxDestroy_v2)
FOUR(SUCCEEDS, cuCtxGetCacheConfig, cuCtxGetSharedMemConfig, cuCtxPushCurrent, cuCtxPushCurrent_v2)
FOUR(SUCCEEDS, cuCtxSetCacheConfig, cuCtxSetCurrent, cuCtxSetSharedMemConfig, cuCtxSynchronize)
FOUR(SUCCEEDS, cuEventDestroy, cuEventDestroy_v2, cuEventQuery, cuEventRecord)
FOUR(SUCCEEDS, cuEventSynchronize, cuFuncSetCacheConfig, cuFuncSetSharedMemConfig, cuLinkDestroy)
FOUR(SUCCEEDS, cuMemsetD32Async, cuProfilerStart, cuStreamDestroy, cuStreamDestroy_v2)
FOUR(SUCCEEDS, cuStreamSynchronize, cuStreamWaitEvent, cudaDeviceSynchronize, cudaSetDevice)
FOUR(WITH_LOADS, cuFuncSetAttribute, cuKernelSetAttribute, cuLaunchKernel, cuLibraryUnload)
WITH_LOADS(cuModuleUnload)
FOUR(FAILS, __cudaLaunchKernel, __cudaPopCallConfiguration, __cudaPushCallConfiguration, cuCtxEnablePeerAccess)
FOUR(FAILS, cuCtxGetLimit, cuDeviceCanAccessPeer, cuKernelGetFunction, cuLaunchCooperativeKernel)
FOUR(FAILS, cuLaunchKernelEx, cuLibraryLoadFromFile, cuOccupancyMaxActiveBlocksPerMultiprocessor,
     cuOccupancyMaxPotentialClusterSize)
FOUR(FAILS, cuProfilerStop, cuStreamGetCtx, cuTensorMapEncodeIm2col, cuTensorMapEncodeTiled)
FAILS(cudaLaunchKernel)
FAILS(cudaLaunchKernelExC)
