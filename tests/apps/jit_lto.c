/* SPDX-License-Identifier: MIT */
/*
 * jit_lto: two sources to LTO-IR, by NVRTC, and the two to one CUBIN, by nvJitLink
 *
 * Both libraries are linked, and nvJitLink.h's functions call those that bear the toolkit's version in their names
 * (__nvJitLinkCreate_13_0). One half is added from memory and one from a file, as if it had been made in advance.
 */
#include "compile.h"

#include <nvJitLink.h>

static const char function_source[] = "extern \"C\" __device__ float scaled(float x, float by)\n"
                                      "{\n"
                                      "	return x * by;\n"
                                      "}\n";
static const char kernel_source[] = "extern \"C\" __device__ float scaled(float x, float by);\n"
                                    "extern \"C\" __global__ void scale(float *x, float by, int n)\n"
                                    "{\n"
                                    "	int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                    "	if (i < n)\n"
                                    "		x[i] = scaled(x[i], by);\n"
                                    "}\n";

static struct artifact compiled(const char *name, const char *source, const char *architecture)
{
	struct compilation c = {
	    .name = name, .source = source, .options = {architecture, "-dlto", "-rdc=true"}, .option_count = 3};
	struct artifact ltoir;

	compile_run(&c);
	report_check(c.result == NVRTC_SUCCESS && c.ltoir.size > 0, "there is LTO-IR");
	ltoir = c.ltoir;
	c.ltoir.bytes = NULL;
	compile_free(&c);
	return ltoir;
}

static void said(const char *call, nvJitLinkResult result)
{
	printf("%s: %d\n", call, (int)result);
	report_check(result == NVJITLINK_SUCCESS, call);
}

typedef nvJitLinkResult link_size(nvJitLinkHandle handle, size_t *ret_size);
typedef nvJitLinkResult link_get(nvJitLinkHandle handle, char *ret_bytes);

static void link_log(const char *what, nvJitLinkHandle handle, link_size *size_of, link_get *get)
{
	size_t size = 0;
	char *log;

	said(what, size_of(handle, &size));
	log = (char *)report_memory(size + 1);
	said(what, get(handle, log));
	report_text(what, log, size);
	free(log);
}

/* The file is gone before nvJitLinkComplete(). */
static void add_as_file(nvJitLinkHandle handle, const struct artifact *ltoir)
{
	const char *directory = getenv("TMPDIR");
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/jit_lto.ltoir", directory ? directory : "/tmp");
	file = fopen(path, "wb");
	report_check(file && fwrite(ltoir->bytes, 1, ltoir->size, file) == ltoir->size, "the file is written");
	if (file) {
		fclose(file);
	}
	said("nvJitLinkAddFile", nvJitLinkAddFile(handle, NVJITLINK_INPUT_LTOIR, path));
	remove(path);
}

static void link_both(const struct artifact *kernel, const struct artifact *function, const char *architecture)
{
	const char *options[] = {architecture, "-lto"};
	nvJitLinkHandle handle = NULL;
	struct artifact cubin = {NULL, 0};

	said("nvJitLinkCreate", nvJitLinkCreate(&handle, 2, options));
	said("nvJitLinkAddData",
	     nvJitLinkAddData(handle, NVJITLINK_INPUT_LTOIR, kernel->bytes, kernel->size, "kernel.cu"));
	add_as_file(handle, function);
	said("nvJitLinkComplete", nvJitLinkComplete(handle));
	link_log("error log", handle, nvJitLinkGetErrorLogSize, nvJitLinkGetErrorLog);
	link_log("info log", handle, nvJitLinkGetInfoLogSize, nvJitLinkGetInfoLog);
	said("nvJitLinkGetLinkedCubinSize", nvJitLinkGetLinkedCubinSize(handle, &cubin.size));
	cubin.bytes = (char *)report_memory(cubin.size);
	said("nvJitLinkGetLinkedCubin", nvJitLinkGetLinkedCubin(handle, cubin.bytes));
	printf("CUBIN: %zu bytes, fnv1a %016llx\n", cubin.size,
	       (unsigned long long)report_hash(cubin.bytes, cubin.size));
	report_check(report_is_cubin(cubin.bytes, cubin.size, "scale"), "the CUBIN is an ELF file with scale");
	free(cubin.bytes);
	said("nvJitLinkDestroy", nvJitLinkDestroy(&handle));
}

int main(void)
{
	struct artifact kernel, function;
	char option[64];

	snprintf(option, sizeof(option), "-arch=sm_%d", compile_architecture(0));
	kernel = compiled("kernel.cu", kernel_source, option);
	function = compiled("function.cu", function_source, option);
	if (!report_failed) {
		link_both(&kernel, &function, option);
	}
	free(kernel.bytes);
	free(function.bytes);
	return report_status();
}
