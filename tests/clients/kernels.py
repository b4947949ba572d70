# SPDX-License-Identifier: MIT
"""Kernels that every client compiles."""

SAXPY = """
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		y[i] = a * x[i] + y[i];
	}
}
"""

TEMPLATE = """
template <typename T> struct pair { T first, second; };

template <typename T, int N> __global__ void fill(T *out, T value)
{
	__shared__ T part[N];

	part[threadIdx.x % N] = value;
	__syncthreads();
	out[threadIdx.x] = part[(threadIdx.x + 1) % N];
}

template <typename T> __global__ void swap(pair<T> *p)
{
	T t = p->first;

	p->first = p->second;
	p->second = t;
}
"""
TEMPLATE_NAMES = ["fill<float, 32>", "fill<double, 4 * 16>", "&swap<long long>"]

DEVICE_FUNCTION = """
extern "C" __device__ int twice(int *result, int x)
{
	*result = 2 * x;
	return 0;
}
"""

WARNING = 'extern "C" __global__ void warned(int *p) { int unused; *p = 1; }\n'
BROKEN = 'extern "C" __global__ void broken(int *p) { *p = undeclared; }\n'
FP16 = """
#include <cuda_fp16.h>
extern "C" __global__ void add(__half *a, const __half *b) { a[threadIdx.x] += b[threadIdx.x]; }
"""
