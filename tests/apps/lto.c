/* SPDX-License-Identifier: MIT */
/*
 * lto: compiles to LTO-IR (-dlto) and links it with nvJitLink where that library is there
 *
 * NVRTC is linked; the driver and nvJitLink are opened at run time, because LTO-IR is worth having without them.
 */
#include "functions.h"
#include "load.h"

#include "compile.h"
#include "launch.h"

static const char source[] = "extern \"C\" __global__ void saxpy(float a, const float *x, float *y, int n)\n"
                             "{\n"
                             "	int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "	if (i < n)\n"
                             "		y[i] = a * x[i] + y[i];\n"
                             "}\n";

/* nvJitLink as it is called here; its header is not part of every NVRTC installation. */
enum { LINK_INPUT_LTOIR = 3 };
static struct {
	int (*create)(void **ret_handle, uint32_t option_count, const char **options);
	int (*add_data)(void *handle, int type, const void *bytes, size_t size, const char *name);
	int (*complete)(void *handle);
	int (*cubin_size)(void *handle, size_t *ret_size);
	int (*cubin)(void *handle, void *ret_bytes);
	int (*destroy)(void **handle);
} linker;
static const char *const linker_names[] = {"nvJitLinkCreate",         "nvJitLinkAddData",
                                           "nvJitLinkComplete",       "nvJitLinkGetLinkedCubinSize",
                                           "nvJitLinkGetLinkedCubin", "nvJitLinkDestroy"};

/* LTO-IR links only in an nvJitLink at least as new as the NVRTC it is from. Early 12.x cannot tell its version. */
static bool linker_new_enough(void *handle, int major, int minor, char *why, size_t why_size)
{
	static const char *const names[] = {"nvJitLinkVersion"};
	int (*version)(unsigned *ret_major, unsigned *ret_minor);
	unsigned its_major = 0, its_minor = 0;

	if (!load_table(handle, names, COUNT(names), &version, why, why_size) || version(&its_major, &its_minor)) {
		return true;
	}
	if (its_major * 100 + its_minor >= (unsigned)(major * 100 + minor)) {
		return true;
	}
	snprintf(why, why_size, "nvJitLink %u.%u is older than NVRTC", its_major, its_minor);
	return false;
}

/* Libraries of 12.x export only names that end in their version (the header's inline functions add it). */
static bool load_linker(char *why, size_t why_size)
{
	char versioned[COUNT(linker_names)][64];
	const char *names[COUNT(linker_names)];
	void *handle = load_library(NVJITLINK_SONAME, why, why_size);
	int major = 0, minor = 0;

	if (!handle) {
		return false;
	}
	nvrtcVersion(&major, &minor);
	if (!linker_new_enough(handle, major, minor, why, why_size)) {
		return false;
	}
	if (load_table(handle, linker_names, COUNT(linker_names), &linker, why, why_size)) {
		return true;
	}
	for (size_t i = 0; i < COUNT(names); i++) {
		snprintf(versioned[i], sizeof(versioned[i]), "__%s_%d_%d", linker_names[i], major, minor);
		names[i] = versioned[i];
	}
	return load_table(handle, names, COUNT(names), &linker, why, why_size);
}

static struct artifact link_ltoir(const struct artifact *ltoir, int architecture)
{
	char option[64];
	const char *options[] = {option, "-lto"};
	struct artifact cubin = {NULL, 0};
	void *handle = NULL;
	int result;

	snprintf(option, sizeof(option), "-arch=sm_%d", architecture);
	result = linker.create(&handle, COUNT(options), options);
	if (!result) {
		result = linker.add_data(handle, LINK_INPUT_LTOIR, ltoir->bytes, ltoir->size, "lto.cu");
		if (!result) {
			result = linker.complete(handle);
		}
		if (!result) {
			result = linker.cubin_size(handle, &cubin.size);
		}
		if (!result) {
			cubin.bytes = report_memory(cubin.size);
			result = linker.cubin(handle, cubin.bytes);
		}
		linker.destroy(&handle);
	}
	printf("link: %d, %zu bytes, fnv1a %016llx\n", result, cubin.size,
	       (unsigned long long)report_hash(cubin.bytes, cubin.bytes ? cubin.size : 0));
	report_check(!result, "nvJitLink links the LTO-IR");
	return cubin;
}

int main(void)
{
	char option[64];
	struct compilation c = {.name = "lto.cu", .source = source, .options = {option, "-dlto"}, .option_count = 2};
	struct artifact cubin = {NULL, 0};
	int architecture;

	load_driver();
	architecture = compile_architecture(launch_device());
	snprintf(option, sizeof(option), "-arch=sm_%d", architecture);
	compile_run(&c);
	report_check(c.result == NVRTC_SUCCESS, "the compilation succeeds");
	report_check(c.ltoir.size > 0, "there is LTO-IR");
	report_check(!c.cubin.size, "there is no cubin");
	if (!report_failed) {
		char no_linker[256];

		if (load_linker(no_linker, sizeof(no_linker))) {
			cubin = link_ltoir(&c.ltoir, architecture);
			report_check(report_is_cubin(cubin.bytes, cubin.size, "saxpy"),
			             "the linked cubin is an ELF file with saxpy");
			if (!report_failed) {
				launch_image(cubin.bytes, NULL, "saxpy");
			}
		} else {
			printf("launch: skipped (no linker: %s)\n", no_linker);
		}
	}
	free(cubin.bytes);
	compile_free(&c);
	return report_status();
}
