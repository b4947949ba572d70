/* SPDX-License-Identifier: MIT */
/*
 * launch: runs the compiled kernel on the first GPU and checks its numbers; says why not where there is no driver
 *
 * All samples compile a kernel (float a, const float *x, float *y, int n) that does y[i] = a * x[i] + y[i]. A sample
 * that links libcuda calls it directly; one that loads it at run time defines DRIVER(function) as a member of its table
 * of function pointers before it includes this file, and DRIVER_MISSING as the reason why there is none (NULL: there
 * is).
 */
#ifndef APPS_LAUNCH_H
#define APPS_LAUNCH_H

#include "functions.h"
#include "report.h"

#include <math.h>

#ifndef DRIVER
#define DRIVER(function) function
#define DRIVER_MISSING   NULL
#endif

static char launch_reason[256]; /* why there is nothing to launch on */

static inline bool launch_did(const char *call, CUresult result)
{
	if (result != CUDA_SUCCESS) {
		printf("%s: %d\n", call, (int)result);
	}
	return result == CUDA_SUCCESS;
}

/* The device's compute capability as major * 10 + minor; 0 where there is no driver or no device. */
static inline int launch_device(void)
{
	int major = 0, minor = 0;
	CUdevice device;
	CUresult result;

	if (DRIVER_MISSING) {
		snprintf(launch_reason, sizeof(launch_reason), "%s", (const char *)(DRIVER_MISSING));
		return 0;
	}
	result = DRIVER(cuInit)(0);
	if (result != CUDA_SUCCESS) {
		snprintf(launch_reason, sizeof(launch_reason), "cuInit returns %d%s", (int)result,
		         result == CUDA_ERROR_STUB_LIBRARY ? ", a stub library"
		         : result == CUDA_ERROR_NO_DEVICE  ? ", no device"
		                                           : "");
		return 0;
	}
	result = DRIVER(cuDeviceGet)(&device, 0);
	if (result != CUDA_SUCCESS ||
	    DRIVER(cuDeviceGetAttribute)(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) !=
	        CUDA_SUCCESS ||
	    DRIVER(cuDeviceGetAttribute)(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device) !=
	        CUDA_SUCCESS) {
		snprintf(launch_reason, sizeof(launch_reason), "no device, cuDeviceGet returns %d", (int)result);
		return 0;
	}
	return major * 10 + minor;
}

static inline bool launch_kernel(CUmodule module, const char *kernel)
{
	enum { COUNT = 10000, THREADS = 128 };
	const size_t size = COUNT * sizeof(float);
	float *x = (float *)report_memory(size), *y = (float *)report_memory(size);
	float a = 2.5f;
	int count = COUNT;
	double error = 0;
	CUdeviceptr on_device_x = 0, on_device_y = 0;
	CUfunction function;
	void *arguments[] = {&a, &on_device_x, &on_device_y, &count};
	bool done = false;

	/* small multiples of one half: every product and sum is exact, so any error at all is a wrong kernel */
	for (int i = 0; i < COUNT; i++) {
		x[i] = (float)i * 0.5f;
		y[i] = (float)(COUNT - i);
	}
	if (launch_did("cuModuleGetFunction", DRIVER(cuModuleGetFunction)(&function, module, kernel)) &&
	    launch_did("cuMemAlloc", DRIVER(cuMemAlloc)(&on_device_x, size)) &&
	    launch_did("cuMemAlloc", DRIVER(cuMemAlloc)(&on_device_y, size)) &&
	    launch_did("cuMemcpyHtoD", DRIVER(cuMemcpyHtoD)(on_device_x, x, size)) &&
	    launch_did("cuMemcpyHtoD", DRIVER(cuMemcpyHtoD)(on_device_y, y, size)) &&
	    launch_did("cuLaunchKernel", DRIVER(cuLaunchKernel)(function, (COUNT + THREADS - 1) / THREADS, 1, 1,
	                                                        THREADS, 1, 1, 0, NULL, arguments, NULL)) &&
	    launch_did("cuCtxSynchronize", DRIVER(cuCtxSynchronize)()) &&
	    launch_did("cuMemcpyDtoH", DRIVER(cuMemcpyDtoH)(y, on_device_y, size))) {
		for (int i = 0; i < COUNT; i++) {
			error = fmax(error, fabs((double)y[i] - (2.5 * (0.5 * i) + (COUNT - i))));
		}
		printf("launch: %s, max error %g\n", error == 0 ? "ok" : "WRONG", error);
		done = error == 0;
	}
	if (on_device_x) {
		DRIVER(cuMemFree)(on_device_x);
	}
	if (on_device_y) {
		DRIVER(cuMemFree)(on_device_y);
	}
	free(x);
	free(y);
	return done;
}

/* Loads the cubin, or where the device cannot run it the PTX (NULL: there is none), and runs the kernel. */
static inline void launch_image(const void *cubin, const char *ptx, const char *kernel)
{
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUresult loaded;
	bool done = false;

	if (launch_reason[0]) {
		printf("launch: skipped (no driver: %s)\n", launch_reason);
		return;
	}
	if (launch_did("cuDeviceGet", DRIVER(cuDeviceGet)(&device, 0)) &&
	    launch_did("cuDevicePrimaryCtxRetain", DRIVER(cuDevicePrimaryCtxRetain)(&context, device))) {
		loaded = DRIVER(cuCtxSetCurrent)(context);
		if (loaded == CUDA_SUCCESS) {
			loaded = DRIVER(cuModuleLoadData)(&module, cubin);
		}
		if (loaded == CUDA_ERROR_NO_BINARY_FOR_GPU && ptx) {
			loaded = DRIVER(cuModuleLoadData)(&module, ptx);
		}
		if (loaded == CUDA_ERROR_NO_BINARY_FOR_GPU && !ptx) {
			printf("launch: skipped (a cubin alone, and this device cannot run it)\n");
			done = true;
		} else if (launch_did("cuModuleLoadData", loaded)) {
			done = launch_kernel(module, kernel);
			DRIVER(cuModuleUnload)(module);
		}
		DRIVER(cuDevicePrimaryCtxRelease)(device);
	}
	report_check(done, "the kernel ran and its numbers are right");
}

#endif
