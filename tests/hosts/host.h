/* SPDX-License-Identifier: MIT */
/*
 * host: what the programs in tests/hosts do with a compiler
 *
 * host_open() takes the functions of the library at a path; host_compile() is the life of one program, and gives one
 * number for all that it could be asked: the same number with and without a cache. Sources are valid CUDA. Whatever a
 * program prints must be the same without us, with an empty cache and with a filled one, but for the line "compiles".
 */
#ifndef TESTS_HOSTS_HOST_H
#define TESTS_HOSTS_HOST_H

#include "tests/fake/nvrtc.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOST_MEMBER(name, parameters) nvrtcResult(*name) parameters;
struct compiler {
	void *handle;
	NVRTC_BASE(HOST_MEMBER)
	int (*fakeNvrtcCompiles)(void);
};

static inline void host_open(const char *path, struct compiler *compiler)
{
	compiler->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (compiler->handle == NULL) {
		printf("no library: %s\n", dlerror());
		exit(2);
	}
#define HOST_TAKE(name, parameters) compiler->name = dlsym(compiler->handle, #name);
	NVRTC_BASE(HOST_TAKE)
	compiler->fakeNvrtcCompiles = dlsym(compiler->handle, "fakeNvrtcCompiles");
}

static inline int host_compiles(const struct compiler *compiler)
{
	return compiler->fakeNvrtcCompiles != NULL ? compiler->fakeNvrtcCompiles() : -1;
}

static inline uint64_t host_mix(uint64_t digest, const void *bytes, size_t size)
{
	const unsigned char *next = bytes;

	for (size_t i = 0; i < size; i++) {
		digest = (digest ^ next[i]) * UINT64_C(0x100000001b3);
	}
	return digest;
}

#define HOST_EXPRESSION "scale<float>"

static inline void host_source(int variant, char *ret_text, size_t size)
{
	snprintf(ret_text, size,
	         "template <class T> __global__ void scale(T *x, T by) { x[threadIdx.x] *= by + (T)%d; }\n%s", variant,
	         variant % 8 == 7 ? "#error broken on purpose\n" : "");
}

static inline nvrtcProgram host_create(const struct compiler *compiler, int variant)
{
	nvrtcProgram program = NULL;
	char text[512];

	host_source(variant, text, sizeof(text));
	if (compiler->nvrtcCreateProgram(&program, text, "host.cu", 0, NULL, NULL) != 0 ||
	    compiler->nvrtcAddNameExpression(program, HOST_EXPRESSION) != 0) {
		printf("cannot create\n");
		exit(3);
	}
	return program;
}

/* Everything that a program can be asked. */
static inline uint64_t host_ask(const struct compiler *compiler, nvrtcProgram program)
{
	nvrtcResult (*sizes[])(nvrtcProgram, size_t *) = {compiler->nvrtcGetPTXSize, compiler->nvrtcGetCUBINSize,
	                                                  compiler->nvrtcGetProgramLogSize};
	nvrtcResult (*getters[])(nvrtcProgram, char *) = {compiler->nvrtcGetPTX, compiler->nvrtcGetCUBIN,
	                                                  compiler->nvrtcGetProgramLog};
	uint64_t digest = UINT64_C(0xcbf29ce484222325);
	const char *lowered = "none";
	int result;

	for (int i = 0; i < 3; i++) {
		size_t size = 0;
		char *bytes;

		result = sizes[i](program, &size);
		digest = host_mix(digest, &result, sizeof(result));
		bytes = calloc(1, size + 1);
		result = getters[i](program, bytes);
		digest = host_mix(digest, &result, sizeof(result));
		digest = host_mix(digest, bytes, size);
		free(bytes);
	}
	result = compiler->nvrtcGetLoweredName(program, HOST_EXPRESSION, &lowered);
	digest = host_mix(digest, &result, sizeof(result));
	return lowered != NULL ? host_mix(digest, lowered, strlen(lowered)) : digest;
}

static inline int host_build(const struct compiler *compiler, nvrtcProgram program, int architecture)
{
	const char *const names[] = {"-arch=sm_80", "-arch=compute_80", "-arch=sm_90"};
	const char *options[] = {names[architecture % 3], "-std=c++17"};

	return compiler->nvrtcCompileProgram(program, 2, options);
}

static inline uint64_t host_compile(const struct compiler *compiler, int variant, int architecture)
{
	nvrtcProgram program = host_create(compiler, variant);
	int result = host_build(compiler, program, architecture);
	uint64_t digest = host_mix(host_ask(compiler, program), &result, sizeof(result));

	compiler->nvrtcDestroyProgram(&program);
	return digest;
}

/* NVRTC beside another compiler in one process. */
static inline void host_use_nvrtc(const char *path)
{
	struct compiler compiler;

	host_open(path, &compiler);
	printf("nvrtc %016llx\n", (unsigned long long)host_compile(&compiler, 1, 0));
	printf("really nvrtc %d\n", host_compiles(&compiler));
}

/* What two getters give, and what lies behind the bytes, which nobody may have written, as lines. */
static inline void host_get(const char *what, void *handle, void *size_getter, void *bytes_getter)
{
	size_t size = 3; /* stays so where the call fails */
	int code = ((int (*)(void *, size_t *))size_getter)(handle, &size);
	char *bytes = malloc(size + 4);

	memset(bytes, '#', size + 4);
	printf("%s size %d\n", what, code);
	code = ((int (*)(void *, void *))bytes_getter)(handle, bytes);
	printf("%s %d, %zu bytes: ", what, code, size + 4);
	for (size_t i = 0; i < size + 4; i++) {
		printf(bytes[i] >= ' ' && bytes[i] <= '~' ? "%c" : "\\%03o", (unsigned char)bytes[i]);
	}
	printf("\n");
	free(bytes);
}

/* Calls `live` with each number below `count` in a thread of its own, and shows what the threads return, in order. */
static inline void host_run_threads(int count, void *(*live)(void *number), void (*show)(void *returned))
{
	pthread_t threads[64];
	void *returned;

	for (intptr_t i = 0; i < count; i++) {
		pthread_create(&threads[i], NULL, live, (void *)i);
	}
	for (int i = 0; i < count; i++) {
		pthread_join(threads[i], &returned);
		show(returned);
	}
}

#endif
