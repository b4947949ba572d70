/* SPDX-License-Identifier: MIT */
/*
 * dynamic: opens both libraries at run time, as most frameworks do, and asks dlsym for every function
 *
 * It compiles twice: a program with an error, as feature detection does, then one that includes a header in memory.
 */
#include "functions.h"
#include "load.h"

static struct {
	NVRTC_FUNCTIONS(FUNCTION_MEMBER)
} nvrtc;
static const char *const nvrtc_names[] = {NVRTC_FUNCTIONS(FUNCTION_NAME)};

#define NVRTC(function) nvrtc.function
#include "compile.h"
#include "launch.h"

static const char source[] = "#include \"shape.h\"\n"
                             "extern \"C\" __global__ void saxpy(float a, const float *x, float *y, int n)\n"
                             "{\n"
                             "	int i = SHAPE_INDEX;\n"
                             "	if (i < n)\n"
                             "		y[i] = SHAPE_LINE(a, x[i], y[i]);\n"
                             "}\n";
static const char header[] = "#define SHAPE_INDEX (blockIdx.x * blockDim.x + threadIdx.x)\n"
                             "#define SHAPE_LINE(a, x, y) ((a) * (x) + (y))\n";

int main(void)
{
	char why[256];
	char option[64];
	struct compilation wrong = {.name = NULL, .source = "__global__ void broken() { no_such_function(); }\n"};
	struct compilation c = {.name = "dynamic.cu", .source = source, .header_name = "shape.h", .header = header};
	void *handle = load_library(NVRTC_SONAME, why, sizeof(why));

	if (!handle || !load_table(handle, nvrtc_names, COUNT(nvrtc_names), &nvrtc, why, sizeof(why))) {
		printf("NVRTC: %s\n", why);
		return EXIT_FAILURE;
	}
	load_driver();
	snprintf(option, sizeof(option), "--gpu-architecture=sm_%d", compile_architecture(launch_device()));
	wrong.options[wrong.option_count++] = option;
	c.options[c.option_count++] = option;

	compile_run(&wrong);
	report_check(wrong.result == NVRTC_ERROR_COMPILATION, "the wrong program does not compile");
	report_check(wrong.log.size > 1 && strstr(wrong.log.bytes, "no_such_function"), "the log names the error");
	report_check(!wrong.cubin.size, "a failed compilation has no cubin");
	compile_free(&wrong);

	compile_run(&c);
	report_check(c.result == NVRTC_SUCCESS, "the compilation succeeds");
	report_check(report_is_ptx(c.ptx.bytes, c.ptx.size, "saxpy"), "the PTX is text with .entry saxpy");
	report_check(report_is_cubin(c.cubin.bytes, c.cubin.size, "saxpy"), "the cubin is an ELF file with saxpy");
	if (!report_failed) {
		launch_image(c.cubin.bytes, c.ptx.bytes, "saxpy");
	}
	compile_free(&c);
	return report_status();
}
