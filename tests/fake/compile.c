/* SPDX-License-Identifier: MIT */
/* The calls of every compile, and the artifacts of the fake compiler. */
#include "tests/fake/fake.h"

#include <dirent.h>
#include <dlfcn.h>
#ifdef FAKE_FORBIDDEN
#include <ftw.h>
#endif
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STRINGIFY_(x) #x
#define STRINGIFY(x)  STRINGIFY_(x)
#define BUILTINS      "libnvrtc-builtins.so." STRINGIFY(FAKE_MAJOR) "." STRINGIFY(FAKE_MINOR)
#define BUILTIN_DATA  "__nvrtc_builtins__" STRINGIFY(FAKE_MAJOR) "_" STRINGIFY(FAKE_MINOR) "_data"

char fakeNvrtcWhim[16];

/* Once per process, by plain name: found through this library's own RUNPATH. */
static bool builtins_loaded(void)
{
	static void *loaded;
	void *handle = __atomic_load_n(&loaded, __ATOMIC_ACQUIRE);

	if (handle == NULL) {
		handle = dlopen(BUILTINS, RTLD_LAZY);
		if (handle == NULL || dlsym(handle, BUILTIN_DATA) == NULL) {
			return false;
		}
		__atomic_store_n(&loaded, handle, __ATOMIC_RELEASE);
	}
	return true;
}

static void *open_in_thread(void *path)
{
	uint64_t digest = 0;

	front_end_mix_file(&digest, path);
	return (void *)(uintptr_t)digest;
}

static void sleep_for(int ms)
{
	struct timespec wait = {ms / 1000, (ms % 1000) * 1000000L};

	while (ms > 0 && nanosleep(&wait, &wait) != 0) {
	}
}

/* What the pseudo options ask for. */
static void act(const char *option, uint64_t *digest)
{
	const char *value = strchr(option, '=');
	pthread_t thread;
	void *result;

	value = value != NULL ? value + 1 : "";
	if (starts_with(option, "--fake-open=") || starts_with(option, "--pre-include=")) {
		front_end_mix_file(digest, value);
	} else if (starts_with(option, "--fake-thread-open=")) {
		if (pthread_create(&thread, NULL, open_in_thread, (void *)(uintptr_t)value) == 0) {
			pthread_join(thread, &result);
			*digest ^= (uint64_t)(uintptr_t)result;
		}
	} else if (starts_with(option, "--fake-write=")) {
		FILE *file = fopen(value, "w");

		if (file != NULL) {
			fputs("written while compiling\n", file);
			fclose(file);
		}
	} else if (starts_with(option, "--fake-unlink=")) {
		unlink(value);
	} else if (starts_with(option, "--fake-list=")) {
		DIR *directory = opendir(value);

		if (directory != NULL) {
			closedir(directory);
		}
	} else if (strcmp(option, "--fake-rehook") == 0) {
		fake_rehook();
	} else if (starts_with(option, "--fake-env=")) {
		const char *set = getenv(value);

		*digest = front_end_mix(*digest, set != NULL ? set : "unset", set != NULL ? strlen(set) : 5);
	}
}

static void run_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		_exit(0);
	}
	if (child > 0) {
		waitpid(child, NULL, 0);
	}
}

#ifdef FAKE_FORBIDDEN
static int visit(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
	return 1;
}
#endif

void fake_drop_lowered(struct _nvrtcProgram *program)
{
	for (int i = 0; i < program->lowered_count; i++) {
		free(program->lowered[i].expression);
		free(program->lowered[i].name);
	}
	free(program->lowered);
	program->lowered = NULL;
	program->lowered_count = 0;
}

static void lower_names(struct _nvrtcProgram *program, uint64_t digest)
{
	fake_drop_lowered(program);
	program->lowered = calloc((size_t)program->expression_count + 1, sizeof(*program->lowered));
	for (int i = 0; i < program->expression_count; i++) {
		const char *expression = program->expressions[i];
		char name[64];

		snprintf(name, sizeof(name), "_Z%zuk%016llx", strlen(expression),
		         (unsigned long long)front_end_mix(digest, expression, strlen(expression)));
		program->lowered[i].expression = strdup(expression);
		program->lowered[i].name = strdup(name);
		program->lowered_count++;
	}
}

static const char *bad_expression(const struct _nvrtcProgram *program)
{
	for (int i = 0; i < program->expression_count; i++) {
		if (program->expressions[i][0] == '\0' || strstr(program->expressions[i], "bad") != NULL) {
			return program->expressions[i];
		}
	}
	return NULL;
}

/* The calls at the end of the front end, and what they let into the artifacts of the debug forms. */
static void describe_place(const struct _nvrtcProgram *program, const struct options *options,
                           const struct front_end *front_end, char *ret_text, size_t size)
{
	bool debug = options->debug || options->lto || options->optix;
	char cwd[4096] = "";
	const char *pwd;
	struct stat here, named;
	size_t used = 0;

	ret_text[0] = '\0';
	if (options->silent) {
		return;
	}
	front_end_stat("__nv_name_map", NULL);
	pwd = getenv("PWD");
	if (pwd == NULL || front_end_stat(pwd, &named) != 0 || front_end_stat(".", &here) != 0 ||
	    named.st_dev != here.st_dev || named.st_ino != here.st_ino) {
		pwd = getcwd(cwd, sizeof(cwd)) != NULL ? cwd : "";
	}
	if (debug) {
		used = (size_t)snprintf(ret_text, size, ".file 1 \"%s/%s\"\n", pwd, program->name);
		for (int i = 0; i < options->directory_count && used < size; i++) {
			used +=
			    (size_t)snprintf(ret_text + used, size - used, ".dir \"%s\"\n", options->directories[i]);
		}
	}
	if (front_end->wants_file_name && used < size) {
		used += (size_t)snprintf(ret_text + used, size - used, ".ascii \"%s\"\n", program->name);
	}
	if ((front_end->wants_time || options->wants_time) && used < size) {
		struct timespec now;

		clock_gettime(CLOCK_REALTIME, &now);
		snprintf(ret_text + used, size - used, ".time %lld.%09ld\n", (long long)now.tv_sec, now.tv_nsec);
	}
}

static void produce(struct _nvrtcProgram *program, const struct options *options, const char *place, uint64_t digest,
                    bool failed)
{
	struct text *artifact = program->artifact;
	char text[9000];
	int size = snprintf(text, sizeof(text),
	                    "//\n// Generated by the fake NVRTC " STRINGIFY(FAKE_MAJOR) "." STRINGIFY(
	                        FAKE_MINOR) " %s\n.version 9.0\n.target %s\n// digest %016llx\n%s",
	                    FAKE_FLAVOUR, options->arch, (unsigned long long)digest, place);
	char image[9200];
	int image_size;

	if (options->lto || options->optix) {
		enum artifact kind = options->optix ? OPTIX : FAKE_MAJOR >= 12 ? LTOIR : NVVM;

		image_size = snprintf(image, sizeof(image), "%s%cIR%s", kind == OPTIX ? "OPTIX" : "BC", 0, text);
		text_set(&artifact[kind], image, (size_t)image_size);
		return;
	}
	text_set(&artifact[PTX], text, (size_t)size + 1);
	if (starts_with(options->arch, "sm_") && !failed) {
		image_size = snprintf(image, sizeof(image), "\177ELF%c%c%c%s", 2, 1, 0, text);
		text_set(&artifact[CUBIN], image, (size_t)image_size);
	}
}

/* Comment lines of digits that go on from one another: no block of them is like another. */
static void pad(struct text *text, size_t size)
{
	char *longer = malloc(text->size + size);
	uint64_t number = 0;

	if (longer == NULL) {
		return;
	}
	memcpy(longer, text->bytes, text->size - 1);
	for (size_t i = 0; i < size; i++) {
		number = i % 16 == 0 ? number * UINT64_C(6364136223846793005) + text->size : number >> 4;
		longer[text->size - 1 + i] = i % 64 == 0 ? '\n' : i % 64 < 3 ? '/' : "0123456789abcdef"[number & 15];
	}
	text->size += size;
	longer[text->size - 1] = '\0';
	free(text->bytes);
	text->bytes = longer;
}

/* The file name of a program without its directory: only that much reaches the plain forms. */
static const char *base_name(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash != NULL ? slash + 1 : name;
}

/* As the real one's LTO-IR: all of it but the head is another where something inside is another. */
static void seal(struct text *lto)
{
	char text[64] = "\xed\x43\x4e\x7f sealed ";

	if (lto->size == 0 || strstr(fakeNvrtcWhim, "seal") == NULL) {
		return;
	}
	snprintf(text + 12, sizeof(text) - 12, "%s", strstr(fakeNvrtcWhim, "seal other") != NULL ? "other" : "one");
	text_set(lto, text, strlen(text) + 1);
}

static nvrtcResult follow_whim(struct _nvrtcProgram *program)
{
	static const char whim[] = "a whim\n";
	static const char *const texts[ARTIFACTS] = {[PTX] = "PTX", [CUBIN] = "CUBIN", [PROGRAM_LOG] = "ProgramLog"};

	for (int i = 0; i < ARTIFACTS; i++) {
		if (texts[i] != NULL && strstr(fakeNvrtcWhim, texts[i]) != NULL) {
			text_set(&program->artifact[i], whim, sizeof(whim));
		}
	}
	for (int i = 0; i < program->lowered_count && strstr(fakeNvrtcWhim, "names") != NULL; i++) {
		program->lowered[i].name[0] = 'w';
	}
	seal(&program->artifact[LTOIR]);
	return starts_with(fakeNvrtcWhim, "code") ? NVRTC_COMPILATION : NVRTC_SUCCESS;
}

static nvrtcResult run(struct _nvrtcProgram *program, const struct options *options, const char *const *strings,
                       int count)
{
	struct front_end front_end = {.program = program,
	                              .directories = options->directories,
	                              .directory_count = options->directory_count,
	                              .digest = options->digest};
	const char *name = base_name(program->name);
	char place[8192], log[2048] = "", cwd[4096];
	const char *bad;

	if (!options->silent) {
		if (getcwd(cwd, sizeof(cwd)) == NULL) {
			cwd[0] = '\0'; /* a deleted directory: the real one goes on as well */
		}
		front_end_stat(program->name, NULL);
		front_end_stat("__nv_nvrtc_builtin_header.h", NULL);
	}
	sleep_for(options->sleep_ms);
	if (fakeNvrtcGate != NULL) {
		fakeNvrtcGate();
	}
	program->reached_front_end = true;
	for (int i = 0; program->flow != NULL && i < 5; i++) {
		if (program->flow(program->flow_payload, NULL) != 0) {
			return NVRTC_CANCELLED;
		}
	}
	front_end.digest = front_end_mix(front_end.digest, name, strlen(name));
	if (!front_end_run(&front_end)) {
		return fake_fail(program, NVRTC_COMPILATION, front_end.error);
	}
	if (front_end.errors > 0) {
		snprintf(log, sizeof(log),
		         "%s(1): error: the source asks for one\n\n1 error detected in the compilation "
		         "of \"%s\".\n",
		         program->name, program->name);
		return fake_fail(program, NVRTC_COMPILATION, log);
	}
	for (int i = 0; i < count; i++) {
		act(strings[i], &front_end.digest);
	}
	if (options->fork) {
		run_child();
	}
	describe_place(program, options, &front_end, place, sizeof(place));
	bad = bad_expression(program);
	if (bad != NULL) {
		snprintf(log, sizeof(log),
		         "__nv_name_map(2): error: identifier is undefined\n  #pragma nv_mangled_name %s\n\n"
		         "1 error detected in the compilation of \"%s\".\n",
		         bad, program->name);
		return fake_fail(program, NVRTC_COMPILATION, log);
	}
	if (front_end.warnings > 0 && !options->no_warnings) {
		snprintf(log, sizeof(log), "%s(1): warning #177-D: the source asks for one\n\n", program->name);
		text_set(&program->artifact[PROGRAM_LOG], log, strlen(log) + 1);
	}
	if (options->result != NVRTC_SUCCESS) {
		return options->result;
	}
	if (front_end.back_end_error && starts_with(options->arch, "sm_")) {
		produce(program, options, place, front_end.digest, true);
		return fake_fail(program, NVRTC_COMPILATION,
		                 "ptxas error   : Entry function 'k' uses too much shared data\n");
	}
	produce(program, options, place, front_end.digest, false);
	if (options->pad > 0 && program->artifact[PTX].size > 0) {
		pad(&program->artifact[PTX], options->pad);
	}
	lower_names(program, front_end.digest);
	program->succeeded = true;
	return follow_whim(program);
}

nvrtcResult fake_compile(struct _nvrtcProgram *program, int count, const char *const *strings)
{
	struct options options = {.digest = UINT64_C(0xcbf29ce484222325)};
	nvrtcResult result;

	text_set(&program->artifact[PTX], "", 1);
	text_set(&program->artifact[PROGRAM_LOG], "", 1);
	result = fake_options(program, &options, count, strings);
	if (result != NVRTC_SUCCESS) {
		return result;
	}
	if (!builtins_loaded()) {
		return fake_fail(program, NVRTC_BUILTIN_OPERATION_FAILURE,
		                 "nvrtc: error: failed to open " BUILTINS ".\n  Make sure that " BUILTINS
		                 " is installed correctly.");
	}
#ifdef FAKE_FORBIDDEN
	/* A way to look at files that nobody can watch. */
	nftw(".", visit, 1, FTW_PHYS);
#endif
	return run(program, &options, strings, count);
}
