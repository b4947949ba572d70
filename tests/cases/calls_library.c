/* SPDX-License-Identifier: MIT */
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void version(void)
{
	int (*f)(int *, int *) = function("nvrtcVersion");
	int major = -1, minor = -1;
	int code = f(&major, &minor);

	printf("  version %d %d.%d", code, major, minor);
	code = f(NULL, &minor);
	printf(" null %d", code);
	code = f(&major, NULL);
	printf(" %d\n", code);
}

static void architectures(void)
{
	int (*number)(int *) = function("nvrtcGetNumSupportedArchs");
	int (*list)(int *) = function("nvrtcGetSupportedArchs");
	int count = -1, values[64];
	int code = number(&count);

	printf("  architectures %d %d:", code, count);
	if (count < 0 || count > 64) {
		printf(" too many\n");
		return;
	}
	code = list(values);
	for (int i = 0; i < count; i++) {
		printf(" %d", values[i]);
	}
	printf(" %d null %d", code, number(NULL));
	printf(" %d\n", list(NULL));
}

static void errors(int from, int to)
{
	const char *(*f)(int) = function("nvrtcGetErrorString");

	for (int i = from; i <= to; i++) {
		const char *text = f(i);

		printf("  error %d %s\n", i, text ? text : "NULL");
	}
}

static void heap(const char *size)
{
	int (*get)(size_t *) = function("nvrtcGetPCHHeapSize");
	int (*set)(size_t) = function("nvrtcSetPCHHeapSize");
	size_t value = 77;

	if (!get || !set) {
		printf("  heap absent\n");
		return;
	}
	if (size) {
		printf("  heap set %d", set(strtoull(size, NULL, 10)));
	} else {
		printf("  heap null %d", get(NULL));
	}
	printf(" get %d", get(&value));
	printf(" %zu\n", value);
}

/* 13.3: headers that come inside the library. */
static void bundled(const char *verb, const char *path)
{
	struct {
		int available;
		size_t compressed, uncompressed;
		int major, minor;
		unsigned files;
	} info = {-1, 0, 0, -1, -1, 0};
	typedef int asker(void *, const char **);
	typedef int installer(const char *, unsigned, const char **);
	asker *ask = function("nvrtcGetBundledHeadersInfo");
	installer *install = function("nvrtcInstallBundledHeaders");
	asker *discard = function("nvrtcRemoveBundledHeaders");
	const char *log = NULL;
	int code = -1;

	if (!ask || !install || !discard) {
		printf("  bundled headers absent\n");
		return;
	}
	if (strcmp(verb, "info") == 0) {
		code = ask(path ? &info : NULL, &log);
		printf("  bundled %d: %d %zu %zu %d.%d %u", code, info.available, info.compressed, info.uncompressed,
		       info.major, info.minor, info.files);
	} else if (strcmp(verb, "install") == 0) {
		code = install(path, 0, &log);
		printf("  install %d", code);
	} else {
		code = discard((void *)path, &log);
		printf("  remove %d", code);
	}
	printf(" log %s\n", log && *log ? "given" : "empty");
}

int call_of_library(const char *verb, int count, char **rest)
{
	if (strcmp(verb, "version") == 0) {
		version();
	} else if (strcmp(verb, "architectures") == 0) {
		architectures();
	} else if (strcmp(verb, "errors") == 0) {
		errors(atoi(rest[0]), atoi(rest[1]));
	} else if (strcmp(verb, "heap") == 0) {
		heap(count > 0 ? rest[0] : NULL);
	} else if (strcmp(verb, "bundled") == 0) {
		bundled(rest[0], rest[1]);
	} else {
		return 0;
	}
	return 1;
}
