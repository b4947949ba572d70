/* SPDX-License-Identifier: MIT */
/*
 * pretend_device: as much of libcuda and libcudart as lets programs for a GPU reach the point where they compile
 *
 * There is one device, an sm_90, whose memory is that of the host. Nothing can be loaded on it: from there on
 * everything fails as it does without a driver; what would have been loaded is written to the directory
 * $PRETEND_IMAGES. Programs are linked to it in the place of libcudart, and find it as libcuda.so.
 */
#include <elf.h>
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

	(void)snprintf(path, sizeof(path), "%s/%04d", directory ? directory : "", __atomic_fetch_add(&number, 1, 5));
	file = directory ? fopen(path, "w") : NULL;
	if (file) {
		(void)fwrite(image, 1, size_of(image), file);
		(void)fclose(file);
	}
	return NO_DEVICE;
}

DEFINE(int, cuLibraryLoadData, void **ret_library, const void *image)
{
	return cuModuleLoadData(ret_library, image);
}

FAILS(cuLinkCreate_v2)

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
