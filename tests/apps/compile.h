/* SPDX-License-Identifier: MIT */
/*
 * compile: one NVRTC compilation from beginning to end, with every answer printed
 *
 * A sample that links libnvrtc calls it directly; one that loads it at run time defines NVRTC(function) as a member of
 * its table of function pointers before it includes this file.
 */
#ifndef APPS_COMPILE_H
#define APPS_COMPILE_H

#include "functions.h"
#include "report.h"

#include <time.h>

#ifndef NVRTC
#define NVRTC(function) function
#endif

enum { COMPILE_NAMES_MAX = 4, COMPILE_OPTIONS_MAX = 8 };

struct artifact {
	char *bytes;
	size_t size;
};

/* What is asked for, and behind the line what came back. */
struct compilation {
	const char *name;
	const char *source;
	const char *header_name; /* one header in memory, or NULL */
	const char *header;
	const char *names[COMPILE_NAMES_MAX];
	int name_count;
	const char *options[COMPILE_OPTIONS_MAX];
	int option_count;
	bool timed; /* print the compile's own time on stderr */

	nvrtcResult result;
	char *lowered[COMPILE_NAMES_MAX];
	struct artifact ptx, cubin, ltoir, optixir, log;
};

static inline void compile_said(const char *call, nvrtcResult result)
{
	printf("%s: %d %s\n", call, (int)result, NVRTC(nvrtcGetErrorString)(result));
}

typedef nvrtcResult artifact_size(nvrtcProgram program, size_t *ret_size);
typedef nvrtcResult artifact_get(nvrtcProgram program, char *ret_bytes);

static inline struct artifact compile_artifact(const char *what, nvrtcProgram program, artifact_size *size_of,
                                               artifact_get *get)
{
	struct artifact artifact = {NULL, 0};
	nvrtcResult size_result = size_of(program, &artifact.size);
	nvrtcResult get_result;

	artifact.bytes = (char *)report_memory(artifact.size);
	get_result = get(program, artifact.bytes);
	printf("%s: size %d, get %d, %zu bytes, fnv1a %016llx\n", what, (int)size_result, (int)get_result,
	       artifact.size, (unsigned long long)report_hash(artifact.bytes, artifact.size));
	return artifact;
}

static inline void compile_run(struct compilation *c)
{
	nvrtcProgram program = NULL;
	struct timespec before, after;
	nvrtcResult result;

	printf("program %s\n", c->name ? c->name : "(no name)");
	result = NVRTC(nvrtcCreateProgram)(&program, c->source, c->name, c->header ? 1 : 0,
	                                   c->header ? &c->header : NULL, c->header ? &c->header_name : NULL);
	compile_said("nvrtcCreateProgram", result);
	for (int i = 0; i < c->name_count; i++) {
		compile_said("nvrtcAddNameExpression", NVRTC(nvrtcAddNameExpression)(program, c->names[i]));
	}
	clock_gettime(CLOCK_MONOTONIC, &before);
	c->result = NVRTC(nvrtcCompileProgram)(program, c->option_count, c->options);
	clock_gettime(CLOCK_MONOTONIC, &after);
	compile_said("nvrtcCompileProgram", c->result);
	if (c->timed) {
		fprintf(stderr, "compile: %.1f us\n",
		        (double)(after.tv_sec - before.tv_sec) * 1e6 + (double)(after.tv_nsec - before.tv_nsec) / 1e3);
	}

	c->log = compile_artifact("log", program, NVRTC(nvrtcGetProgramLogSize), NVRTC(nvrtcGetProgramLog));
	report_text("log text", c->log.bytes, c->log.size);
	c->ptx = compile_artifact("PTX", program, NVRTC(nvrtcGetPTXSize), NVRTC(nvrtcGetPTX));
	c->cubin = compile_artifact("CUBIN", program, NVRTC(nvrtcGetCUBINSize), NVRTC(nvrtcGetCUBIN));
	c->ltoir = compile_artifact("LTO-IR", program, NVRTC(nvrtcGetLTOIRSize), NVRTC(nvrtcGetLTOIR));
	c->optixir = compile_artifact("OptiX IR", program, NVRTC(nvrtcGetOptiXIRSize), NVRTC(nvrtcGetOptiXIR));
	for (int i = 0; i < c->name_count; i++) {
		const char *lowered = NULL;

		result = NVRTC(nvrtcGetLoweredName)(program, c->names[i], &lowered);
		printf("lowered name of %s: %d %s\n", c->names[i], (int)result, lowered ? lowered : "(none)");
		if (lowered) {
			c->lowered[i] = (char *)report_memory(strlen(lowered) + 1);
			memcpy(c->lowered[i], lowered, strlen(lowered) + 1);
		}
	}
	compile_said("nvrtcDestroyProgram", NVRTC(nvrtcDestroyProgram)(&program));
}

static inline void compile_free(struct compilation *c)
{
	free(c->ptx.bytes);
	free(c->cubin.bytes);
	free(c->ltoir.bytes);
	free(c->optixir.bytes);
	free(c->log.bytes);
	for (int i = 0; i < c->name_count; i++) {
		free(c->lowered[i]);
	}
}

/*
 * The number behind sm_ to compile for: the newest that this NVRTC knows and the device can run; without a device
 * (0) that is sm_90 or the newest below it, so that machines without a GPU all compile the same.
 */
static inline int compile_architecture(int device)
{
	int wanted = device ? device : 90, best = 0, count = 0, major = 0, minor = 0;
	int *known;

	compile_said("nvrtcVersion", NVRTC(nvrtcVersion)(&major, &minor));
	printf("NVRTC %d.%d\n", major, minor);
	compile_said("nvrtcGetNumSupportedArchs", NVRTC(nvrtcGetNumSupportedArchs)(&count));
	known = (int *)report_memory((size_t)count * sizeof(*known));
	compile_said("nvrtcGetSupportedArchs", NVRTC(nvrtcGetSupportedArchs)(known));
	for (int i = 0; i < count; i++) {
		if (known[i] <= wanted && known[i] > best) {
			best = known[i];
		}
	}
	free(known);
	report_check(best > 0, "this NVRTC knows an architecture that the device can run");
	printf("architecture sm_%d\n", best);
	return best;
}

#endif
