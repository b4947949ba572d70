/* SPDX-License-Identifier: MIT */
/*
 * saxpy: the smallest natural NVRTC program in C, linked with -lnvrtc -lcuda
 *
 *     saxpy [--time] [--heavy]
 *
 * --time prints on stderr how long nvrtcCompileProgram took; --heavy compiles twenty instantiations of an unrolled
 * template beside the kernel, to have something that takes time; neither needs a header on disk.
 */
#include "compile.h"
#include "launch.h"

#define SAXPY                                                                            \
	"extern \"C\" __global__ void saxpy(float a, const float *x, float *y, int n)\n" \
	"{\n"                                                                            \
	"	int unused = 1; /* the warning about it gives the log something to hold */\n"  \
	"	int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                              \
	"	if (i < n)\n"                                                                  \
	"		y[i] = a * x[i] + y[i];\n"                                                    \
	"}\n"

/* A dense matrix product in registers, in several sizes and types: many instructions from few lines. */
#define HEAVY                                                                                                 \
	"template <int N> struct step {\n"                                                                    \
	"	template <typename T> static __device__ T of(T v, T w) { return step<N - 1>::of(v * w + T(N), w - " \
	"v); }\n"                                                                                             \
	"};\n"                                                                                                \
	"template <> struct step<0> {\n"                                                                      \
	"	template <typename T> static __device__ T of(T v, T w) { return v + w; }\n"                         \
	"};\n"                                                                                                \
	"template <typename T, int N> __global__ void product(const T *a, const T *b, T *c)\n"                \
	"{\n"                                                                                                 \
	"	T m[N][N];\n"                                                                                       \
	"	_Pragma(\"unroll\") for (int i = 0; i < N; i++)\n"                                                  \
	"		_Pragma(\"unroll\") for (int j = 0; j < N; j++) {\n"                                               \
	"			T sum = 0;\n"                                                                                     \
	"			_Pragma(\"unroll\") for (int k = 0; k < N; k++)\n"                                                \
	"				sum += a[i * N + k] * b[k * N + j];\n"                                                           \
	"			m[i][j] = step<N>::of(sum, T(i + j));\n"                                                          \
	"		}\n"                                                                                               \
	"	_Pragma(\"unroll\") for (int i = 0; i < N * N; i++)\n"                                              \
	"		c[i] = m[i / N][i % N] / (T(1) + m[i % N][i / N]);\n"                                              \
	"}\n"                                                                                                 \
	"#define OF(T) \\\n"                                                                                  \
	"	template __global__ void product<T, 2>(const T *, const T *, T *); \\\n"                            \
	"	template __global__ void product<T, 3>(const T *, const T *, T *); \\\n"                            \
	"	template __global__ void product<T, 4>(const T *, const T *, T *); \\\n"                            \
	"	template __global__ void product<T, 5>(const T *, const T *, T *);\n"                               \
	"OF(float) OF(double) OF(int) OF(unsigned) OF(long long)\n"

int main(int argc, char **argv)
{
	char option[64];
	struct compilation c = {
	    .name = "saxpy.cu", .source = SAXPY, .options = {option, "--std=c++17"}, .option_count = 2};

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--time")) {
			c.timed = true;
		} else if (!strcmp(argv[i], "--heavy")) {
			c.source = SAXPY HEAVY;
		} else {
			return fprintf(stderr, "usage: saxpy [--time] [--heavy]\n"), 2;
		}
	}
	snprintf(option, sizeof(option), "--gpu-architecture=sm_%d", compile_architecture(launch_device()));
	compile_run(&c);
	report_check(c.result == NVRTC_SUCCESS, "the compilation succeeds");
	report_check(report_is_ptx(c.ptx.bytes, c.ptx.size, "saxpy"), "the PTX is text with .entry saxpy");
	report_check(report_is_cubin(c.cubin.bytes, c.cubin.size, "saxpy"), "the cubin is an ELF file with saxpy");
	report_check(c.log.size > 1 && strstr(c.log.bytes, "unused"), "the log has the warning");
	if (!report_failed) {
		launch_image(c.cubin.bytes, c.ptx.bytes, "saxpy");
	}
	compile_free(&c);
	return report_status();
}
