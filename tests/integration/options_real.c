/* SPDX-License-Identifier: MIT */
/*
 * options_real: what interpose/nvrtc/options.c believes of the compiler, asked of a real one
 *
 * Use: options_real [libnvrtc.so]. Without an argument: libnvrtc.so.13, .12, .11.2, libnvrtc.so, then lib64 of
 * $CUDA_HOME and of /usr/local/cuda. Prints TAP; skips where no NVRTC is found. Needs no GPU. Leaves nothing behind.
 */
#include "interpose/nvrtc/request.h"
#include "tests/unit/option_spellings.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define OPTIONS_MAX  8

static struct {
	int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
	int (*compile)(void *, int, const char *const *);
	int (*destroy)(void **);
	int (*log_size)(void *, size_t *);
	int (*log)(void *, char *);
	int (*ptx_size)(void *, size_t *);
	int (*ptx)(void *, char *);
	int (*cubin_size)(void *, size_t *);
	int (*cubin)(void *, char *);
	int (*archs_count)(int *);
	int (*archs)(int *);
} nvrtc;

struct output {
	int rc;
	char *log, *ptx, *cubin;
	size_t ptx_size, cubin_size;
};

static char base[400], arch[32], virtual_arch[32];
static int test_number, failures;

static void report(bool good, const char *what, const char *detail)
{
	printf("%s %d - %s%s%s\n", good ? "ok" : "not ok", ++test_number, what, detail ? ": " : "",
	       detail ? detail : "");
	failures += !good;
}

static bool load_nvrtc(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	if (!library) {
		return false;
	}
	*(void **)&nvrtc.create = dlsym(library, "nvrtcCreateProgram");
	*(void **)&nvrtc.compile = dlsym(library, "nvrtcCompileProgram");
	*(void **)&nvrtc.destroy = dlsym(library, "nvrtcDestroyProgram");
	*(void **)&nvrtc.log_size = dlsym(library, "nvrtcGetProgramLogSize");
	*(void **)&nvrtc.log = dlsym(library, "nvrtcGetProgramLog");
	*(void **)&nvrtc.ptx_size = dlsym(library, "nvrtcGetPTXSize");
	*(void **)&nvrtc.ptx = dlsym(library, "nvrtcGetPTX");
	*(void **)&nvrtc.cubin_size = dlsym(library, "nvrtcGetCUBINSize");
	*(void **)&nvrtc.cubin = dlsym(library, "nvrtcGetCUBIN");
	*(void **)&nvrtc.archs_count = dlsym(library, "nvrtcGetNumSupportedArchs");
	*(void **)&nvrtc.archs = dlsym(library, "nvrtcGetSupportedArchs");
	printf("# %s\n", path);
	return nvrtc.create && nvrtc.compile && nvrtc.destroy && nvrtc.log_size && nvrtc.log && nvrtc.ptx_size &&
	       nvrtc.ptx && nvrtc.cubin_size && nvrtc.cubin && nvrtc.archs_count && nvrtc.archs;
}

static bool find_nvrtc(const char *given)
{
	static const char *const names[] = {"libnvrtc.so.13",
	                                    "libnvrtc.so.12",
	                                    "libnvrtc.so.11.2",
	                                    "libnvrtc.so",
	                                    "/usr/local/cuda/lib64/libnvrtc.so.13",
	                                    "/usr/local/cuda/lib64/libnvrtc.so"};
	const char *home = getenv("CUDA_HOME");
	char path[PATH_MAX];

	if (given) {
		return load_nvrtc(given);
	}
	if (home) {
		snprintf(path, sizeof(path), "%s/lib64/libnvrtc.so", home);
		if (load_nvrtc(path)) {
			return true;
		}
	}
	for (size_t i = 0; i < COUNT(names); i++) {
		if (load_nvrtc(names[i])) {
			return true;
		}
	}
	return false;
}

static char *taken(void *program, int (*size_of)(void *, size_t *), int (*get)(void *, char *), size_t *ret_size)
{
	char *bytes;

	*ret_size = 0;
	size_of(program, ret_size);
	bytes = calloc(1, *ret_size + 1);
	if (bytes && *ret_size) {
		get(program, bytes);
	}
	return bytes;
}

/* Up to 12.4 the PTX numbers its calls through the whole process, in comments: "callseq 17". */
static void drop_call_numbers(struct output *output)
{
	char *from = output->ptx, *to = output->ptx, *end = output->ptx + output->ptx_size;

	while (from < end) {
		bool number = to - output->ptx >= 8 && memcmp(to - 8, "callseq ", 8) == 0;

		while (number && from < end && *from >= '0' && *from <= '9') {
			from++;
		}
		if (from < end) {
			*to++ = *from++;
		}
	}
	output->ptx_size = (size_t)(to - output->ptx);
}

static struct output compile(const char *source, const char *name, const char *const *options, int count)
{
	struct output output = {.rc = -1};
	size_t log_size;
	void *program;

	if (nvrtc.create(&program, source, name, 0, NULL, NULL) != 0) {
		return output;
	}
	output.rc = nvrtc.compile(program, count, options);
	output.log = taken(program, nvrtc.log_size, nvrtc.log, &log_size);
	output.ptx = taken(program, nvrtc.ptx_size, nvrtc.ptx, &output.ptx_size);
	output.cubin = taken(program, nvrtc.cubin_size, nvrtc.cubin, &output.cubin_size);
	drop_call_numbers(&output);
	nvrtc.destroy(&program);
	return output;
}

static void output_free(struct output *output)
{
	free(output->log);
	free(output->ptx);
	free(output->cubin);
}

static bool equal(const struct output *a, const struct output *b)
{
	if (!a->ptx || !b->ptx || !a->cubin || !b->cubin) {
		return false;
	}
	return a->rc == b->rc && a->ptx_size == b->ptx_size && a->cubin_size == b->cubin_size &&
	       memcmp(a->ptx, b->ptx, a->ptx_size) == 0 && memcmp(a->cubin, b->cubin, a->cubin_size) == 0;
}

/* "@" in a table's text becomes the directory. */
static char *spelled(const char *text, const char *directory)
{
	const char *at = strchr(text, '@');
	char *result = NULL;

	if (!at) {
		return strdup(text);
	}
	if (asprintf(&result, "%.*s%s%s", (int)(at - text), text, directory, at + 1) < 0) {
		return NULL;
	}
	return result;
}

static void check_spelling(const struct option_spelling *spelling, const char *directory)
{
	static const char source[] = "#include \"found.h\"\nextern \"C\" __global__ void k() {}";
	static const char *const outcomes[] = {"found", "missed", "refused"};
	char *strings[OPTIONS_MAX] = {virtual_arch}, detail[400] = "";
	enum nvrtc_outcome outcome;
	struct options options;
	struct output output;
	bool finds = false;
	int count = 1;

	for (size_t i = 0; i < COUNT(spelling->strings) && spelling->strings[i]; i++) {
		strings[count++] = spelled(spelling->strings[i], directory);
		snprintf(detail + strlen(detail), sizeof(detail) - strlen(detail), "[%s]", spelling->strings[i]);
	}
	for (char *c = detail; *c; c++) {
		if (*c == '\n' || *c == '\t') {
			*c = '~';
		}
	}
	output = compile(source, NULL, (const char *const *)strings, count);
	outcome = output.rc == 0 ? HEADER_FOUND : output.rc == 5 ? REFUSED : HEADER_MISSED;
	if (options_read((const char *const *)strings, count, &options) == 0) {
		for (size_t i = 0; i < options.include_count; i++) {
			finds |= strncmp(options.include[i].directory, directory, strlen(directory)) == 0 &&
			         strchr("/", options.include[i].directory[strlen(directory)]) != NULL;
		}
		options_free(&options);
	}
	report(outcome == spelling->nvrtc, outcomes[spelling->nvrtc], detail);
	if (finds && outcome != REFUSED) {
		report(outcome == HEADER_FOUND, "a directory that was read is one that NVRTC searches", detail);
	}
	output_free(&output);
	for (int i = 1; i < count; i++) {
		free(strings[i]);
	}
}

/* A path that was found through a root is the root's text, a slash and the name: what conditions rely on. */
static void check_root_text(const char *form, const char *directory)
{
	char *option = spelled(form, directory), wanted[sizeof(base) + 100];
	const char *options[] = {virtual_arch, option};
	struct nvrtc_request request = {.around.identity = (const uint8_t *)"",
	                                .options = options,
	                                .option_count = 2,
	                                .around.cwd = "/",
	                                .program_name = NULL};
	struct output output = compile("#include <error.h>\n", NULL, options, 2);
	struct stream stream;
	struct roots roots;
	struct options read;

	if (request_call(&request, &stream, &roots, &read) == 0) {
		snprintf(wanted, sizeof(wanted), "%s/error.h(1): catastrophic error",
		         roots.count ? roots.root[0].text : "?");
		report(roots.count == 1 && output.log && strncmp(output.log, wanted, strlen(wanted)) == 0,
		       "paths begin with the root's text", form);
		stream_free(&stream);
		roots_free(&roots);
		options_free(&read);
	}
	output_free(&output);
	free(option);
}

/* The same program under two prefixes, with headers of two ages and two working directories. */
static void check_neutral(const char *first, const char *second)
{
	static const char source[] = "#include <kernel.h>\n"
	                             "extern \"C\" __global__ void k(float *p) { p[0] = scaled(p[1]) / sqrtf(p[2]); }\n"
	                             "template <int N> __global__ void t(int *p) { *p = N; }\n"
	                             "template __global__ void t<3>(int *);\n";
	struct output outputs[2];
	struct key keys[2];
	bool neutral = true;
	char detail[200];

	for (int i = 0; i < 2; i++) {
		char directory[450], include[500], name[500];
		const char *options[] = {include, first, second, arch};
		struct nvrtc_request request = {.program_name = name,
		                                .around.identity = (const uint8_t *)"",
		                                .options = options,
		                                .option_count = strstr(first, "-arch=") ? 3 : 4,
		                                .around.cwd = directory};
		struct stream stream;
		struct roots roots;
		struct options read;

		snprintf(directory, sizeof(directory), "%s/%s", base, i ? "two/longer" : "one");
		snprintf(include, sizeof(include), "-I%s/include", directory);
		snprintf(name, sizeof(name), "%s/k.cu", directory);
		if (chdir(directory) != 0) {
			exit(1);
		}
		setenv("PWD", directory, 1);
		outputs[i] = compile(source, name, options, request.option_count);
		if (request_call(&request, &stream, &roots, &read) != 0) {
			exit(1);
		}
		neutral &= !options_bind(&read);
		digest_key(&(struct span){stream.bytes, stream.size}, 1, &keys[i]);
		stream_free(&stream);
		roots_free(&roots);
		options_free(&read);
	}
	snprintf(detail, sizeof(detail), "%s %s", first, second);
	report(neutral && memcmp(&keys[0], &keys[1], sizeof(keys[0])) == 0, "one key under two prefixes", detail);
	if (outputs[0].rc == 5) {
		printf("ok %d - one result under two prefixes: %s # SKIP this NVRTC does not know it\n", ++test_number,
		       detail);
	} else {
		report(equal(&outputs[0], &outputs[1]), "one result under two prefixes", detail);
	}
	output_free(&outputs[0]);
	output_free(&outputs[1]);
}

static void write_file(const char *directory, const char *name, const char *text, time_t age)
{
	char path[sizeof(base) + 64];
	struct timespec times[2] = {{.tv_sec = age}, {.tv_sec = age}};
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", base, directory);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/%s", base, directory, name);
	file = fopen(path, "w");
	if (!file) {
		exit(1);
	}
	fputs(text, file);
	fclose(file);
	utimensat(AT_FDCWD, path, times, 0);
}

static bool make_world(void)
{
	static const char kernel[] = "#pragma once\nstatic __device__ float scaled(float x) { return 3 * x; }\n";
	const char *parent = getenv("TMPDIR");
	char path[sizeof(base) + 64];
	int count = 0, *archs;

	snprintf(base, sizeof(base), "%s/options-real-XXXXXX", parent ? parent : "/tmp");
	if (!mkdtemp(base)) {
		return false;
	}
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", base, ((const char *[]){"here", "one", "two", "two/longer"})[i]);
		mkdir(path, 0700);
	}
	write_file("include", "found.h", "\n", 1000000000);
	write_file("include", "error.h", "#error here\n", 1000000000);
	write_file("one/include", "kernel.h", kernel, 1000000000);
	write_file("two/longer/include", "kernel.h", kernel, 1500000000);
	if (nvrtc.archs_count(&count) != 0 || count < 1) {
		return false;
	}
	archs = calloc((size_t)count, sizeof(*archs));
	if (!archs || nvrtc.archs(archs) != 0) {
		return false;
	}
	snprintf(arch, sizeof(arch), "-arch=sm_%d", archs[count / 2]);
	snprintf(virtual_arch, sizeof(virtual_arch), "-arch=compute_%d", archs[count / 2]);
	free(archs);
	return true;
}

static void remove_world(void)
{
	static const char *const paths[] = {"include/found.h",
	                                    "include/error.h",
	                                    "include",
	                                    "one/include/kernel.h",
	                                    "one/include",
	                                    "one",
	                                    "two/longer/include/kernel.h",
	                                    "two/longer/include",
	                                    "two/longer",
	                                    "two",
	                                    "here",
	                                    ""};
	char path[sizeof(base) + 64];

	for (size_t i = 0; i < COUNT(paths); i++) {
		snprintf(path, sizeof(path), "%s/%s", base, paths[i]);
		remove(path);
	}
}

int main(int argc, char **argv)
{
	static const char *const harmless[][2] = {{"-w", "-DX"},
	                                          {"-std=c++14", "-default-device"},
	                                          {"-DX=1", "-UX"},
	                                          {"-D", "X"},
	                                          {"-rdc=true", "-w"},
	                                          {"-dc", "-w"},
	                                          {"-dw", "-ewp"},
	                                          {"-ftz", "true"},
	                                          {"-prec-div=false", "-prec-sqrt=false"},
	                                          {"-fmad=false", "-use_fast_math"},
	                                          {"-fassociative-math", "-extra-device-vectorization"},
	                                          {"-maxrregcount=32", "-dopt=on"},
	                                          {"-Ofc=mid", "-w"},
	                                          {"-jtd=10", "-w"},
	                                          {"-split-compile=2", "-w"},
	                                          {"-device-stack-protector=true", "-w"},
	                                          {"-modify-stack-limit=false", "-restrict"},
	                                          {"-device-int128", "-no-source-include"},
	                                          {"-no-cache", "-w"},
	                                          {"-frandom-seed=7", "-w"},
	                                          {"-builtin-move-forward=false", "-builtin-initializer-list=false"},
	                                          {"-opt-info=inline", "-err-no"},
	                                          {"-no-err-no", "-diag-suppress=177"},
	                                          {"-diag-warn=177", "-brief-diag=true"},
	                                          {"-fdevice-syntax-only", "-w"},
	                                          {"-minimal", "-w"},
	                                          {"-Wconversion", "-Wreorder"},
	                                          {"-fmax-errors=3", "-w"},
	                                          {"-ffinite-math-only", "-fno-signed-zeros"},
	                                          {"-Xptxas=-O1", "-Xptxas=-w"},
	                                          {"-Xptxas", "-dlcm=cg"}};
	static const char *const root_forms[] = {"-I@", "-I@/", "-I @", "-I=@/", "--include-path=@"};
	char here[sizeof(base) + 64], directory[sizeof(base) + 64];

	if (!find_nvrtc(argc > 1 ? argv[1] : NULL)) {
		printf("1..0 # SKIP no NVRTC library was found\n");
		return 0;
	}
	if (!make_world()) {
		printf("Bail out! no temporary directory, or an NVRTC without architectures\n");
		return 1;
	}
	snprintf(here, sizeof(here), "%s/here", base);
	snprintf(directory, sizeof(directory), "%s/include", base);
	if (chdir(here) != 0) {
		return 1;
	}
	for (size_t i = 0; i < OPTION_SPELLING_COUNT; i++) {
		check_spelling(&option_spellings[i], directory);
	}
	for (size_t i = 0; i < COUNT(root_forms); i++) {
		check_root_text(root_forms[i], directory);
	}
	for (size_t i = 0; i < COUNT(harmless); i++) {
		check_neutral(harmless[i][0], harmless[i][1]);
	}
	if (chdir("/") == 0) {
		remove_world();
	}
	printf("1..%d\n", test_number);
	return failures != 0;
}
