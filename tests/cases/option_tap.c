/* SPDX-License-Identifier: MIT */
/*
 * option_tap: tells scripts/cleared-options the options that a program decodes for NVRTC
 *
 *     OPTION_TAP=DESCRIPTOR LD_PRELOAD=option_tap.so program
 *
 * The program must look up __nvrtcCPEx and nvrtcCompileProgram by dlsym. Each compilation writes a zero, and then, for each
 * option that was decoded, the option and a zero to the descriptor, which is a pipe: no text reaches a file.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __x86_64__
#define LIBC_NODE "GLIBC_2.2.5"
#else
#define LIBC_NODE "GLIBC_2.17"
#endif

enum { DECODE = 1, PAYLOAD };

typedef char *decode_function(const char *text, void *payload);
typedef int create_function(void **program, const char *source, const char *name, int count, const char *const *headers,
                            const char *const *names, int extensions, const int *kinds, void *const *values);
typedef int compile_function(void *program, int count, const char *const *options);
typedef void *dlsym_function(void *handle, const char *name);

struct host {
	decode_function *decode;
	void *payload;
};

static create_function *real_create;
static compile_function *real_compile;
static int creating;

static void tell(const char *text)
{
	if (write(atoi(getenv("OPTION_TAP")), text, strlen(text) + 1) < 0) {
		abort();
	}
}

static char *decode(const char *text, void *payload)
{
	const struct host *host = payload;
	char *result = host->decode(text, host->payload);

	if (!creating && result) {
		tell(result);
	}
	return result;
}

static int create(void **program, const char *source, const char *name, int count, const char *const *headers,
                  const char *const *names, int extensions, const int *kinds, void *const *values)
{
	static const int ours[] = {DECODE, PAYLOAD};
	struct host *host = calloc(1, sizeof(*host)); /* lives as long as the program, which is the process */
	void *const with[] = {(void *)decode, host};
	int result;

	for (int i = 0; i < extensions; i++) {
		if (kinds[i] == DECODE) {
			host->decode = (decode_function *)values[i];
		} else {
			host->payload = values[i];
		}
	}
	creating = 1;
	result = real_create(program, source, name, count, headers, names, 2, ours, with);
	creating = 0;
	return result;
}

static int compile(void *program, int count, const char *const *options)
{
	tell("");
	return real_compile(program, count, options);
}

void *dlsym(void *handle, const char *name)
{
	static dlsym_function *real;
	void *found;

	if (!real) {
		real = (dlsym_function *)dlvsym(RTLD_NEXT, "dlsym", LIBC_NODE);
	}
	found = real(handle, name);
	if (found && strcmp(name, "__nvrtcCPEx") == 0) {
		real_create = (create_function *)found;
		return (void *)create;
	}
	if (found && strcmp(name, "nvrtcCompileProgram") == 0) {
		real_compile = (compile_function *)found;
		return (void *)compile;
	}
	return found;
}
