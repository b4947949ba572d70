/* SPDX-License-Identifier: MIT */
/*
 * work: one piece of work of NVRTC, nvJitLink or libNVVM, for hosts that do the same with each
 *
 * work_open() takes the functions of the library at a path, whose file name says which compiler it is; with
 * -DLINKED_NVRTC or -DLINKED_LINK, those that the program is linked with. Its functions then create and destroy a handle,
 * and do work of a variant, which gives one number for all that came of it: the same with and without a cache.
 */
#ifndef TESTS_HOSTS_WORK_H
#define TESTS_HOSTS_WORK_H

#include "tests/fake/link/nvjitlink.h"
#include "tests/fake/nvvm/nvvm.h"
#include "tests/hosts/host.h"

struct work_kind {
	const char *name; /* in the library's file name */
	void (*take)(void *library);
	/*
	 * Creates and destroys a handle. NULL for nvJitLink, which holds a lock of its own there: a child that was forked
	 * meanwhile hangs without us too.
	 */
	void (*create)(void);
	uint64_t (*work)(int variant);
};

#ifdef LINKED_NVRTC
#define WORK_TAKE_NVRTC(name, parameters) work_nvrtc.name = name;
#else
#define WORK_TAKE_NVRTC(name, parameters) work_nvrtc.name = dlsym(library, #name);
#endif
#ifdef LINKED_LINK
#define WORK_TAKE_LINK(name, parameters) work_link.name = nvJitLink##name;
#else
#define WORK_TAKE_LINK(name, parameters) work_link.name = dlsym(library, "nvJitLink" #name);
#endif
#define WORK_TAKE_NVVM(type, name, parameters)   work_nvvm.name = dlsym(library, #name);
#define WORK_MEMBER(name, parameters)            int(*name) parameters;
#define WORK_MEMBER_NVVM(type, name, parameters) type(*name) parameters;

static struct compiler work_nvrtc;
static struct {
	LINK_FUNCTIONS(WORK_MEMBER)
} work_link;
static struct {
	NVVM_FUNCTIONS(WORK_MEMBER_NVVM)
} work_nvvm;

static inline uint64_t work_mix(uint64_t digest, int result, const char *bytes, size_t size)
{
	return host_mix(host_mix(digest, &result, sizeof(result)), bytes, result == 0 ? size : 0);
}

/* ---- NVRTC ---- */

static inline void work_take_nvrtc(void *library)
{
	(void)library;
	NVRTC_BASE(WORK_TAKE_NVRTC)
}

static inline void work_create_nvrtc(void)
{
	nvrtcProgram program = host_create(&work_nvrtc, 0);

	work_nvrtc.nvrtcDestroyProgram(&program);
}

static inline uint64_t work_do_nvrtc(int variant)
{
	return host_compile(&work_nvrtc, variant, 0);
}

/* ---- nvJitLink: PTX, which it compiles while it is added ---- */

static inline void work_take_link(void *library)
{
	(void)library;
	LINK_FUNCTIONS(WORK_TAKE_LINK)
}

static inline uint64_t work_do_link(int variant)
{
	const char *options[] = {"-arch=sm_80", "-no-cache"}; /* else creating one opens libcuda, without us too */
	nvJitLinkHandle handle = NULL;
	char text[512], *bytes;
	size_t size = 0;
	int result = work_link.Create(&handle, 2, options);
	uint64_t digest = host_mix(UINT64_C(0xcbf29ce484222325), &result, sizeof(result));

	snprintf(
	    text, sizeof(text),
	    ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %%rd<3>;\n"
	    "ld.param.u64 %%rd1, [p];\ncvta.to.global.u64 %%rd2, %%rd1;\nst.global.u32 [%%rd2], %d;\nret;\n}\n",
	    variant);
	result = work_link.AddData(handle, LINK_PTX, text, strlen(text) + 1, "work.ptx");
	digest = host_mix(digest, &result, sizeof(result));
	result = work_link.Complete(handle);
	digest = host_mix(digest, &result, sizeof(result));
	result = work_link.GetLinkedCubinSize(handle, &size);
	bytes = calloc(1, size + 1);
	result += work_link.GetLinkedCubin(handle, bytes);
	digest = work_mix(digest, result, bytes, size);
	free(bytes);
	work_link.Destroy(&handle);
	return digest;
}

/* ---- libNVVM ---- */

static inline void work_take_nvvm(void *library)
{
	NVVM_FUNCTIONS(WORK_TAKE_NVVM)
}

static inline void work_create_nvvm(void)
{
	nvvmProgram program = NULL;

	work_nvvm.nvvmCreateProgram(&program);
	work_nvvm.nvvmDestroyProgram(&program);
}

static inline uint64_t work_do_nvvm(int variant)
{
	const char *options[] = {"-arch=compute_80"};
	nvvmProgram program = NULL;
	char text[1024], *bytes;
	size_t size = 0;
	uint64_t digest;
	int result;

	snprintf(text, sizeof(text),
	         "target triple = \"nvptx64-nvidia-cuda\"\ntarget datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-"
	         "i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-"
	         "n16:32:64\"\ndefine void @kernel(i32* %%p) {\n  store i32 %d, i32* %%p\n  ret void\n}\n"
	         "!nvvm.annotations = !{!0}\n!0 = !{void (i32*)* @kernel, !\"kernel\", i32 1}\n"
	         "!nvvmir.version = !{!1}\n!1 = !{i32 2, i32 0}\n",
	         variant);
	result =
	    work_nvvm.nvvmCreateProgram(&program) + work_nvvm.nvvmAddModuleToProgram(program, text, strlen(text), "m");
	digest = host_mix(UINT64_C(0xcbf29ce484222325), &result, sizeof(result));
	result = work_nvvm.nvvmCompileProgram(program, 1, options);
	digest = host_mix(digest, &result, sizeof(result));
	result = work_nvvm.nvvmGetCompiledResultSize(program, &size);
	bytes = calloc(1, size + 1);
	result += work_nvvm.nvvmGetCompiledResult(program, bytes);
	digest = work_mix(digest, result, bytes, size);
	free(bytes);
	work_nvvm.nvvmDestroyProgram(&program);
	return digest;
}

static const struct work_kind work_kinds[] = {
    {"libnvrtc", work_take_nvrtc, work_create_nvrtc, work_do_nvrtc},
    {"libnvJitLink", work_take_link, NULL, work_do_link},
    {"libnvvm", work_take_nvvm, work_create_nvvm, work_do_nvvm},
};

static inline const struct work_kind *work_open(const char *path)
{
	const struct work_kind *kind = work_kinds;
	void *library = NULL;

	while (!strstr(strrchr(path, '/'), kind->name)) {
		kind++;
	}
#if !defined(LINKED_NVRTC) && !defined(LINKED_LINK)
	library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (!library) {
		printf("no library: %s\n", dlerror());
		exit(2);
	}
#endif
	kind->take(library);
	return kind;
}

#endif
