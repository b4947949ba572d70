/* SPDX-License-Identifier: MIT */
/*
 * start: compiles each file once, as a C program does at its start, and prints the seconds that this took
 *
 * usage: start LIBRARY OPTION... -- FILE...
 */
#include "timing.h"

#include <dlfcn.h>
#include <string.h>

static int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
static int (*compile)(void *, int, const char *const *);
static int (*get_size)(void *, size_t *);
static int (*get_cubin)(void *, char *);
static int (*destroy)(void **);

static void compile_file(const char *path, int count, const char *const *options)
{
	char *cubin = NULL;
	void *program;
	size_t size;
	char *source = must_read(path, &size);

	if (create(&program, source, path, 0, NULL, NULL) != 0 || compile(program, count, options) != 0 ||
	    get_size(program, &size) != 0 || !(cubin = malloc(size)) || get_cubin(program, cubin) != 0 ||
	    destroy(&program) != 0) {
		fprintf(stderr, "start: %s was not compiled\n", path);
		exit(1);
	}
	free(source);
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
	create = dlsym(library, "nvrtcCreateProgram");
	compile = dlsym(library, "nvrtcCompileProgram");
	get_size = dlsym(library, "nvrtcGetCUBINSize");
	get_cubin = dlsym(library, "nvrtcGetCUBIN");
	destroy = dlsym(library, "nvrtcDestroyProgram");
	begin = now();
	for (int i = files + 1; i < argc; i++) {
		compile_file(argv[i], files - 2, (const char *const *)argv + 2);
	}
	printf("%f\n", (double)(now() - begin) / 1e9);
	return 0;
}
