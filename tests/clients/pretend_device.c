/* SPDX-License-Identifier: MIT */
/*
 * pretend_device: as much of libcuda and libcudart as lets programs for a GPU reach the point where they compile
 *
 * There is one device, an sm_90, whose memory is that of the host. What is loaded on it is written to the directory
 * $PRETEND_IMAGES. Without $PRETEND_LOADS the load then fails, and all that follows, as it does without a driver; with
 * it loads and launches succeed and do nothing. A compiler that asks for the driver is told that there is no device:
 * NVRTC 13.5 needs cuGetExportTable where cuInit succeeds. Programs are linked to it in the place of libcudart, and find
 * it as libcuda.so.1, libcuda.so or libcudart.so.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS, OUT_OF_MEMORY = 2, NO_DEVICE = 100 };
enum { COMPUTE_CAPABILITY_MAJOR = 75, COMPUTE_CAPABILITY_MINOR };

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
	*ret_context = ret_context;
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
	*ret_value = attribute == COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
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

DEFINE(int, cuKernelGetAttribute, int *ret_value)
{
	*ret_value = 0;
	return LOADED;
}

DEFINE(int, cuFuncGetAttribute, int *ret_value)
{
	return cuKernelGetAttribute(ret_value);
}

DEFINE(int, cuInit, unsigned flags)
{
	Dl_info caller;
	bool known = dladdr(__builtin_return_address(0), &caller) != 0;

	return known && (strstr(caller.dli_fname, "libnv") || !getenv("PRETEND_LOADS")) ? NO_DEVICE : SUCCESS;
}

WITH_LOADS(cuFuncSetAttribute)
WITH_LOADS(cuKernelSetAttribute)
WITH_LOADS(cuLibraryUnload)
WITH_LOADS(cuModuleUnload)

/* What cuDNN is linked with, or looks up and complains about. */
FAILS(cuCtxGetLimit)
FAILS(cuCtxPopCurrent)
FAILS(cuCtxPushCurrent)
FAILS(cuDriverGetVersion)
FAILS(cuKernelGetFunction)
FAILS(cuLaunchCooperativeKernel)
FAILS(cuLaunchKernel)
FAILS(cuLaunchKernelEx)
FAILS(cuLibraryLoadFromFile)
FAILS(cuLinkAddData)
FAILS(cuLinkComplete)
FAILS(cuLinkCreate)
FAILS(cuLinkCreate_v2)
FAILS(cuLinkDestroy)
FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessor)
FAILS(cuOccupancyMaxPotentialClusterSize)
FAILS(cuStreamGetCtx)
FAILS(cuTensorMapEncodeIm2col)
FAILS(cuTensorMapEncodeTiled)

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

SUCCEEDS(cudaSetDevice)
SUCCEEDS(cudaDeviceSynchronize)

/* What nvcc puts into every program that has kernels of its own. */
FAILS(cudaLaunchKernel)
FAILS(cudaLaunchKernelExC)
FAILS(__cudaLaunchKernel)
FAILS(__cudaPushCallConfiguration)
FAILS(__cudaPopCallConfiguration)
SUCCEEDS(__cudaGetKernel)
SUCCEEDS(__cudaInitModule)
SUCCEEDS(__cudaRegisterFatBinaryEnd)
SUCCEEDS(__cudaRegisterFunction)
SUCCEEDS(__cudaRegisterVar)
SUCCEEDS(__cudaUnregisterFatBinary)

DEFINE(void **, __cudaRegisterFatBinary, void *binary)
{
	static void *handle[1];

	handle[0] = binary;
	return handle;
}
