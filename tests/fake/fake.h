/* SPDX-License-Identifier: MIT */
/*
 * fake: the inside of the fake run-time compiler
 *
 * It behaves as the real one does in everything that a caller can see (return codes, sizes, artifacts that stick,
 * rules of name expressions, the order in which files are looked at) and compiles nothing: the artifacts are short
 * texts with a digest of all that went in.
 *
 * Options of its own, accepted besides the usual ones:
 *   --fake-open=PATH         reads PATH and mixes its content into the artifacts
 *   --fake-write=PATH        writes PATH
 *   --fake-unlink=PATH       removes PATH
 *   --fake-list=PATH         lists a directory
 *   --fake-env=NAME          asks for an environment variable and mixes its value in
 *   --fake-sleep-ms=N        takes that long; so does -DFAKE_SLEEP_MS=N, a known option
 *   --fake-fork              forks a child that exits, and waits for it
 *   --fake-thread-open=PATH  as --fake-open, in a thread of its own
 *   --fake-rc=N              returns N in the place of success
 *   --fake-silent            makes none of the calls that every real compile makes
 *   --fake-rehook            puts other functions into the slots of its own imports of open
 *   --fake-time              puts the time of day into the artifacts
 *   --fake-pad=N             makes the PTX longer by N bytes
 */
#ifndef TESTS_FAKE_FAKE_H
#define TESTS_FAKE_FAKE_H

#include "tests/fake/nvrtc.h"
#include "tests/fake/text.h"

#include <stdint.h>

struct lowered {
	char *expression;
	char *name;
};

struct header {
	char *name;
	char *text;
};

enum artifact { PTX, CUBIN, LTOIR, OPTIX, NVVM, TILE, PROGRAM_LOG, ARTIFACTS };

struct _nvrtcProgram {
	char *source;
	char *name;
	struct header *headers;
	int header_count;
	char **expressions;
	int expression_count;
	struct text artifact[ARTIFACTS]; /* sizes count the NUL of a string; 0: not there */
	struct lowered *lowered;         /* of the last success; NULL before */
	int lowered_count;
	bool succeeded;
	bool reached_front_end;
	nvrtcFlow *flow;
	void *flow_payload;
	char *(*decode)(const char *text, void *payload);
	void *decode_payload;
	int compiles;
};

#define FAKE_OPTIONS_MAX 256

struct options {
	const char *arch;
	const char *directories[FAKE_OPTIONS_MAX];
	int directory_count;
	bool lto, optix, debug, no_warnings, silent, fork, wants_time;
	int result;
	int sleep_ms;
	size_t pad;
	uint64_t digest; /* of every option that is no directory */
};

/* options.c: 0, or the return code and the log of what was wrong */
nvrtcResult fake_options(struct _nvrtcProgram *program, struct options *options, int count, const char *const *strings);
nvrtcResult fake_fail(struct _nvrtcProgram *program, nvrtcResult result, const char *log);

/* compile.c */
void fake_drop_lowered(struct _nvrtcProgram *program);
nvrtcResult fake_compile(struct _nvrtcProgram *program, int count, const char *const *options);

/* rehook.c */
void fake_rehook(void);

/* frontend.c: reads the source with its includes. Adds what was read to *digest; false and a log where one is missing.
 */
struct front_end {
	const struct _nvrtcProgram *program;
	const char *const *directories; /* of -I, in order */
	int directory_count;
	uint64_t digest;
	char error[1024];
	int warnings;
	int errors;
	bool back_end_error;
	bool wants_time;
	bool wants_file_name;
};
bool front_end_run(struct front_end *front_end);
uint64_t front_end_mix(uint64_t digest, const void *bytes, size_t size);
bool front_end_mix_file(uint64_t *digest, const char *path);
/* stat as this build of the library imports it */
int front_end_stat(const char *path, void *stat_buffer);

#endif
