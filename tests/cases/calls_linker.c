/* SPDX-License-Identifier: MIT */
/* What a host can ask of nvJitLink. */
#include "answers.h"
#include "calls.h"
#include "complaints.h"
#include "inputs.h"
#include "loans.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HANDLES    8
#define MINORS     16
#define NVVM_MAGIC 0xc0fd /* __nvJitLinkAPI: the function that adds bitcode */

typedef int create_function(void **, uint32_t, const char **);
typedef int destroy_function(void **);
typedef int add_function(void *, int, const void *, size_t, const char *);
typedef int add_file_function(void *, int, const char *);
typedef int add_nvvm_function(void *, const void *, size_t, const char *);
typedef int complete_function(void *);

struct link {
	void *handle;
	int work;  /* more than cubins to put together */
	int steps; /* an input was added for which Add itself does the work */
};

static struct link links[HANDLES];
static int current;
static void *library;
static char form[32];

static void *opened(void)
{
	return library ? library : (library = library_of("NVJITLINK_LIB", "nvJitLink"));
}

static void *suffixed(const char *name, int major, int minor)
{
	char symbol[96];

	snprintf(symbol, sizeof(symbol), "__nvJitLink%s_%d_%d", name, major, minor);
	return dlsym(opened(), symbol);
}

/* Older releases have names with their releases at the end only. */
static void *real(const char *name)
{
	char symbol[64];
	int major, minor;
	void *found = NULL;

	snprintf(symbol, sizeof(symbol), "nvJitLink%s", name);
	if (sscanf(form, "%d.%d", &major, &minor) == 2) {
		return suffixed(name, major, minor);
	}
	if (strcmp(form, "plain") == 0) {
		found = dlsym(opened(), symbol);
	} else if (strcmp(form, "last") == 0) {
		for (minor = MINORS; !found && minor >= 0; minor--) {
			found = suffixed(name, 12, minor);
			found = found ? found : suffixed(name, 13, minor);
		}
	}
	found = found ? found : suffixed(name, 12, 0);
	return found ? found : suffixed(name, 13, 0);
}

static void product(const char *what, enum answer_form answer_form)
{
	struct getter getter = getter_of(real, "Get", what);

	answer_print(&getter, links[current].handle, answer_form);
}

static void all(enum answer_form artifacts, enum answer_form logs)
{
	product("LinkedCubin", artifacts);
	product("LinkedPtx", artifacts);
	product("LinkedLTOIR", artifacts);
	product("ErrorLog", logs);
	product("InfoLog", logs);
}

/* ---- calls ---- */

static void create(int count, int given, char **options)
{
	create_function *f = real("Create");
	const char **copies = lend_texts("nvJitLinkCreate options", "nvJitLinkCreate option",
	                                 (const char *const *)options, (size_t)given, LOAN_ENDS);
	struct link *link = &links[current];
	int code;

	*link = (struct link){0};
	complaints_begin();
	code = f(&link->handle, (uint32_t)count, given > 0 || count == 0 ? copies : NULL);
	complaints_end();
	loans_return();
	printf("  linker create %d%s\n", code, code != 0 && link->handle ? ", a handle all the same" : "");
}

static int type_of(const char *word)
{
	static const char *const names[] = {"none",    "cubin", "ptx", "ltoir", "fatbin", "object",
	                                    "library", "index", "8",   "9",     "any"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(word, names[i]) == 0) {
			return (int)i;
		}
	}
	return atoi(word);
}

/* Tells apart what only copies the input, and what does work or comes behind such. */
static void tell(const char *type, int code)
{
	struct link *link = &links[current];
	int number = type_of(type);

	link->work |= number != 1;
	link->steps |= number == 2 || (number >= 4 && number <= 6) || number == 10;
	printf("  linker %s %s %d\n", link->steps ? "step" : "add", type, code);
}

/* "nvJitLinkAddData ptx name" */
static const char *argument(const char *function_name, const char *type, const char *what)
{
	static char names[2][96];
	static int turn;

	turn = !turn;
	snprintf(names[turn], sizeof(names[turn]), "nvJitLink%s %s %s", function_name, type, what);
	return names[turn];
}

/* add TYPE NAME INPUT [inside|unended|SIZE]. The name lasts: of some inputs the library reads it again later. */
static void add(const char *type, const char *name, const char *input, const char *how)
{
	enum ending ending = !how                          ? ENDING_BEHIND
	                     : strcmp(how, "inside") == 0  ? ENDING_INSIDE
	                     : strcmp(how, "unended") == 0 ? ENDING_NONE
	                                                   : ENDING_BEHIND;
	size_t size, told;
	char *bytes = inputs_give(input, argument("AddData", type, "data"), ending, &size);
	char *kept = lend_text(argument("AddData", type, "name"), name, LOAN_LASTS);
	int code;

	told = how && how[0] >= '0' && how[0] <= '9' ? strtoull(how, NULL, 10) : size;
	told = told < size ? told : size;
	complaints_begin();
	if (strcmp(type, "nvvm") == 0) {
		void *(*api)(int) = dlsym(opened(), "__nvJitLinkAPI");
		add_nvvm_function *f = api ? (add_nvvm_function *)api(NVVM_MAGIC) : NULL;

		code = f ? f(links[current].handle, bytes, told, kept) : -1;
	} else {
		code = ((add_function *)real("AddData"))(links[current].handle, type_of(type), bytes, told, kept);
	}
	complaints_end();
	loans_return();
	tell(type, code);
}

static void add_file(const char *type, const char *path)
{
	char *lent = lend_text(argument("AddFile", type, "path"), path, LOAN_LASTS);
	int code;

	complaints_begin();
	code = ((add_file_function *)real("AddFile"))(links[current].handle, type_of(type), lent);
	complaints_end();
	loans_return();
	tell(type, code);
}

static void complete(void)
{
	int code;

	complaints_begin();
	code = ((complete_function *)real("Complete"))(links[current].handle);
	complaints_end();
	printf("  linker complete %d%s\n", code, links[current].work ? "" : ", without work");
}

static void destroy(void **handle)
{
	int code;

	complaints_begin();
	code = ((destroy_function *)real("Destroy"))(handle);
	complaints_end();
	printf("  linker destroy %d%s\n", code, handle && *handle ? ", a handle all the same" : "");
}

static void null(void)
{
	static const char *const two[] = {"LinkedCubin", "LinkedPtx", "LinkedLTOIR", "ErrorLog", "InfoLog"};
	const char *options[] = {"-arch=sm_90"};
	void *handle = NULL;

	printf("  null handle: create %d", ((create_function *)real("Create"))(NULL, 1, options));
	printf(" complete %d", ((complete_function *)real("Complete"))(NULL));
	printf(" add %d\n", ((add_function *)real("AddData"))(NULL, 2, "x", 1, "n"));
	printf("  null options: create %d\n", ((create_function *)real("Create"))(&handle, 1, NULL));
	for (size_t i = 0; i < sizeof(two) / sizeof(two[0]); i++) {
		struct getter getter = getter_of(real, "Get", two[i]);
		size_t value = 5;

		if (getter.size) {
			printf("  %s null out %d %d,", two[i], getter.size(links[current].handle, NULL),
			       getter.bytes(links[current].handle, NULL));
			printf(" null handle %d, value %zu\n", getter.size(NULL, &value), value);
		}
	}
}

static void version(void)
{
	int (*f)(unsigned *, unsigned *) = dlsym(opened(), "nvJitLinkVersion");
	unsigned major = 77, minor = 77;

	if (f) {
		int code = f(&major, &minor);

		printf("  linker version %d %u.%u\n", code, major, minor);
	} else {
		printf("  linker version absent\n");
	}
}

static void keep(const char *name, const char *what)
{
	struct getter getter = getter_of(real, "Get", what);
	size_t size;
	char *bytes = answer_take(&getter, links[current].handle, &size);

	if (bytes) {
		inputs_keep(name, bytes, size);
	}
}

void linker_begin(void)
{
	memset(links, 0, sizeof(links));
	current = 0;
	strcpy(form, "plain");
}

static int call_of_handle(const char *verb, int count, char **rest)
{
	if (strcmp(verb, "create") == 0) {
		create(count, count, rest);
	} else if (strcmp(verb, "create-count") == 0) {
		create(atoi(rest[0]), count - 1, rest + 1);
	} else if (strcmp(verb, "use") == 0) {
		current = atoi(rest[0]);
	} else if (strcmp(verb, "add") == 0) {
		add(rest[0], rest[1], rest[2], count > 3 ? rest[3] : NULL);
	} else if (strcmp(verb, "add-file") == 0) {
		add_file(rest[0], rest[1]);
	} else if (strcmp(verb, "complete") == 0) {
		complete();
	} else if (strcmp(verb, "destroy") == 0) {
		destroy(&links[current].handle);
	} else if (strcmp(verb, "destroy-null") == 0) {
		destroy(NULL);
	} else if (strcmp(verb, "destroy-empty") == 0) {
		destroy((void *[]){NULL});
	} else {
		return 0;
	}
	return 1;
}

int call_of_linker(const char *verb, int count, char **rest)
{
	if (strcmp(verb, "linker") != 0 || count < 1) {
		return 0;
	}
	verb = *rest++;
	count--;
	if (call_of_handle(verb, count, rest)) {
		return 1;
	}
	if (strcmp(verb, "names") == 0) {
		snprintf(form, sizeof(form), "%s", rest[0]);
	} else if (strcmp(verb, "all") == 0) {
		all(ANSWER_HASH, ANSWER_TEXT);
	} else if (strcmp(verb, "sizes") == 0) {
		all(ANSWER_SIZE, ANSWER_SIZE);
	} else if (strcmp(verb, "logs") == 0) {
		product("ErrorLog", ANSWER_TEXT);
		product("InfoLog", ANSWER_TEXT);
	} else if (strcmp(verb, "get") == 0) {
		product(rest[0], strstr(rest[0], "Log") ? ANSWER_TEXT : ANSWER_HASH);
	} else if (strcmp(verb, "null") == 0) {
		null();
	} else if (strcmp(verb, "version") == 0) {
		version();
	} else if (strcmp(verb, "keep") == 0) {
		keep(rest[0], rest[1]);
	} else {
		return 0;
	}
	return 1;
}
