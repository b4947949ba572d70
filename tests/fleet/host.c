/* SPDX-License-Identifier: MIT */
/*
 * host: a program that compiles kernels one after the other, as all nodes of a fleet run it (scripts/fleet)
 *
 * usage: host LIBRARY WORKLOAD FIRST COUNT AT [OPTION...]
 *
 * WORKLOAD: plain (a kernel that includes "node.h"), cub (and CUB's block reduction), or none (no include at all). The
 * kernels of it are numbered from FIRST on and differ in a constant. AT: when to begin, in nanoseconds of
 * CLOCK_MONOTONIC; 0: now. On stdout: everything that the host got, to be compared byte by byte. On stderr, last:
 * "host WALL FIRST", the nanoseconds from when the compiler was loaded to the end, and to the first kernel's end. HOST_ODD makes it an odd one:
 * between kernels it forks, closes every descriptor that it does not know, and changes its root to the one it has.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND     1000000000LL
#define SOURCE_MAX 1024
#define KNOWN      3 /* descriptors of a program that opened none */

struct compiler {
	int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
	int (*name)(void *, const char *);
	int (*compile)(void *, int, const char *const *);
	int (*lowered)(void *, const char *, const char **);
	int (*destroy)(void **);
	void *library;
};

static const char plain[] = "#include \"node.h\"\n"
                            "template <typename T> __global__ void k(T *p) { p[threadIdx.x] *= SCALE + %u; }\n";
static const char none[] = "template <typename T> __global__ void k(T *p) { p[threadIdx.x] *= %u; }\n";
static const char cub[] = "#include \"node.h\"\n"
                          "#include <cub/block/block_reduce.cuh>\n"
                          "template <typename T> __global__ void k(T *p) {\n"
                          "	typedef cub::BlockReduce<T, 128> reduce;\n"
                          "	__shared__ typename reduce::TempStorage storage;\n"
                          "	T sum = reduce(storage).Sum(p[threadIdx.x]);\n"
                          "	if (threadIdx.x == 0) p[0] = sum * SCALE + %u;\n"
                          "}\n";

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * SECOND + time.tv_nsec;
}

static void wait_until(long long at)
{
	struct timespec time = {.tv_sec = at / SECOND, .tv_nsec = at % SECOND};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR) {
	}
}

static void *find(void *library, const char *name)
{
	void *function = dlsym(library, name);

	if (function == NULL) {
		fprintf(stderr, "host: no %s\n", name);
		exit(3);
	}
	return function;
}

static struct compiler open_compiler(const char *path)
{
	struct compiler compiler = {.library = dlopen(path, RTLD_LAZY)};

	if (compiler.library == NULL) {
		fprintf(stderr, "host: %s\n", dlerror());
		exit(3);
	}
	*(void **)&compiler.create = find(compiler.library, "nvrtcCreateProgram");
	*(void **)&compiler.name = find(compiler.library, "nvrtcAddNameExpression");
	*(void **)&compiler.compile = find(compiler.library, "nvrtcCompileProgram");
	*(void **)&compiler.lowered = find(compiler.library, "nvrtcGetLoweredName");
	*(void **)&compiler.destroy = find(compiler.library, "nvrtcDestroyProgram");
	return compiler;
}

/* `what` is PTX, CUBIN or ProgramLog. */
static void show(const struct compiler *compiler, void *program, const char *what)
{
	char function[64];
	int (*size_of)(void *, size_t *);
	int (*get)(void *, char *);
	size_t size = 0;
	char *text;
	int result;

	snprintf(function, sizeof(function), "nvrtcGet%sSize", what);
	*(void **)&size_of = find(compiler->library, function);
	snprintf(function, sizeof(function), "nvrtcGet%s", what);
	*(void **)&get = find(compiler->library, function);
	result = size_of(program, &size);
	text = calloc(size + 1, 1);
	if (text == NULL) {
		exit(3);
	}
	printf("%s %d %zu %d\n", what, result, size, result == 0 ? get(program, text) : -1);
	fwrite(text, 1, size, stdout);
	free(text);
}

static void one_kernel(const struct compiler *compiler, const char *workload, unsigned number, int count,
                       const char *const *options)
{
	const char *format = strcmp(workload, "cub") == 0 ? cub : strcmp(workload, "none") == 0 ? none : plain;
	char source[SOURCE_MAX];
	const char *lowered = "";
	void *program;
	int result;

	snprintf(source, sizeof(source), format, number);
	result = compiler->create(&program, source, "k.cu", 0, NULL, NULL);
	result = result != 0 ? result : compiler->name(program, "k<float>");
	if (result != 0) {
		fprintf(stderr, "host: no program: %d\n", result);
		exit(3);
	}
	printf("compile %d\n", compiler->compile(program, count, options));
	show(compiler, program, "PTX");
	show(compiler, program, "CUBIN");
	show(compiler, program, "ProgramLog");
	result = compiler->lowered(program, "k<float>", &lowered);
	printf("lowered %d %s\n", result, result == 0 ? lowered : "");
	printf("destroy %d\n", compiler->destroy(&program));
}

/* What hosts do that was never thought of. */
static void be_odd(void)
{
	pid_t child = fork();

	if (child == 0) {
		_exit(0);
	}
	(void)waitpid(child, NULL, 0);
	for (int descriptor = KNOWN; descriptor < 256; descriptor++) {
		close(descriptor);
	}
	(void)!chroot("/"); /* takes root */
}

int main(int argc, char **argv)
{
	struct compiler compiler;
	unsigned first;
	unsigned count;
	long long begin;
	long long first_ends = 0;

	if (argc < 6) {
		fprintf(stderr, "usage: host LIBRARY plain|cub|none FIRST COUNT AT [OPTION...]\n");
		return 2;
	}
	first = (unsigned)strtoul(argv[3], NULL, 10);
	count = (unsigned)strtoul(argv[4], NULL, 10);
	wait_until(strtoll(argv[5], NULL, 10));
	compiler = open_compiler(argv[1]);
	begin = now();
	for (unsigned i = 0; i < count; i++) {
		one_kernel(&compiler, argv[2], first + i, argc - 6, (const char *const *)argv + 6);
		first_ends = i == 0 ? now() : first_ends;
		if (getenv("HOST_ODD") != NULL) {
			be_odd();
		}
	}
	fprintf(stderr, "host %lld %lld\n", now() - begin, first_ends - begin);
	return 0;
}
