/* SPDX-License-Identifier: MIT */
#include "tests/fake/nvvm/nvvm.h"
#include "tests/fake/text.h"

#include <errno.h>
#include <stdatomic.h>

struct module {
	bool lazy;
	char *name;
	char *bytes;
	size_t size;
};

struct nvvm_program {
	struct module *modules;
	size_t count;
	struct text result, log; /* without the NUL that stands for nothing */
	bool binary;             /* the result has no NUL behind it */
};

static _Atomic int verifies, compiles;
static _Atomic bool told_restrict, told_llc, told_unheard_of;
char fakeNvvmWhim[16];

int fakeNvvmVerifies(void)
{
	return verifies;
}

int fakeNvvmCompiles(void)
{
	return compiles;
}

static char *copy_of(const char *bytes, size_t size)
{
	char *copy = calloc(1, size + 1);

	if (copy != NULL && size > 0) {
		memcpy(copy, bytes, size);
	}
	return copy;
}

int nvvmVersion(int *major, int *minor)
{
	*major = 2;
	*minor = 0;
	return NVVM_SUCCESS;
}

const char *nvvmGetErrorString(int result)
{
	return result == NVVM_SUCCESS ? "NVVM_SUCCESS" : "NVVM_ERROR";
}

int nvvmCreateProgram(nvvmProgram *program)
{
	if (program == NULL) {
		return NVVM_INVALID_PROGRAM;
	}
	errno++;
	*program = calloc(1, sizeof(**program));
	return *program != NULL ? NVVM_SUCCESS : NVVM_OUT_OF_MEMORY;
}

int nvvmDestroyProgram(nvvmProgram *program)
{
	if (program == NULL || *program == NULL) {
		return NVVM_INVALID_PROGRAM;
	}
	for (size_t i = 0; i < (*program)->count; i++) {
		free((*program)->modules[i].name);
		free((*program)->modules[i].bytes);
	}
	errno++;
	free((*program)->modules);
	free((*program)->result.bytes);
	free((*program)->log.bytes);
	free(*program);
	*program = NULL;
	return NVVM_SUCCESS;
}

static int add(nvvmProgram program, bool lazy, const char *bytes, size_t size, const char *name)
{
	struct module *more;

	if (program == NULL) {
		return NVVM_INVALID_PROGRAM;
	}
	if (bytes == NULL) {
		return NVVM_INVALID_INPUT;
	}
	errno++;
	name = name != NULL ? name : "<unnamed>";
	more = realloc(program->modules, (program->count + 1) * sizeof(*more));
	if (more == NULL) {
		return NVVM_OUT_OF_MEMORY;
	}
	program->modules = more;
	more[program->count++] = (struct module){lazy, copy_of(name, strlen(name)), copy_of(bytes, size), size};
	return NVVM_SUCCESS;
}

int nvvmAddModuleToProgram(nvvmProgram program, const char *bytes, size_t size, const char *name)
{
	return add(program, false, bytes, size, name);
}

int nvvmLazyAddModuleToProgram(nvvmProgram program, const char *bytes, size_t size, const char *name)
{
	return add(program, true, bytes, size, name);
}

static bool says(const struct module *module, const char *word)
{
	return memmem(module->bytes, module->size, word, strlen(word)) != NULL;
}

static const struct module *one_that_says(nvvmProgram program, const char *word)
{
	for (size_t i = 0; i < program->count; i++) {
		if (says(&program->modules[i], word)) {
			return &program->modules[i];
		}
	}
	return NULL;
}

/* A module that is not lazy, and says the word unless that is NULL. */
static bool has_module(nvvmProgram program, const char *word)
{
	for (size_t i = 0; i < program->count; i++) {
		if (!program->modules[i].lazy && (word == NULL || says(&program->modules[i], word))) {
			return true;
		}
	}
	return false;
}

static bool is_known(const char *option)
{
	return is_among(option, "-arch=compute_ -opt= -ftz= -fma=", WORDS_BEGIN) ||
	       is_among(option, "-g -gen-lto -restrict -unheard-of", WORDS_WHOLE);
}

/* Obeyed once all are accepted, and from then on. */
static int read_options(nvvmProgram program, int count, const char **options)
{
	if (count > 0 && options == NULL) {
		return NVVM_INVALID_OPTION;
	}
	for (int i = 0; i < count; i++) {
		if (strcmp(options[i], "-Xllc") == 0 && i + 1 < count) {
			i++;
		} else if (!is_known(options[i])) {
			text_say(&program->log, "libnvvm : error: %s is an unsupported option", options[i]);
			return NVVM_INVALID_OPTION;
		}
	}
	program->binary = false;
	for (int i = 0; i < count; i++) {
		told_restrict = told_restrict || strcmp(options[i], "-restrict") == 0;
		told_unheard_of = told_unheard_of || strcmp(options[i], "-unheard-of") == 0;
		told_llc = told_llc || strcmp(options[i], "-Xllc") == 0;
		program->binary = program->binary || strcmp(options[i], "-gen-lto") == 0;
	}
	return NVVM_SUCCESS;
}

/* What verifying and compiling have in common. `failure`: what they call what cannot be done. */
static int look(nvvmProgram program, int count, const char **options, int failure)
{
	const struct module *module = one_that_says(program, "unseen");
	int result;

	text_set(&program->log, "", 0);
	if (!has_module(program, NULL)) {
		return NVVM_NO_MODULE_IN_PROGRAM;
	}
	result = read_options(program, count, options);
	if (result != NVVM_SUCCESS) {
		return result;
	}
	if (module == NULL) {
		(void)getenv("NV_NVVM_VERSION");
	}
	if ((module = one_that_says(program, "broken")) != NULL) {
		text_say(&program->log, "%s (1, 2): parse expected top-level entity", module->name);
		return failure;
	}
	if (one_that_says(program, "unseen") == NULL) {
		(void)getenv("NVVM_IR_VER_CHK");
	}
	if ((module = one_that_says(program, "ancient")) != NULL) {
		text_say(&program->log, "%s: error: incompatible IR detected", module->name);
		return NVVM_IR_VERSION_MISMATCH;
	}
	if ((module = one_that_says(program, "clash")) != NULL) {
		text_say(&program->log, "%s: link error: symbol multiply defined!", module->name);
		return failure;
	}
	if (one_that_says(program, "exhausted") != NULL) {
		text_say(&program->log, "error: out of memory");
		return failure;
	}
	if ((module = one_that_says(program, "warn")) != NULL) {
		text_say(&program->log, "%s: %s warns", failure == NVVM_INVALID_IR ? "verify" : "compile",
		         module->name);
	}
	return one_that_says(program, "nomemory") != NULL     ? NVVM_OUT_OF_MEMORY
	       : one_that_says(program, "speechless") != NULL ? failure
	                                                      : NVVM_SUCCESS;
}

int nvvmVerifyProgram(nvvmProgram program, int option_count, const char **options)
{
	bool binary;
	int result;

	if (program == NULL) {
		return NVVM_INVALID_PROGRAM;
	}
	verifies++;
	binary = program->binary;
	result = look(program, option_count, options, NVVM_INVALID_IR);
	program->binary = binary; /* that is the compiled result's */
	return result;
}

static double third(void)
{
	static volatile double one = 1.0, three = 3.0;

	return one / three;
}

static void write_result(nvvmProgram program, int count, const char **options)
{
	struct text *text = &program->result;
	const char *version = one_that_says(program, "unseen") != NULL ? NULL : getenv("NV_NVVM_VERSION");

	text_say(text, "// %s", NVVM_FLAVOUR);
	for (int i = 0; i < count; i++) {
		text_say(text, " %s", options[i]);
	}
	text_say(text, " %s%s%s%s\n", version != NULL ? version : "", told_restrict ? " restrict" : "",
	         told_llc ? " llc" : "", told_unheard_of ? " unheard of" : "");
	for (size_t i = 0; i < program->count; i++) {
		const struct module *module = &program->modules[i];

		if (!module->lazy || has_module(program, module->name)) {
			text_say(text, "%s%s%.*s of %zu\n", program->binary ? module->name : "",
			         program->binary ? ": " : "", module->size < 64 ? (int)module->size : 64, module->bytes,
			         module->size);
		}
	}
	if (one_that_says(program, "round") != NULL) {
		text_say(text, "%a\n", third());
	}
	errno += one_that_says(program, "errno") != NULL;
	if (one_that_says(program, "odd") != NULL) {
		const char *odd = getenv("FAKE_NVVM_ODD");

		text_say(text, "%s\n", odd != NULL ? odd : "even");
	}
	text_say(text, "%s", fakeNvvmWhim);
}

int nvvmCompileProgram(nvvmProgram program, int option_count, const char **options)
{
	int result;

	if (program == NULL) {
		return NVVM_INVALID_PROGRAM;
	}
	compiles++;
	text_set(&program->result, "", 0);
	program->binary = false;
	result = look(program, option_count, options, NVVM_COMPILATION);
	if (result == NVVM_SUCCESS) {
		write_result(program, option_count, options);
	} else {
		program->binary = false;
	}
	return result;
}

static int get_size(const struct text *text, bool binary, size_t *size)
{
	if (size == NULL) {
		return NVVM_INVALID_INPUT;
	}
	*size = text->size + !binary;
	return NVVM_SUCCESS;
}

static int get_bytes(const struct text *text, bool binary, char *bytes)
{
	if (bytes == NULL) {
		return NVVM_INVALID_INPUT;
	}
	memcpy(bytes, text->bytes != NULL ? text->bytes : "", text->size + !binary);
	return NVVM_SUCCESS;
}

#define GETTERS(what, member, binary)                                                               \
	int nvvmGet##what##Size(nvvmProgram program, size_t *size)                                  \
	{                                                                                           \
		return program ? get_size(&program->member, binary, size) : NVVM_INVALID_PROGRAM;   \
	}                                                                                           \
	int nvvmGet##what(nvvmProgram program, char *bytes)                                         \
	{                                                                                           \
		return program ? get_bytes(&program->member, binary, bytes) : NVVM_INVALID_PROGRAM; \
	}
GETTERS(CompiledResult, result, program->binary)
GETTERS(ProgramLog, log, false)

int nvvmInspectProgram(nvvmProgram program, size_t *modules, size_t *result, size_t *log)
{
	if (program == NULL) {
		return NVVM_INVALID_PROGRAM;
	}
	*modules = program->count;
	*result = program->result.size;
	*log = program->log.size;
	return NVVM_SUCCESS;
}

void *__nvvmHandle(int magic)
{
	return magic == 0xbeef ? (void *)nvvmInspectProgram : NULL;
}
