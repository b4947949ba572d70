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
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define FOUR       4
#define SOURCE_MAX ((size_t)64 << 20)
#define OUTPUT_MAX ((size_t)16 << 20)

typedef int create_function(void **, const char *, const char *, int, const char *const *, const char *const *);

static const char cub[] = "#include <cub/block/block_reduce.cuh>\n"
                          "extern \"C\" __global__ void k(float *p) {\n"
                          "	typedef cub::BlockReduce<float, 128> reduce;\n"
                          "	__shared__ typename reduce::TempStorage storage;\n"
                          "	float sum = reduce(storage).Sum(p[threadIdx.x]);\n"
                          "	if (threadIdx.x == 0) p[0] = sum;\n"
                          "}\n";

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* About 1 KB, as the goal says. */
static char *trivial(void)
{
	static char source[1100] = "extern \"C\" __global__ void k(float *p) {\n";

	while (strlen(source) < 1000) {
		strcat(source, "	p[threadIdx.x] = p[threadIdx.x] * 1.5f;\n");
	}
	return strcat(source, "}\n");
}

static char *read_source(const char *path)
{
	FILE *file = fopen(path, "r");
	char *source = calloc(1, SOURCE_MAX + 1);

	if (!file || !source || fread(source, 1, SOURCE_MAX, file) == 0) {
		perror(path);
		exit(2);
	}
	fclose(file);
	return source;
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

static int compare(const void *a, const void *b)
{
	long long left = *(const long long *)a, right = *(const long long *)b;

	return (left > right) - (left < right);
}

static long long median(long long *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), compare);
	return values[count / 2];
}

static void live(void *library, const char *source, int count, const char *const *options, long long times[FOUR])
{
	create_function *create = (create_function *)dlsym(library, "nvrtcCreateProgram");
	int (*compile)(void *, int, const char *const *) =
	    (int (*)(void *, int, const char *const *))dlsym(library, "nvrtcCompileProgram");
	int (*size_of)(void *, size_t *) = (int (*)(void *, size_t *))dlsym(library, "nvrtcGetPTXSize");
	int (*get)(void *, char *) = (int (*)(void *, char *))dlsym(library, "nvrtcGetPTX");
	int (*log_size)(void *, size_t *) = (int (*)(void *, size_t *))dlsym(library, "nvrtcGetProgramLogSize");
	int (*log)(void *, char *) = (int (*)(void *, char *))dlsym(library, "nvrtcGetProgramLog");
	int (*destroy)(void **) = (int (*)(void **))dlsym(library, "nvrtcDestroyProgram");
	static _Thread_local char *buffer;
	void *program;
	size_t size;
	long long marks[FOUR + 1];

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
	for (int i = 0; i < FOUR; i++) {
		times[i] = marks[i + 1] - marks[i];
	}
}

/* What any check of so many files costs at least, if it is made the plain way. */
static int stat_all(int rounds)
{
	static char *paths[16384];
	long long *times = calloc((size_t)rounds, sizeof(*times));
	char line[4096];
	size_t count = 0;

	while (count < sizeof(paths) / sizeof(paths[0]) && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		paths[count++] = strdup(line);
	}
	for (int i = 0; i < rounds; i++) {
		long long start = now();

		for (size_t k = 0; k < count; k++) {
			struct stat status;

			(void)!stat(paths[k], &status);
		}
		times[i] = now() - start;
	}
	printf("stat %lld\n", median(times, rounds));
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
	long long times[FOUR];

	for (int i = 0; i < crowd->rounds; i++) {
		live(crowd->library, crowd->source, crowd->count, crowd->options, times);
	}
	return NULL;
}

static void live_in_threads(struct crowd *crowd, int count)
{
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));
	long long start = now();

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
	int rounds;
	long long(*times)[FOUR];
	long long *column;

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
	source = argv[2][0] == '@' ? read_source(argv[2] + 1) : strcmp(argv[2], "cub") == 0 ? cub : trivial();
	if (strcmp(argv[2], "mathdx") == 0) {
		make_headers();
	}
	rounds = atoi(argv[3]);
	times = calloc((size_t)rounds + 1, sizeof(*times));
	column = calloc((size_t)rounds + 1, sizeof(*column));
	for (int i = 0; i <= rounds; i++) {
		live(library, source, argc - 4, (const char *const *)argv + 4, times[i]);
	}
	printf("first %lld %lld %lld %lld\n", times[0][0], times[0][1], times[0][2], times[0][3]);
	if (rounds) {
		printf("median");
		for (int c = 0; c < FOUR; c++) {
			for (int i = 0; i < rounds; i++) {
				column[i] = times[i + 1][c];
			}
			printf(" %lld", median(column, rounds));
		}
		for (int i = 0; i < rounds; i++) {
			column[i] = times[i + 1][0] + times[i + 1][1] + times[i + 1][2] + times[i + 1][3];
		}
		printf("\nlife %lld\n", median(column, rounds));
	}
	if (getenv("LIFE_THREADS")) {
		struct crowd crowd = {library, source, argc - 4, rounds, (const char *const *)argv + 4};

		live_in_threads(&crowd, atoi(getenv("LIFE_THREADS")));
	}
	return 0;
}
