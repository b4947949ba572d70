/* SPDX-License-Identifier: MIT */
#include "calls.h"
#include "answers.h"
#include "inputs.h"
#include "interpose/nvrtc/versions.h"
#include "loans.h"
#include "texts.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAMS 8
#define HEADERS  1024

typedef int create_function(void **, const char *, const char *, int, const char *const *, const char *const *);
typedef int name_function(void *, const char *, const char **);

static void *library;
static void *programs[PROGRAMS];
static int current;
static char *source, *name;
static char *header_names[HEADERS], *header_texts[HEADERS];
static int header_count;
static int callback_calls, callback_limit, callback_looks;

void *function(const char *symbol)
{
	return dlsym(library, symbol);
}

static void product(const char *what, enum answer_form form)
{
	struct getter getter = getter_of(function, "nvrtcGet", what);

	answer_print(&getter, programs[current], form);
}

char *call_product(const char *what, size_t *ret_size)
{
	struct getter getter = getter_of(function, "nvrtcGet", what);

	return answer_take(&getter, programs[current], ret_size);
}

static const char *const products[] = {"PTX", "CUBIN", "NVVM", "LTOIR", "OptiXIR", "TileIR"};

static void all(int bytes_too)
{
	int (*status)(void *) = function("nvrtcGetPCHCreateStatus");
	size_function *heap = function("nvrtcGetPCHHeapSizeRequired");
	size_t size = 99;

	for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
		product(products[i], bytes_too ? ANSWER_HASH : ANSWER_SIZE);
	}
	product("ProgramLog", bytes_too ? ANSWER_TEXT : ANSWER_SIZE);
	if (status && heap) {
		int a = status(programs[current]);
		int b = heap(programs[current], &size);

		printf("  PCH %d %d %zu\n", a, b, size);
	}
}

static int takes_null_expression(void)
{
	int (*version)(int *, int *) = function("nvrtcVersion");
	int major = 0, minor = 0;

	return version && version(&major, &minor) == 0 &&
	       !nvrtc_differs(DIFFERENCE_NULL_EXPRESSION_CRASHES, major, minor);
}

static void null(void)
{
	static const char *const two[] = {
	    "GetPTXSize",        "GetPTX",        "GetCUBINSize",           "GetCUBIN",
	    "GetNVVMSize",       "GetNVVM",       "GetLTOIRSize",           "GetLTOIR",
	    "GetOptiXIRSize",    "GetOptiXIR",    "GetTileIRSize",          "GetTileIR",
	    "GetProgramLogSize", "GetProgramLog", "GetPCHHeapSizeRequired", "AddNameExpression"};
	char symbol[64];

	for (size_t i = 0; i < sizeof(two) / sizeof(two[0]); i++) {
		size_t value = 5;
		int (*f)(void *, void *);

		snprintf(symbol, sizeof(symbol), "nvrtc%s", two[i]);
		f = function(symbol);
		if (strcmp(two[i], "AddNameExpression") == 0 && !takes_null_expression()) {
			continue;
		}
		if (f) {
			int a = f(programs[current], NULL);
			int b = f(NULL, &value);

			printf("  %s null out %d, null program %d, value %zu\n", two[i], a, b, value);
		} else {
			printf("  %s absent\n", two[i]);
		}
	}
	if (takes_null_expression()) {
		int (*lowered)(void *, const char *, const char **) = function("nvrtcGetLoweredName");
		const char *out = "untouched";
		int a = lowered(programs[current], NULL, &out);

		printf("  GetLoweredName null name %d %s", a, out ? out : "NULL");
		a = lowered(programs[current], "x", NULL);
		printf(" null out %d", a);
		a = lowered(NULL, "x", &out);
		printf(" null program %d\n", a);
	}
}

/* After a compile no release crashes at a null expression, but for a lowered name of one that went well. */
static void null_expression(const char *lowered_too)
{
	int (*add)(void *, const char *) = function("nvrtcAddNameExpression");
	int (*lowered)(void *, const char *, const char **) = function("nvrtcGetLoweredName");
	const char *out = "untouched";

	printf("  AddNameExpression null %d\n", add(programs[current], NULL));
	if (lowered_too) {
		int code = lowered(programs[current], NULL, &out);

		printf("  GetLoweredName null %d %s\n", code, out ? out : "NULL");
	}
}

static void create(int count, const char *const *texts, const char *const *names)
{
	create_function *f = function("nvrtcCreateProgram");
	void *before = programs[current];
	size_t given = (size_t)(count > 0 ? count : 0);
	int code =
	    f(&programs[current], lend_text("nvrtcCreateProgram src", source, LOAN_ENDS),
	      lend_text("nvrtcCreateProgram name", name, LOAN_ENDS), count,
	      lend_texts("nvrtcCreateProgram headers", "nvrtcCreateProgram header", texts, given, LOAN_ENDS),
	      lend_texts("nvrtcCreateProgram includeNames", "nvrtcCreateProgram includeName", names, given, LOAN_ENDS));

	loans_return();
	printf("  create %d%s\n", code, code && programs[current] != before ? " handle changed" : "");
	header_count = 0;
}

static void lowered(const char *expression)
{
	int (*f)(void *, const char *, const char **) = function("nvrtcGetLoweredName");
	const char *lent = lend_text("nvrtcGetLoweredName name_expression", expression, LOAN_ENDS);
	const char *out = "untouched", *again = "untouched";
	int code = f(programs[current], lent, &out);
	char *copy;

	(void)f(programs[current], lent, &again);
	loans_return();
	printf("  lowered %s %d ", expression, code);
	if (!out) {
		printf("NULL\n");
		return;
	}
	copy = strdup(out);
	copy[text_normalise(copy, strlen(copy))] = '\0';
	printf("%s%s\n", copy, out == again ? "" : " (another pointer)");
	free(copy);
}

static void compile(int count, char **options)
{
	int (*f)(void *, int, const char *const *) = function("nvrtcCompileProgram");
	size_t given = (size_t)(count > 0 ? count : 0);
	int code = f(programs[current], count,
	             lend_texts("nvrtcCompileProgram options", "nvrtcCompileProgram option",
	                        (const char *const *)options, given, LOAN_ENDS));

	loans_return();
	printf("  compile %d\n", code);
}

static void destroy(void **program)
{
	int (*f)(void **) = function("nvrtcDestroyProgram");

	printf("  destroy %d\n", f(program));
}

static void add(const char *expression)
{
	int (*f)(void *, const char *) = function("nvrtcAddNameExpression");

	int code = f(programs[current], lend_text("nvrtcAddNameExpression name_expression", expression, LOAN_ENDS));

	loans_return();
	printf("  add %d\n", code);
}

/* What is lent to a call ends with the next one (loans.h), so this lends nothing. */
static void look(void)
{
	static const char *const getters[] = {"nvrtcGetPTXSize", "nvrtcGetCUBINSize", "nvrtcGetProgramLogSize"};
	int (*add_name)(void *, const char *) = function("nvrtcAddNameExpression");
	int (*lower)(void *, const char *, const char **) = function("nvrtcGetLoweredName");
	const char *name = "untouched";
	char log[4096] = "x";
	int lowered_code;

	for (size_t i = 0; i < sizeof(getters) / sizeof(getters[0]); i++) {
		size_function *get = function(getters[i]);
		size_t size = 99;
		int code = get(programs[current], &size);

		printf("  %s %d %zu\n", getters[i], code, size);
	}
	if (((int (*)(void *, char *))function("nvrtcGetProgramLog"))(programs[current], log) == 0) {
		printf("  log %zu %.40s\n", strlen(log), log);
	}
	lowered_code = lower(programs[current], "t<int>", &name);
	printf("  add %d %d\n", add_name(programs[current], "never"), add_name(programs[current], NULL));
	printf("  lowered %d %s\n", lowered_code, name ? name : "NULL");
}

static int flow(void *payload, void *reserved)
{
	if (payload != &callback_calls) {
		printf("  WRONG PAYLOAD\n");
	}
	if (callback_calls++ == 0 && callback_looks) {
		look();
	}
	return callback_limit > 0 && callback_calls >= callback_limit;
}

/* `looks`: at its first call it asks for everything, and adds an expression. */
static void set_callback(const char *limit, int looks)
{
	typedef int setter(void *, int (*)(void *, void *), void *);
	setter *f = function("nvrtcSetFlowCallback");

	if (limit) {
		callback_looks = looks;
		callback_calls = 0;
		callback_limit = atoi(limit);
	}
	printf("  callback %d\n", f ? f(programs[current], limit ? flow : NULL, &callback_calls) : -1);
}

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

/* `count` copies of a text, with @N in each replaced by its number. */
static char *many(int count, const char *text)
{
	size_t room = (size_t)count * (strlen(text) * 4 + 16) + 1, size = 0;
	char *copies = malloc(room);

	for (int i = 0; i < count; i++) {
		for (const char *at = text; *at; at++) {
			if (at[0] == '@' && at[1] == 'N') {
				size += (size_t)sprintf(copies + size, "%d", i);
				at++;
			} else {
				copies[size++] = *at;
			}
		}
	}
	copies[size] = '\0';
	return copies;
}

static void add_header(const char *header_name, const char *text)
{
	if (header_count < HEADERS) {
		header_names[header_count] = copy(header_name);
		header_texts[header_count++] = copy(text);
	}
}

int calls_open(const char *path)
{
	library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	return library != NULL;
}

void calls_begin(void)
{
	source = name = NULL;
	header_count = current = callback_limit = 0;
	memset(programs, 0, sizeof(programs));
	inputs_begin();
	linker_begin();
	nvvm_begin();
}

/* What a program is made of. */
static int call_of_creation(const char *verb, int count, char **rest)
{
	if (strcmp(verb, "source") == 0) {
		source = copy(rest[0]);
	} else if (strcmp(verb, "many") == 0) {
		source = many(atoi(rest[0]), rest[1]);
	} else if (strcmp(verb, "name") == 0) {
		name = copy(rest[0]);
	} else if (strcmp(verb, "header") == 0) {
		add_header(rest[0], rest[1]);
	} else if (strcmp(verb, "headers") == 0) {
		for (int i = 0; i < atoi(rest[0]); i++) {
			char number[32];

			snprintf(number, sizeof(number), "h%d.h", i);
			add_header(number, rest[1]);
		}
	} else if (strcmp(verb, "create") == 0) {
		current = count > 0 ? atoi(rest[0]) : current;
		create(header_count, (const char *const *)header_texts, (const char *const *)header_names);
	} else if (strcmp(verb, "create-with") == 0) {
		create(atoi(rest[0]), rest[1] ? (const char *const *)header_texts : NULL,
		       rest[2] ? (const char *const *)header_names : NULL);
	} else if (strcmp(verb, "create-nowhere") == 0) {
		create_function *f = function("nvrtcCreateProgram");

		printf("  create %d\n", f(NULL, source, name, 0, NULL, NULL));
	} else {
		return 0;
	}
	return 1;
}

int call(int count, char **words)
{
	const char *verb = words[0];
	char **rest = words + 1;

	if (call_of_creation(verb, count - 1, rest) || call_of_library(verb, count - 1, rest) ||
	    call_of_inputs(verb, count - 1, rest) || call_of_linker(verb, count - 1, rest) ||
	    call_of_nvvm(verb, count - 1, rest)) {
		return 1;
	}
	if (strcmp(verb, "use") == 0) {
		current = atoi(rest[0]);
	} else if (strcmp(verb, "destroy") == 0) {
		destroy(&programs[current]);
	} else if (strcmp(verb, "destroy-null") == 0) {
		destroy(NULL);
	} else if (strcmp(verb, "destroy-empty") == 0) {
		destroy((void *[]){NULL});
	} else if (strcmp(verb, "add") == 0) {
		add(count > 1 ? rest[0] : "");
	} else if (strcmp(verb, "compile") == 0) {
		compile(count - 1, rest);
	} else if (strcmp(verb, "compile-count") == 0) {
		compile(atoi(rest[0]), count > 2 ? rest + 1 : NULL);
	} else if (strcmp(verb, "compile-null") == 0) {
		int (*f)(void *, int, char **) = function("nvrtcCompileProgram");

		printf("  compile %d\n", f(NULL, 0, NULL));
		/* options that nobody can read */
		printf("  compile %d\n", f(NULL, 2, (char **)sizeof(char *)));
	} else if (strcmp(verb, "lowered") == 0) {
		lowered(count > 1 ? rest[0] : "");
	} else if (strcmp(verb, "all") == 0) {
		all(1);
	} else if (strcmp(verb, "sizes") == 0) {
		all(0);
	} else if (strcmp(verb, "get") == 0) {
		product(rest[0], strcmp(rest[0], "ProgramLog") == 0 ? ANSWER_TEXT : ANSWER_HASH);
	} else if (strcmp(verb, "code") == 0) {
		product("PTX", ANSWER_HASH);
		product("CUBIN", ANSWER_HASH);
	} else if (strcmp(verb, "null") == 0) {
		null();
	} else if (strcmp(verb, "null-expression") == 0) {
		null_expression(count > 1 ? rest[0] : NULL);
	} else if (strcmp(verb, "callback") == 0) {
		set_callback(rest[0], count > 2);
	} else if (strcmp(verb, "called") == 0) {
		printf("  called %s\n", callback_calls ? "yes" : "no");
	} else {
		return 0;
	}
	return 1;
}
