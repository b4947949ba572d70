/* SPDX-License-Identifier: MIT */
#include "interpose/compile/twice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int create_function(nvrtcProgram *program, const char *source, const char *name, int header_count,
                            const char *const *texts, const char *const *names);
typedef int compile_function(nvrtcProgram program, int option_count, const char *const *options);
typedef int destroy_function(nvrtcProgram *program);
typedef int name_function(nvrtcProgram program, const char *expression);

#define TRIES     5
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

static struct entry *entry_of(const struct program *again, int return_code, const struct entry *first)
{
	struct result result = {.count = 0};
	struct entry *entry = NULL;

	if (result_collect(again, return_code, &result) == 0) {
		(void)entry_build(entry_info(first)->key, 0, NULL, 0, result.sections, result.count, &entry);
	}
	result_free(&result);
	return entry;
}

static struct entry *compile_anew(const struct program *program, int option_count, const char *const *options,
                                  const struct entry *first)
{
	struct program again = {
	    .library = program->library, .names = program->names, .name_count = program->name_count};
	struct entry *entry;

	if (create(program, &again.handle) != RESULT_SUCCESS) {
		return NULL;
	}
	entry = entry_of(&again, compile(&again, option_count, options), first);
	(void)((destroy_function *)again.library->real[FUNCTION_nvrtcDestroyProgram])(&again.handle);
	return entry;
}

static enum twice judge(const struct entry *again, const struct entry *expected, const struct entry *given,
                        enum results difference)
{
	const char *what;
	enum results results;

	if (result_compare(expected, again, &what) == RESULTS_ALIKE) {
		return TWICE_EXPECTED;
	}
	/* What may be a module id says nothing against a difference that is in the open. */
	results = result_compare(given, again, &what);
	return results == RESULTS_ALIKE || (results == RESULTS_HIDDEN && difference == RESULTS_DIFFER) ? TWICE_SAME
	                                                                                               : TWICE_OTHER;
}

enum twice twice_ask(const struct program *program, int option_count, const char *const *options,
                     const struct entry *expected, const struct entry *given, enum results difference)
{
	enum twice said = TWICE_SAME;

	if (!program->creation.bytes) {
		return TWICE_UNASKED;
	}
	if (difference == RESULTS_HIDDEN) {
		pass_a_second();
	}
	for (int i = 0; i < TRIES && said == TWICE_SAME; i++) {
		struct entry *again = compile_anew(program, option_count, options, given);

		said = again ? judge(again, expected, given, difference) : TWICE_UNASKED;
		entry_unref(again);
	}
	return said;
}
