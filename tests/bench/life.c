/* SPDX-License-Identifier: MIT */
/*
 * life: the lives of programs, timed from inside the host
 *
 * usage: life LIBRARY KERNEL ROUNDS [OPTION...]     KERNEL: trivial, cub, @FILE, none (no program is made); mathdx:
 *                                       trivial with 120 MB of headers in memory, as nvmath.device gives them
 *        life stat ROUNDS <PATHS                    a stat() of each path, "stat <median ns>"
 *
 * Prints nanoseconds: "first <create> <compile> <getters> <destroy>", then, over the remaining rounds, "median" of the
 * same and "life" (their sum's median). With LIFE_THREADS=N then "threads <lives per second>" of N threads.
 */
#include "timing.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#define STEPS      4
#define OUTPUT_MAX ((size_t)16 << 20)

typedef int create_function(void **, const char *, const char *, int, const char *const *, const char *const *);

static const char cub[] = "#include <cub/block/block_reduce.cuh>\n"
                          "extern \"C\" __global__ void k(float *p) {\n"
                          "	typedef cub::BlockReduce<float, 128> reduce;\n"
                          "	__shared__ typename reduce::TempStorage storage;\n"
                          "	float sum = reduce(storage).Sum(p[threadIdx.x]);\n"
                          "	if (threadIdx.x == 0) p[0] = sum;\n"
                          "}\n";

/* About 1 KB, as the goal says. */
static char *trivial(void)
{
	static char source[1100] = "extern \"C\" __global__ void k(float *p) {\n";

	while (strlen(source) < 1000) {
		strcat(source, "	p[threadIdx.x] = p[threadIdx.x] * 1.5f;\n");
	}
	return strcat(source, "}\n");
}

#define MATHDX_HEADERS 1609
#define MATHDX_BYTES   75000

static int header_count;
static const char *headers[MATHDX_HEADERS], *header_names[MATHDX_HEADERS];

static void make_headers(void)
{
	while (header_count < MATHDX_HEADERS) {
		char *text = malloc(MATHDX_BYTES + 1), *name = malloc(32);

		for (int i = 0; i < MATHDX_BYTES; i++) {
			text[i] = i % 60 == 59 ? '\n' : (char)('a' + (i * 7 + i / 60 + header_count) % 26);
		}
		text[MATHDX_BYTES] = '\0';
		snprintf(name, 32, "mathdx/h%d.hpp", header_count);
		headers[header_count] = text;
		header_names[header_count++] = name;
	}
}

static void live(void *library, const char *source, int count, const char *const *options, int64_t marks[STEPS + 1])
{
	create_function *create = dlsym(library, "nvrtcCreateProgram");
	int (*compile)(void *, int, const char *const *) = dlsym(library, "nvrtcCompileProgram");
	int (*size_of)(void *, size_t *) = dlsym(library, "nvrtcGetPTXSize");
	int (*get)(void *, char *) = dlsym(library, "nvrtcGetPTX");
	int (*log_size)(void *, size_t *) = dlsym(library, "nvrtcGetProgramLogSize");
	int (*log)(void *, char *) = dlsym(library, "nvrtcGetProgramLog");
	int (*destroy)(void **) = dlsym(library, "nvrtcDestroyProgram");
	static _Thread_local char *buffer;
	void *program;
	size_t size;

	buffer = buffer ? buffer : malloc(OUTPUT_MAX);
	marks[0] = now();
	if (!buffer || create(&program, source, "k.cu", header_count, headers, header_names) != 0) {
		exit(3);
	}
	marks[1] = now();
	if (compile(program, count, options) != 0) {
		log(program, buffer);
		fprintf(stderr, "%s\n", buffer);
		exit(4);
	}
	marks[2] = now();
	if (size_of(program, &size) != 0 || size > OUTPUT_MAX || get(program, buffer) != 0 ||
	    log_size(program, &size) != 0) {
		exit(5);
	}
	marks[3] = now();
	destroy(&program);
	marks[4] = now();
}

/* What any check of so many files costs at least, if it is made the plain way. */
static int stat_all(int rounds)
{
	static char *paths[16384];
	int64_t *times = calloc((size_t)rounds, sizeof(*times));
	char line[4096];
	size_t count = 0;

	while (count < sizeof(paths) / sizeof(paths[0]) && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		paths[count++] = strdup(line);
	}
	for (int i = 0; i < rounds; i++) {
		int64_t start = now();

		for (size_t k = 0; k < count; k++) {
			struct stat status;

			(void)!stat(paths[k], &status);
		}
		times[i] = now() - start;
	}
	printf("stat %lld\n", (long long)sorted_at(times, (size_t)rounds, (size_t)rounds / 2));
	free(times);
	return 0;
}

struct crowd {
	void *library;
	const char *source;
	int count, rounds;
	const char *const *options;
};

static void *live_often(void *context)
{
	const struct crowd *crowd = context;
	int64_t marks[STEPS + 1];

	for (int i = 0; i < crowd->rounds; i++) {
		live(crowd->library, crowd->source, crowd->count, crowd->options, marks);
	}
	return NULL;
}

static void live_in_threads(struct crowd *crowd, int count)
{
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));
	int64_t start = now();

	for (int i = 0; i < count; i++) {
		if (pthread_create(&threads[i], NULL, live_often, crowd) != 0) {
			exit(6);
		}
	}
	for (int i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
	}
	printf("threads %lld\n", 1000000000LL * count * crowd->rounds / (now() - start));
	free(threads);
}

int main(int argc, char **argv)
{
	const char *source;
	void *library;
	size_t size;
	int rounds;
	int64_t(*marks)[STEPS + 1];

	if (argc == 3 && strcmp(argv[1], "stat") == 0 && atoi(argv[2]) > 0) {
		return stat_all(atoi(argv[2]));
	}
	if (argc < 4 || !(library = dlopen(argv[1], RTLD_LAZY))) {
		fprintf(stderr, "usage: life LIBRARY KERNEL ROUNDS [OPTION...]\n");
		return 2;
	}
	if (strcmp(argv[2], "none") == 0) {
		return puts("none") == EOF;
	}
	source = argv[2][0] == '@' ? must_read(argv[2] + 1, &size) : strcmp(argv[2], "cub") == 0 ? cub : trivial();
	if (strcmp(argv[2], "mathdx") == 0) {
		make_headers();
	}
	rounds = atoi(argv[3]);
	marks = calloc((size_t)rounds + 1, sizeof(*marks));
	for (int i = 0; i <= rounds; i++) {
		live(library, source, argc - 4, (const char *const *)argv + 4, marks[i]);
	}
	tell_lives(marks[0], rounds, STEPS);
	if (getenv("LIFE_THREADS")) {
		struct crowd crowd = {library, source, argc - 4, rounds, (const char *const *)argv + 4};

		live_in_threads(&crowd, atoi(getenv("LIFE_THREADS")));
	}
	return 0;
}
