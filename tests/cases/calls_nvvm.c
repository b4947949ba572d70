/* SPDX-License-Identifier: MIT */
/* What a host can ask of libNVVM. */
#include "answers.h"
#include "calls.h"
#include "complaints.h"
#include "inputs.h"
#include "loans.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAMS 8

typedef int program_function(void **);
typedef int add_function(void *, const char *, size_t, const char *);
typedef int work_function(void *, int, const char **);

static void *programs[PROGRAMS];
static int current;
static void *library;

static void *real(const char *name)
{
	char symbol[64];

	library = library ? library : library_of("NVVM_LIB", "libNVVM");
	snprintf(symbol, sizeof(symbol), "nvvm%s", name);
	return dlsym(library, symbol);
}

static void product(const char *what, enum answer_form form)
{
	struct getter getter = getter_of(real, "Get", what);

	answer_print(&getter, programs[current], form);
}

static void of_program(const char *verb, const char *name, void **program)
{
	int code = ((program_function *)real(name))(program);

	printf("  nvvm %s %d%s\n", verb, code, program && *program ? ", a program" : "");
}

/* add or lazy NAME INPUT [inside|SIZE] */
static void add(const char *verb, const char *name, const char *input, const char *how)
{
	bool lazy = strcmp(verb, "lazy") == 0;
	add_function *f = real(lazy ? "LazyAddModuleToProgram" : "AddModuleToProgram");
	size_t size, told;
	char *bytes = inputs_give(input, lazy ? "nvvmLazyAddModuleToProgram buffer" : "nvvmAddModuleToProgram buffer",
	                          how && strcmp(how, "inside") == 0 ? ENDING_INSIDE : ENDING_BEHIND, &size);
	char *copy =
	    lend_text(lazy ? "nvvmLazyAddModuleToProgram name" : "nvvmAddModuleToProgram name", name, LOAN_ENDS);
	int code;

	told = how && how[0] >= '0' && how[0] <= '9' ? strtoull(how, NULL, 10) : size;
	told = told < size ? told : size;
	code = f(programs[current], bytes, told, copy);
	loans_return();
	printf("  nvvm %s %d\n", verb, code);
}

/* verify or compile, with an array of options unless none are given but counted */
static void work(const char *verb, int count, int given, char **options)
{
	bool verifies = strcmp(verb, "verify") == 0;
	work_function *f = real(verifies ? "VerifyProgram" : "CompileProgram");
	const char **copies = lend_texts(verifies ? "nvvmVerifyProgram options" : "nvvmCompileProgram options",
	                                 verifies ? "nvvmVerifyProgram option" : "nvvmCompileProgram option",
	                                 (const char *const *)options, (size_t)given, LOAN_ENDS);
	int code;

	complaints_begin();
	code = f(programs[current], count, given > 0 || count == 0 ? copies : NULL);
	complaints_end();
	loans_return();
	printf("  nvvm %s %d\n", verb, code);
}

static void null(void)
{
	static const char *const products[] = {"CompiledResult", "ProgramLog"};
	const char *options[] = {"-arch=compute_75"};

	printf("  null program: add %d", ((add_function *)real("AddModuleToProgram"))(NULL, "x", 1, "n"));
	printf(" lazy %d", ((add_function *)real("LazyAddModuleToProgram"))(NULL, "x", 1, "n"));
	printf(" verify %d", ((work_function *)real("VerifyProgram"))(NULL, 1, options));
	printf(" compile %d", ((work_function *)real("CompileProgram"))(NULL, 1, options));
	printf(" create %d\n", ((program_function *)real("CreateProgram"))(NULL));
	for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
		struct getter getter = getter_of(real, "Get", products[i]);
		char bytes[16] = "untouched";
		size_t value = 5;
		int code = getter.size(NULL, &value);

		printf("  null program: %s %d %zu", products[i], code, value);
		code = getter.bytes(NULL, bytes);
		printf(" %d %s\n", code, bytes);
	}
}

static void version(void)
{
	int numbers[4] = {77, 77, 77, 77};
	int (*product_version)(int *, int *) = real("Version");
	int (*ir_version)(int *, int *, int *, int *) = real("IRVersion");
	int code = product_version(&numbers[0], &numbers[1]);

	printf("  nvvm version %d %d.%d", code, numbers[0], numbers[1]);
	code = ir_version(&numbers[0], &numbers[1], &numbers[2], &numbers[3]);
	printf(" IR %d %d.%d %d.%d\n", code, numbers[0], numbers[1], numbers[2], numbers[3]);
}

static void llvm_version(const char *architecture)
{
	int (*f)(const char *, int *) = real("LLVMVersion");
	int major = 77;

	if (f) {
		int code = f(architecture, &major);

		printf("  nvvm llvm %d %d\n", code, major);
	} else {
		printf("  nvvm llvm absent\n");
	}
}

static void errors(int from, int to)
{
	const char *(*f)(int) = real("GetErrorString");

	for (int i = from; i <= to; i++) {
		const char *text = f(i);

		printf("  nvvm error %d %s\n", i, text ? text : "NULL");
	}
}

static void keep(const char *name)
{
	struct getter getter = getter_of(real, "Get", "CompiledResult");
	size_t size;
	char *bytes = answer_take(&getter, programs[current], &size);

	if (bytes) {
		inputs_keep(name, bytes, size);
	}
}

void nvvm_begin(void)
{
	memset(programs, 0, sizeof(programs));
	current = 0;
}

static int call_of_program(const char *verb, int count, char **rest)
{
	if (strcmp(verb, "create") == 0) {
		of_program(verb, "CreateProgram", &programs[current]);
	} else if (strcmp(verb, "use") == 0) {
		current = atoi(rest[0]);
	} else if (strcmp(verb, "add") == 0 || strcmp(verb, "lazy") == 0) {
		add(verb, rest[0], rest[1], count > 2 ? rest[2] : NULL);
	} else if (strcmp(verb, "verify") == 0 || strcmp(verb, "compile") == 0) {
		work(verb, count, count, rest);
	} else if (strcmp(verb, "verify-count") == 0 || strcmp(verb, "compile-count") == 0) {
		work(verb[0] == 'v' ? "verify" : "compile", atoi(rest[0]), count - 1, rest + 1);
	} else if (strcmp(verb, "destroy") == 0) {
		of_program(verb, "DestroyProgram", &programs[current]);
	} else if (strcmp(verb, "destroy-null") == 0) {
		of_program(verb, "DestroyProgram", NULL);
	} else if (strcmp(verb, "destroy-empty") == 0) {
		of_program(verb, "DestroyProgram", (void *[]){NULL});
	} else {
		return 0;
	}
	return 1;
}

int call_of_nvvm(const char *verb, int count, char **rest)
{
	if (strcmp(verb, "nvvm") != 0 || count < 1) {
		return 0;
	}
	verb = *rest++;
	count--;
	if (call_of_program(verb, count, rest)) {
		return 1;
	}
	if (strcmp(verb, "all") == 0) {
		product("CompiledResult", ANSWER_HASH);
		product("ProgramLog", ANSWER_TEXT);
	} else if (strcmp(verb, "sizes") == 0) {
		product("CompiledResult", ANSWER_SIZE);
		product("ProgramLog", ANSWER_SIZE);
	} else if (strcmp(verb, "get") == 0) {
		product(rest[0], strstr(rest[0], "Log") ? ANSWER_TEXT : ANSWER_HASH);
	} else if (strcmp(verb, "null") == 0) {
		null();
	} else if (strcmp(verb, "version") == 0) {
		version();
	} else if (strcmp(verb, "llvm") == 0) {
		llvm_version(rest[0]);
	} else if (strcmp(verb, "errors") == 0) {
		errors(atoi(rest[0]), atoi(rest[1]));
	} else if (strcmp(verb, "keep") == 0) {
		keep(rest[0]);
	} else {
		return 0;
	}
	return 1;
}
