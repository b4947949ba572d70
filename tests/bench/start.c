/* SPDX-License-Identifier: MIT */
/*
 * start: compiles each file once, as a C program does at its start, and prints the seconds that this took
 *
 * usage: start LIBRARY OPTION... -- FILE...
 */
#include "timing.h"

#include <dlfcn.h>
#include <string.h>

#define SOURCE_MAX 65536

static int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
static int (*compile)(void *, int, const char *const *);
static int (*get_size)(void *, size_t *);
static int (*get_cubin)(void *, char *);
static int (*destroy)(void **);

static void compile_file(const char *path, int count, const char *const *options)
{
	static char source[SOURCE_MAX];
	FILE *file = fopen(path, "r");
	char *cubin = NULL;
	void *program;
	size_t size;

	if (!file || fread(source, 1, sizeof(source) - 1, file) == 0 || fclose(file) != 0 ||
	    create(&program, source, path, 0, NULL, NULL) != 0 || compile(program, count, options) != 0 ||
	    get_size(program, &size) != 0 || !(cubin = malloc(size)) || get_cubin(program, cubin) != 0 ||
	    destroy(&program) != 0) {
		fprintf(stderr, "start: %s was not compiled\n", path);
		exit(1);
	}
	memset(source, 0, sizeof(source));
	free(cubin);
}

int main(int argc, char **argv)
{
	void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int64_t begin;
	int files = 2;

	if (!library) {
		return 2;
	}
	while (files < argc && strcmp(argv[files], "--") != 0) {
		files++;
	}
	*(void **)&create = dlsym(library, "nvrtcCreateProgram");
	*(void **)&compile = dlsym(library, "nvrtcCompileProgram");
	*(void **)&get_size = dlsym(library, "nvrtcGetCUBINSize");
	*(void **)&get_cubin = dlsym(library, "nvrtcGetCUBIN");
	*(void **)&destroy = dlsym(library, "nvrtcDestroyProgram");
	begin = now();
	for (int i = files + 1; i < argc; i++) {
		compile_file(argv[i], files - 2, (const char *const *)argv + 2);
	}
	printf("%f\n", (double)(now() - begin) / 1e9);
	return 0;
}
