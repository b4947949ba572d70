/* SPDX-License-Identifier: MIT */
/*
 * A host of libNVVM: does what its arguments say, in their order, and prints every return code and all that it gets.
 *
 *     LIBRARY                          first, where it is not linked against libNVVM
 *     use=N                            which of four programs is meant from here on
 *     library=LIBRARY                  from here on the functions of this one are called
 *     option=TEXT no-options           one more option for the calls to come; none
 *     create add=NAME=TEXT lazy=NAME=TEXT nameless=TEXT big=NAME=TEXT add-nothing
 *     verify compile null-options get get-nowhere destroy
 *     load=LIBRARY ask-loaded          one that is linked against libNVVM, and asks for the size of the result
 *     inspect                          a function that no table knows
 *     private                          the same through __nvvmHandle
 *     set=NAME=VALUE round=up          the environment; the rounding mode
 *     whim=TEXT                        gives the library a whim
 *     threads=N                        so many, each with a program of its own
 *     fork                             the rest is done by a child
 *     nvrtc=LIBRARY                    the life of one program of NVRTC's
 *
 * Lines that begin with "really" say how often a library has worked; all others must be the same with and without us.
 */
#include "tests/hosts/host.h"
#include "tests/fake/nvvm/nvvm.h"

#include <fenv.h>

#define OPTIONS_MAX  8
#define PROGRAMS_MAX 4
#define BIG_SIZE     ((size_t)200 << 10)

#define NVVM_MEMBER(type, name, parameters) type(*name) parameters;
static struct {
	NVVM_FUNCTIONS(NVVM_MEMBER)
	NVVM_OWN(NVVM_MEMBER)
	char *fakeNvvmWhim;
} nvvm;

static void *library;
static nvvmProgram programs[PROGRAMS_MAX], *program = programs;
static const char *options[OPTIONS_MAX];
static int option_count;

static void *function(void *where, const char *name)
{
	void *address = dlsym(where, name);

	if (address == NULL) {
		printf("no %s: %s\n", name, dlerror());
		exit(2);
	}
	return address;
}

static void take_from(void *where)
{
#define NVVM_TAKE_FROM(type, name, parameters) *(void **)&nvvm.name = function(where, #name);
	NVVM_FUNCTIONS(NVVM_TAKE_FROM)
	NVVM_OWN(NVVM_TAKE_FROM)
	nvvm.fakeNvvmWhim = function(where, "fakeNvvmWhim");
}

#ifdef LINKED
/* Nobody can link against a function that came later. */
static int take_functions(int argc, char **argv)
{
#define NVVM_TAKE(type, name, parameters) nvvm.name = name;
	NVVM_FUNCTIONS(NVVM_TAKE)
	NVVM_OWN(NVVM_TAKE)
	nvvm.fakeNvvmWhim = fakeNvvmWhim;
	library = RTLD_DEFAULT;
	return 1;
}
#else
static int take_functions(int argc, char **argv)
{
	/* as cuda.bindings asks whether there is a libNVVM already */
	printf("before: %s\n", dlsym(RTLD_DEFAULT, "nvvmGetErrorString") != NULL ? "one" : "none");
	library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	if (library == NULL) {
		printf("no library: %s\n", dlerror());
		exit(2);
	}
	take_from(library);
	return 2;
}
#endif

/* A call, and what it made of an errno of 77. */
static void tell(const char *what, int code)
{
	int left = errno;

	printf("%s %d, errno %d\n", what, code, left);
}

static void add(const char *how, char *name)
{
	char *text = strchr(name, '=');
	char *bytes;
	size_t size;
	int code, left;

	*text++ = '\0';
	size = strcmp(how, "big") == 0 ? BIG_SIZE : strlen(text);
	bytes = malloc(size + 1);
	errno = 77;
	memset(bytes, '.', size);
	memcpy(bytes, text, strlen(text));
	code = strcmp(how, "lazy") == 0
	           ? nvvm.nvvmLazyAddModuleToProgram(*program, bytes, size, name)
	           : nvvm.nvvmAddModuleToProgram(*program, bytes, size, strcmp(how, "nameless") == 0 ? NULL : name);
	left = errno;
	memset(bytes, 'x', size); /* the library has a copy */
	free(bytes);
	errno = left;
	tell(how, code);
}

typedef int inspect_function(nvvmProgram program, size_t *modules, size_t *result, size_t *log);

static void inspect(void *address)
{
	size_t modules = 0, result = 0, log = 0;
	int code = ((inspect_function *)address)(*program, &modules, &result, &log);

	printf("inspect %d: %zu modules, result %zu, log %zu\n", code, modules, result, log);
}

static void *live(void *number)
{
	uint64_t digest = 0;

	for (int round = 0; round < 20; round++) {
		nvvmProgram mine = NULL;
		char text[32], *bytes;
		size_t size = 0;
		int code;

		snprintf(text, sizeof(text), "thread %d", ((int)(intptr_t)number + round) % 5);
		code = nvvm.nvvmCreateProgram(&mine) | nvvm.nvvmAddModuleToProgram(mine, text, strlen(text), text) |
		       nvvm.nvvmVerifyProgram(mine, option_count, options) |
		       nvvm.nvvmCompileProgram(mine, option_count, options) |
		       nvvm.nvvmGetCompiledResultSize(mine, &size);
		bytes = calloc(1, size + 1);
		code |= nvvm.nvvmGetCompiledResult(mine, bytes);
		digest = host_mix(host_mix(digest, bytes, size), &code, sizeof(code));
		free(bytes);
		nvvm.nvvmDestroyProgram(&mine);
	}
	return (void *)(uintptr_t)digest;
}

static void show_thread(void *digest)
{
	printf("thread %016llx\n", (unsigned long long)(uintptr_t)digest);
}

static void go_on_in_child(void)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child != 0) {
		waitpid(child, &status, 0);
		_exit(WEXITSTATUS(status));
	}
}

static void act_on_program(const char *word)
{
	if (strcmp(word, "create") == 0) {
		tell("create", nvvm.nvvmCreateProgram(program));
	} else if (strcmp(word, "add-nothing") == 0) {
		printf("nothing %d\n", nvvm.nvvmAddModuleToProgram(*program, NULL, 3, "nothing"));
	} else if (strcmp(word, "verify") == 0) {
		tell("verify", nvvm.nvvmVerifyProgram(*program, option_count, options));
	} else if (strcmp(word, "compile") == 0) {
		tell("compile", nvvm.nvvmCompileProgram(*program, option_count, options));
	} else if (strcmp(word, "null-options") == 0) {
		printf("null %d\n", nvvm.nvvmCompileProgram(*program, 0, NULL));
		printf("null %d\n", nvvm.nvvmCompileProgram(*program, 2, NULL));
	} else if (strcmp(word, "get") == 0) {
		host_get("result", *program, nvvm.nvvmGetCompiledResultSize, nvvm.nvvmGetCompiledResult);
		host_get("log", *program, nvvm.nvvmGetProgramLogSize, nvvm.nvvmGetProgramLog);
	} else if (strcmp(word, "get-nowhere") == 0) {
		printf("nowhere %d %d\n", nvvm.nvvmGetCompiledResultSize(*program, NULL),
		       nvvm.nvvmGetProgramLog(*program, NULL));
	} else if (strcmp(word, "ask-loaded") == 0) {
		printf("loaded: %zu\n", ((size_t (*)(nvvmProgram))function(RTLD_DEFAULT, "result_size"))(*program));
	} else if (strcmp(word, "inspect") == 0) {
		inspect(function(library, "nvvmInspectProgram"));
	} else if (strcmp(word, "private") == 0) {
		inspect(((void *(*)(int))function(library, "__nvvmHandle"))(0xbeef));
	} else if (strcmp(word, "destroy") == 0) {
		tell("destroy", nvvm.nvvmDestroyProgram(program));
	} else {
		printf("what is %s?\n", word);
		exit(4);
	}
}

static void act(char *word)
{
	char *value = strchr(word, '=');

	if (value == NULL && strcmp(word, "fork") == 0) {
		go_on_in_child();
		return;
	}
	if (value == NULL && strcmp(word, "no-options") == 0) {
		option_count = 0;
		return;
	}
	if (value == NULL) {
		act_on_program(word);
		return;
	}
	*value++ = '\0';
	if (strcmp(word, "option") == 0 && option_count < OPTIONS_MAX) {
		options[option_count++] = value;
	} else if (strcmp(word, "use") == 0) {
		program = &programs[atoi(value) % PROGRAMS_MAX];
	} else if (strcmp(word, "set") == 0) {
		char *text = strchr(value, '=');

		*text++ = '\0';
		setenv(value, text, 1);
	} else if (strcmp(word, "round") == 0) {
		fesetround(strcmp(value, "up") == 0 ? FE_UPWARD : FE_TONEAREST);
	} else if (strcmp(word, "whim") == 0) {
		snprintf(nvvm.fakeNvvmWhim, sizeof(fakeNvvmWhim), "%s", value);
	} else if (strcmp(word, "library") == 0) {
		printf("really %d %d\n", nvvm.fakeNvvmVerifies(), nvvm.fakeNvvmCompiles());
		library = dlopen(value, RTLD_NOW | RTLD_LOCAL);
		take_from(library);
	} else if (strcmp(word, "load") == 0) {
		printf("load %d\n", dlopen(value, RTLD_NOW | RTLD_GLOBAL) != NULL);
	} else if (strcmp(word, "threads") == 0) {
		host_run_threads(atoi(value), live, show_thread);
	} else if (strcmp(word, "nvrtc") == 0) {
		host_use_nvrtc(value);
	} else if (strcmp(word, "nameless") == 0) {
		char text[256];

		snprintf(text, sizeof(text), "=%s", value);
		add(word, text);
	} else {
		add(word, value);
	}
}

int main(int argc, char **argv)
{
	for (int i = take_functions(argc, argv); i < argc; i++) {
		errno = 77;
		act(argv[i]);
	}
	printf("really %d %d\n", nvvm.fakeNvvmVerifies(), nvvm.fakeNvvmCompiles());
	return 0;
}
