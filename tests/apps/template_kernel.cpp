/* SPDX-License-Identifier: MIT */
/*
 * template_kernel: a kernel template in C++, found by its lowered name; linked with -lnvrtc -lcuda, bound at start
 *
 * `bias` has external linkage on purpose. A source with nothing but templates and internal symbols gets a module
 * identifier made of the process id and the time from NVRTC, and its output differs in every process.
 */
#include "compile.h"
#include "launch.h"

#include <string>

static const char source[] = R"(
__constant__ float bias = 0.0f;

template <typename T, int UNROLL>
__global__ void axpy(T a, const T *x, T *y, int n)
{
	int begin = (blockIdx.x * blockDim.x + threadIdx.x) * UNROLL;

	for (int i = begin; i < begin + UNROLL && i < n; i++)
		y[i] = a * x[i] + y[i] + T(bias);
}
)";

int main()
{
	int architecture = compile_architecture(launch_device());
	std::string option = "-arch=sm_" + std::to_string(architecture);
	compilation c{};

	c.name = "template_kernel.cu";
	c.source = source;
	c.names[c.name_count++] = "axpy<float, 4>";
	c.names[c.name_count++] = "axpy<double, 2>";
	c.names[c.name_count++] = "&bias";
	c.options[c.option_count++] = option.c_str();
	c.options[c.option_count++] = "-default-device";
	compile_run(&c);

	report_check(c.result == NVRTC_SUCCESS, "the compilation succeeds");
	for (int i = 0; i < c.name_count; i++)
		report_check(c.lowered[i] != nullptr, "every name expression has a lowered name");
	if (!report_failed) {
		for (int i = 0; i < 2; i++) {
			report_check(report_is_ptx(c.ptx.bytes, c.ptx.size, c.lowered[i]),
			             "the PTX has the instantiation");
			report_check(report_is_cubin(c.cubin.bytes, c.cubin.size, c.lowered[i]),
			             "the cubin has the instantiation");
		}
	}
	if (!report_failed)
		launch_image(c.cubin.bytes, c.ptx.bytes, c.lowered[0]);
	compile_free(&c);
	return report_status();
}
