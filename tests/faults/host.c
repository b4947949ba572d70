/* SPDX-License-Identifier: MIT */
#include "tests/faults/host.h"

#include "tests/faults/tree.h"
#include "tests/fixtures/loader/table.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PROGRAMS    (PROGRAM_FILLER + HOST_FILLERS)
#define OPTIONS_MAX 8

static const char source[] = "#include \"x.h\"\n#include \"m.h\"\nextern \"C\" __global__ void k() {}\n";
static const char failing[] = "#include \"x.h\"\n#error on purpose\n";

static const char *const library_directory[LIBRARIES] = {"13", "13b"};
static char base_path[PATH_MAX / 2];
static char library_path[LIBRARIES][PATH_MAX];

static struct nvrtc {
	void *handle;
	struct table call;
} loaded[LIBRARIES];

static struct expected {
	size_t size;
	char *bytes;
} expected[LIBRARIES][WORLDS][PROGRAMS];

static bool make_world(enum world world)
{
	static const char *const header[WORLDS] = {"int first;\n", "int other;\n", "int first;\n", NULL};
	static const char *const places[] = {"", "/inc1", "/inc2", "/inc2/x.h", "/inc1/x.h"};
	const char *const texts[] = {NULL, NULL, NULL, header[world], world == WORLD_C ? "int early;\n" : NULL};
	char path[PATH_MAX];
	bool good = true;

	for (int i = 0; good && i < 5; i++) {
		snprintf(path, sizeof(path), "%s/world-%d%s", base_path, world, places[i]);
		good = i < 3 ? mkdir(path, 0755) == 0 : !texts[i] || file_write(path, texts[i], strlen(texts[i]));
	}
	return good;
}

bool host_open(const char *base, const char *fakes)
{
	struct timespec age = {.tv_nsec = 100000000};
	char path[PATH_MAX];
	bool good = true;

	snprintf(base_path, sizeof(base_path), "%s", base);
	for (int i = 0; i < LIBRARIES; i++) {
		snprintf(library_path[i], sizeof(library_path[i]), "%s/%s/libnvrtc.so.13", fakes, library_directory[i]);
		good = good && access(library_path[i], R_OK) == 0;
	}
	snprintf(path, sizeof(path), "%s/world-0", base);
	if (good && access(path, F_OK) != 0) {
		for (int i = 0; i < WORLDS; i++) {
			good = good && make_world((enum world)i);
		}
		/* results that depend on headers as new as the compile are not kept */
		(void)nanosleep(&age, NULL);
	}
	return good;
}

static struct nvrtc *load(enum library library)
{
	struct nvrtc *nvrtc = &loaded[library];

	if (!nvrtc->handle) {
		nvrtc->handle = dlopen(library_path[library], RTLD_NOW | RTLD_LOCAL);
		if (!nvrtc->handle) {
			return NULL;
		}
		table_fill(&nvrtc->call, dlsym, nvrtc->handle);
	}
	return nvrtc;
}

int host_compiles(void)
{
	int sum = 0;

	for (int i = 0; i < LIBRARIES; i++) {
		sum += loaded[i].handle ? loaded[i].call.fakeNvrtcCompiles() : 0;
	}
	return sum;
}

static void add(struct host_text *text, const void *bytes, size_t size)
{
	if (size <= sizeof(text->bytes) - text->size) {
		memcpy(text->bytes + text->size, bytes, size);
		text->size += size;
	}
}

static void add_line(struct host_text *text, const char *what, long number)
{
	char line[100];

	add(text, line, (size_t)snprintf(line, sizeof(line), "%s %ld\n", what, number));
}

typedef nvrtcResult size_call(nvrtcProgram program, size_t *size);
typedef nvrtcResult bytes_call(nvrtcProgram program, char *out);

static void add_product(struct host_text *text, nvrtcProgram program, const char *what, size_call *size_of,
                        bytes_call *bytes_of)
{
	size_t size = 0;
	char *bytes;

	add_line(text, what, size_of(program, &size));
	add_line(text, "size", (long)size);
	bytes = calloc(1, size + 1);
	if (bytes) {
		add_line(text, "bytes", bytes_of(program, bytes));
		add(text, bytes, size);
		free(bytes);
	}
}

static int options_of(enum program program, const char *options[OPTIONS_MAX], char macro[40])
{
	int count = 0;

	options[count++] = "-arch=sm_90";
	options[count++] = "-Iinc1";
	options[count++] = "-Iinc2";
	switch (program) {
	case PROGRAM_PLAIN:
	case PROGRAM_FAILING:
		break;
	case PROGRAM_DEBUG:
		options[count++] = "-lineinfo";
		break;
	case PROGRAM_LARGE:
		options[count++] = "--fake-pad=1500000";
		break;
	default:
		snprintf(macro, 40, "-DFILL=%d", (int)(program - PROGRAM_FILLER));
		options[count++] = macro;
	}
	return count;
}

void host_do(const struct job *job, struct host_text *text)
{
	static const char *const headers[] = {"int in_memory;\n"};
	static const char *const memory_header = "m.h";
	struct nvrtc *nvrtc = load(job->library);
	const char *options[OPTIONS_MAX];
	const char *lowered = NULL;
	nvrtcProgram program = NULL;
	char path[PATH_MAX], macro[40];
	int count;

	snprintf(path, sizeof(path), "%s/world-%d", base_path, job->world);
	if (!nvrtc || chdir(path) != 0) {
		add_line(text, "no world or library, error", errno);
		return;
	}
	count = options_of(job->program, options, macro);
	add_line(text, "create",
	         nvrtc->call.nvrtcCreateProgram(&program, job->program == PROGRAM_FAILING ? failing : source,
	                                        "program.cu", 1, headers, &memory_header));
	add_line(text, "name", nvrtc->call.nvrtcAddNameExpression(program, "k<1>"));
	add_line(text, "compile", nvrtc->call.nvrtcCompileProgram(program, count, options));
	add_product(text, program, "ptx", nvrtc->call.nvrtcGetPTXSize, nvrtc->call.nvrtcGetPTX);
	add_product(text, program, "cubin", nvrtc->call.nvrtcGetCUBINSize, nvrtc->call.nvrtcGetCUBIN);
	add_product(text, program, "log", nvrtc->call.nvrtcGetProgramLogSize, nvrtc->call.nvrtcGetProgramLog);
	add_line(text, "lowered", nvrtc->call.nvrtcGetLoweredName(program, "k<1>", &lowered));
	add(text, lowered ? lowered : "none", lowered ? strlen(lowered) : 4);
	add_line(text, "destroy", nvrtc->call.nvrtcDestroyProgram(&program));
}

bool host_write_expected(const char *path)
{
	struct host_text *text = malloc(sizeof(*text));
	FILE *file = fopen(path, "w");
	bool good = file && text;

	for (int library = 0; good && library < LIBRARIES; library++) {
		for (int world = 0; world < WORLDS; world++) {
			for (int program = 0; program < PROGRAMS; program++) {
				const struct job job = {(enum program)program, (enum world)world,
				                        (enum library)library};

				text->size = 0;
				host_do(&job, text);
				good = good && fwrite(&text->size, sizeof(text->size), 1, file) == 1 &&
				       fwrite(text->bytes, text->size, 1, file) == 1;
			}
		}
	}
	free(text);
	return file && fclose(file) == 0 && good;
}

bool host_read_expected(const char *path)
{
	struct expected *next = &expected[0][0][0];
	FILE *file = fopen(path, "r");
	bool good = file != NULL;

	for (int i = 0; good && i < LIBRARIES * WORLDS * PROGRAMS; i++, next++) {
		good = fread(&next->size, sizeof(next->size), 1, file) == 1 && next->size <= HOST_TEXT_MAX;
		next->bytes = good ? malloc(next->size) : NULL;
		good = next->bytes && fread(next->bytes, next->size, 1, file) == 1;
	}
	if (file) {
		fclose(file);
	}
	return good;
}

bool host_as_expected(const struct job *jobs, size_t count, const struct host_text *text)
{
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		const struct expected *one = &expected[jobs[i].library][jobs[i].world][jobs[i].program];

		if (text->size - at < one->size || memcmp(text->bytes + at, one->bytes, one->size) != 0) {
			return false;
		}
		at += one->size;
	}
	return at == text->size;
}
