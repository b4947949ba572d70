/* SPDX-License-Identifier: MIT */
#include "interpose/twice.h"

#include "interpose/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int create_function(nvrtcProgram *program, const char *source, const char *name, int header_count,
                            const char *const *texts, const char *const *names);
typedef int compile_function(nvrtcProgram program, int option_count, const char *const *options);
typedef int destroy_function(nvrtcProgram *program);
typedef int name_function(nvrtcProgram program, const char *expression);

#define SECOND_NS 1000000000L
#define TICK_NS   20000000L

/* Until another second has begun: module ids are made of it. time() is as late as the kernel's last tick. */
static void pass_a_second(void)
{
	struct timespec now, rest;
	long left_ns;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	left_ns = SECOND_NS - now.tv_nsec + TICK_NS;
	rest = (struct timespec){.tv_sec = left_ns / SECOND_NS, .tv_nsec = left_ns % SECOND_NS};
	while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
	}
}

static int create(const struct program *program, nvrtcProgram *ret_handle)
{
	create_function *make = (create_function *)program->library->real[FUNCTION_nvrtcCreateProgram];
	struct request_texts texts;
	int result;

	if (request_texts(&program->creation, &texts) != 0) {
		return RESULT_OUT_OF_MEMORY;
	}
	result = make(ret_handle, texts.source, program->name, (int)texts.count, texts.headers, texts.names);
	request_texts_free(&texts);
	return result;
}

static int compile(const struct program *again, int option_count, const char *const *options)
{
	name_function *add_name = (name_function *)again->library->real[FUNCTION_nvrtcAddNameExpression];

	for (size_t i = 0; i < again->name_count; i++) {
		int result = add_name(again->handle, again->names[i]);

		if (result != RESULT_SUCCESS) {
			return result;
		}
	}
	return ((compile_function *)again->library->real[FUNCTION_nvrtcCompileProgram])(again->handle, option_count,
	                                                                                options);
}

static bool is_like(const struct program *again, int return_code, const struct entry *first)
{
	struct result result = {.count = 0};
	struct entry *entry = NULL;
	const char *what;
	bool like = result_collect(again, return_code, &result) == 0 &&
	            entry_build(entry_info(first)->key, 0, NULL, 0, result.sections, result.count, &entry) == 0 &&
	            result_compare(first, entry, &what) == RESULTS_ALIKE;

	entry_unref(entry);
	result_free(&result);
	return like;
}

bool twice_alike(const struct program *program, int option_count, const char *const *options, const struct entry *first)
{
	struct program again = {
	    .library = program->library, .names = program->names, .name_count = program->name_count};
	bool like;

	if (!program->creation.bytes) {
		return false;
	}
	pass_a_second();
	if (create(program, &again.handle) != RESULT_SUCCESS) {
		return false;
	}
	like = is_like(&again, compile(&again, option_count, options), first);
	(void)((destroy_function *)again.library->real[FUNCTION_nvrtcDestroyProgram])(&again.handle);
	return like;
}
