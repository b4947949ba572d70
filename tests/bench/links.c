/* SPDX-License-Identifier: MIT */
/*
 * links: the lives of links, and of programs in NVVM IR, timed from inside the host
 *
 * usage: links link LIBRARY ROUNDS TYPE FILE... -- OPTION...      TYPE: ptx, ltoir
 *        links nvvm LIBRARY ROUNDS LIBDEVICE FILE... -- OPTION...
 *
 * Prints nanoseconds: "first <create> <add> <work> <getters> <destroy>", then, over the remaining rounds, "median" of
 * the same and "life" (their sum's median). The work is nvJitLinkComplete(), or to verify and to compile.
 */
#include "timing.h"

#include <dlfcn.h>
#include <string.h>

enum step { CREATE, ADD, WORK, GET, DESTROY, STEPS };
enum { FILES_MAX = 8, FILE_MAX = 8 << 20, LINK_PTX = 2, LINK_LTOIR = 3 };

struct input {
	const char *path;
	char *bytes;
	size_t size;
};

static void *library;
static const char **options;
static int option_count;
static struct input inputs[FILES_MAX], libdevice;
static int input_count, link_type;

static struct input read_input(const char *path)
{
	struct input input = {.path = path};

	input.bytes = must_read(path, &input.size);
	return input;
}

static void must(const char *what, int result)
{
	if (result != 0) {
		fprintf(stderr, "links: %s gives %d\n", what, result);
		exit(3);
	}
}

/* The functions of a row, once for all rounds. */
#define FUNCTION(name, ...)                               \
	static int (*name)(__VA_ARGS__);                  \
	if (!name && !(name = dlsym(library, #name))) {   \
		fprintf(stderr, "links: no %s\n", #name); \
		exit(2);                                  \
	}

static char *buffer_for(size_t size)
{
	static char buffer[FILE_MAX];

	must("a result's size", size > sizeof(buffer));
	return buffer;
}

static void live_link(int64_t marks[STEPS + 1])
{
	FUNCTION(nvJitLinkCreate, void **, unsigned, const char **)
	FUNCTION(nvJitLinkAddData, void *, int, const void *, size_t, const char *)
	FUNCTION(nvJitLinkComplete, void *)
	FUNCTION(nvJitLinkGetLinkedCubinSize, void *, size_t *)
	FUNCTION(nvJitLinkGetLinkedCubin, void *, void *)
	FUNCTION(nvJitLinkGetErrorLogSize, void *, size_t *)
	FUNCTION(nvJitLinkDestroy, void **)
	void *handle;
	size_t size;

	marks[CREATE] = now();
	must("nvJitLinkCreate", nvJitLinkCreate(&handle, (unsigned)option_count, options));
	marks[ADD] = now();
	for (int i = 0; i < input_count; i++) {
		must("nvJitLinkAddData",
		     nvJitLinkAddData(handle, link_type, inputs[i].bytes, inputs[i].size, inputs[i].path));
	}
	marks[WORK] = now();
	must("nvJitLinkComplete", nvJitLinkComplete(handle));
	marks[GET] = now();
	must("nvJitLinkGetErrorLogSize", nvJitLinkGetErrorLogSize(handle, &size));
	must("nvJitLinkGetLinkedCubinSize", nvJitLinkGetLinkedCubinSize(handle, &size));
	must("nvJitLinkGetLinkedCubin", nvJitLinkGetLinkedCubin(handle, buffer_for(size)));
	marks[DESTROY] = now();
	must("nvJitLinkDestroy", nvJitLinkDestroy(&handle));
	marks[STEPS] = now();
}

static void live_nvvm(int64_t marks[STEPS + 1])
{
	FUNCTION(nvvmCreateProgram, void **)
	FUNCTION(nvvmAddModuleToProgram, void *, const char *, size_t, const char *)
	FUNCTION(nvvmLazyAddModuleToProgram, void *, const char *, size_t, const char *)
	FUNCTION(nvvmVerifyProgram, void *, int, const char **)
	FUNCTION(nvvmCompileProgram, void *, int, const char **)
	FUNCTION(nvvmGetCompiledResultSize, void *, size_t *)
	FUNCTION(nvvmGetCompiledResult, void *, char *)
	FUNCTION(nvvmDestroyProgram, void **)
	void *program;
	size_t size;

	marks[CREATE] = now();
	must("nvvmCreateProgram", nvvmCreateProgram(&program));
	marks[ADD] = now();
	for (int i = 0; i < input_count; i++) {
		must("nvvmAddModuleToProgram", nvvmAddModuleToProgram(program, inputs[i].bytes, inputs[i].size, ""));
	}
	must("nvvmLazyAddModuleToProgram", nvvmLazyAddModuleToProgram(program, libdevice.bytes, libdevice.size, ""));
	marks[WORK] = now();
	must("nvvmVerifyProgram", nvvmVerifyProgram(program, option_count, options));
	must("nvvmCompileProgram", nvvmCompileProgram(program, option_count, options));
	marks[GET] = now();
	must("nvvmGetCompiledResultSize", nvvmGetCompiledResultSize(program, &size));
	must("nvvmGetCompiledResult", nvvmGetCompiledResult(program, buffer_for(size)));
	marks[DESTROY] = now();
	must("nvvmDestroyProgram", nvvmDestroyProgram(&program));
	marks[STEPS] = now();
}

static void usage(void)
{
	fprintf(stderr, "usage: links link LIBRARY ROUNDS ptx|ltoir FILE... -- OPTION...\n"
	                "       links nvvm LIBRARY ROUNDS LIBDEVICE FILE... -- OPTION...\n");
	exit(2);
}

int main(int argc, char **argv)
{
	void (*live)(int64_t[STEPS + 1]) = live_link;
	int rounds, at = 5;
	int64_t(*marks)[STEPS + 1];

	if (argc < 7 || !(library = dlopen(argv[2], RTLD_LAZY))) {
		usage();
	}
	rounds = atoi(argv[3]);
	if (strcmp(argv[1], "nvvm") == 0) {
		live = live_nvvm;
		libdevice = read_input(argv[4]);
	} else {
		link_type = strcmp(argv[4], "ptx") == 0 ? LINK_PTX : LINK_LTOIR;
	}
	for (; at < argc && strcmp(argv[at], "--") != 0 && input_count < FILES_MAX; at++) {
		inputs[input_count++] = read_input(argv[at]);
	}
	if (at >= argc || strcmp(argv[at], "--") != 0) {
		usage();
	}
	options = (const char **)argv + at + 1;
	option_count = argc - at - 1;
	marks = calloc((size_t)rounds + 1, sizeof(*marks));
	for (int i = 0; i <= rounds; i++) {
		live(marks[i]);
	}
	tell_lives(marks[0], rounds, STEPS);
	free(marks);
	return 0;
}
