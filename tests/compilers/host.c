/* SPDX-License-Identifier: MIT */
/*
 * A host of npiece: does what its arguments say, in their order, and prints every return code and all that it gets.
 *
 *     LIBRARY                        first, where it is not linked against npiece
 *     option=TEXT                    one more option for the handles to come
 *     create text=NAME=BYTES path=PATH complete get inspect destroy
 *     whim=TEXT                      gives the library a whim
 *     nvrtc=LIBRARY                  the life of one program of NVRTC's
 *
 * Lines that begin with "really" say how often a library has worked; all others must be the same with and without us.
 */
#include "tests/hosts/host.h"
#include "tests/fake/piece/npiece.h"

#define OPTIONS_MAX 8

#define PIECE_MEMBER(name, parameters) int(*name) parameters;
static struct {
	NPIECE_FUNCTIONS(PIECE_MEMBER)
	NPIECE_LATER(PIECE_MEMBER)
	int (*fakeNpieceCompletes)(void);
	char *fakeNpieceWhim;
} npiece;

static npieceHandle handle;
static const char *options[OPTIONS_MAX];
static int option_count;

static void *function(void *library, const char *name)
{
	void *address = dlsym(library, name);

	if (address == NULL) {
		printf("no %s: %s\n", name, dlerror());
		exit(2);
	}
	return address;
}

#ifdef LINKED
/* Nobody can link against a function that came later. */
static int take_functions(int argc, char **argv)
{
	(void)argc;
	(void)argv;
#define PIECE_TAKE(name, parameters) npiece.name = name;
	NPIECE_FUNCTIONS(PIECE_TAKE)
	*(void **)&npiece.npieceInspect = function(RTLD_DEFAULT, "npieceInspect");
	npiece.fakeNpieceCompletes = fakeNpieceCompletes;
	npiece.fakeNpieceWhim = function(RTLD_DEFAULT, "fakeNpieceWhim");
	return 1;
}
#else
static int take_functions(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;

	if (library == NULL) {
		printf("no library: %s\n", dlerror());
		exit(2);
	}
#define PIECE_TAKE(name, parameters) *(void **)&npiece.name = function(library, #name);
	NPIECE_FUNCTIONS(PIECE_TAKE)
	NPIECE_LATER(PIECE_TAKE)
	*(void **)&npiece.fakeNpieceCompletes = function(library, "fakeNpieceCompletes");
	npiece.fakeNpieceWhim = function(library, "fakeNpieceWhim");
	return 2;
}
#endif

static void show(const char *what, int code, const char *bytes, size_t size)
{
	printf("%s %d, %zu bytes: ", what, code, size);
	for (size_t i = 0; i < size; i++) {
		printf(bytes[i] >= ' ' && bytes[i] <= '~' ? "%c" : "\\%03o", (unsigned char)bytes[i]);
	}
	printf("\n");
}

static void get(void)
{
	size_t size = 0;
	int code = npiece.npieceGetOutputSize(handle, &size);
	char *bytes = calloc(1, size + 1);

	printf("output size %d\n", code);
	code = npiece.npieceGetOutput(handle, bytes);
	show("output", code, bytes, size);
	free(bytes);
	size = 0;
	code = npiece.npieceGetErrorLogSize(handle, &size);
	printf("log size %d\n", code);
	bytes = calloc(1, size + 1);
	code = npiece.npieceGetErrorLog(handle, bytes);
	show("log", code, bytes, size);
	free(bytes);
}

static void add_text(char *name)
{
	char *bytes = strchr(name, '=');

	*bytes++ = '\0';
	printf("text %d\n", npiece.npieceAdd(handle, NPIECE_TEXT, name, bytes, strlen(bytes)));
}

static void use_nvrtc(const char *path)
{
	struct compiler compiler;

	host_open(path, &compiler);
	printf("nvrtc %016llx\n", (unsigned long long)host_compile(&compiler, 1, 0));
	printf("really nvrtc %d\n", host_compiles(&compiler));
}

static void act(char *word)
{
	int found = -1;

	if (strncmp(word, "option=", 7) == 0 && option_count < OPTIONS_MAX) {
		options[option_count++] = word + 7;
	} else if (strcmp(word, "create") == 0) {
		printf("create %d\n", npiece.npieceCreate(&handle, option_count, options));
	} else if (strncmp(word, "text=", 5) == 0) {
		add_text(word + 5);
	} else if (strncmp(word, "path=", 5) == 0) {
		printf("path %d\n", npiece.npieceAdd(handle, NPIECE_PATH, word + 5, NULL, 0));
	} else if (strcmp(word, "complete") == 0) {
		printf("complete %d\n", npiece.npieceComplete(handle));
	} else if (strcmp(word, "get") == 0) {
		get();
	} else if (strcmp(word, "inspect") == 0) {
		int code = npiece.npieceInspect(handle, &found);

		printf("inspect %d, %d\n", code, found);
	} else if (strcmp(word, "destroy") == 0) {
		printf("destroy %d\n", npiece.npieceDestroy(&handle));
	} else if (strncmp(word, "whim=", 5) == 0) {
		snprintf(npiece.fakeNpieceWhim, sizeof(fakeNpieceWhim), "%s", word + 5);
	} else if (strncmp(word, "nvrtc=", 6) == 0) {
		use_nvrtc(word + 6);
	} else {
		printf("what is %s?\n", word);
		exit(4);
	}
}

int main(int argc, char **argv)
{
	for (int i = take_functions(argc, argv); i < argc; i++) {
		act(argv[i]);
	}
	printf("really npiece %d\n", npiece.fakeNpieceCompletes());
	return 0;
}
