/* SPDX-License-Identifier: MIT */
/*
 * A host of nvJitLink: does what its arguments say, in their order, and prints every return code and all that it gets.
 *
 *     lib=PATH from=handle|default names=plain|linked|RELEASE     where functions come from; RELEASE: 12_3
 *     handle=N option=TEXT options=                        which handle what follows is about; of those to come
 *     create create=none                                   none: a NULL pointer
 *     name=TEXT noname end=inside|behind|open|page         of the inputs to come: what lies behind the last byte
 *     refill=TEXT                                          where the name lies, no longer than it
 *     ptx= lto= cubin= fatbin= anyfat= anylto= thin= any=TEXT raw=TYPE=TEXT file=TYPE=PATH
 *     fatbin+N= fatbin-N=TEXT                              another size in it
 *     complete get logs null destroy inspect api=TEXT version weak
 *     setenv=NAME=TEXT unsetenv=NAME round=up|near chdir=PATH write=PATH=TEXT whim=TEXT
 *     nvrtc=LIBRARY threads=N fork kill                    fork: the child does the rest first, then the parent
 *
 * Lines that begin with "really" say how often a library has worked; all others must be the same with and without us.
 */
#include "tests/fake/link/nvjitlink.h"
#include "tests/files.h"
#include "tests/hosts/host.h"

#include <fenv.h>

#define OPTIONS_MAX 8
#define HANDLES_MAX 8

#define LINK_MEMBER(name, parameters) int(*name) parameters;
struct functions {
	LINK_FUNCTIONS(LINK_MEMBER)
	LINK_LATER(LINK_MEMBER)
};

/* How inputs end: with a NUL inside or just behind, with another byte behind, at the end of what can be read. */
enum end { END_INSIDE, END_BEHIND, END_OPEN, END_PAGE };

static struct functions functions;
static void *library;
static bool from_default;
static nvJitLinkHandle handles[HANDLES_MAX];
static int current;
static const char *options[OPTIONS_MAX];
static uint32_t option_count;
static const char *input_name = "input";
static enum end end = END_BEHIND;

#define PASTE_(prefix, name, suffix) prefix##name##suffix
#define PASTE(prefix, name, suffix)  PASTE_(prefix, name, suffix)
#define LINKED(name)                 PASTE(PREFIX, name, SUFFIX)

#ifdef PREFIX
#define LINKED_DECLARE(name, parameters) int LINKED(name) parameters;
LINK_FUNCTIONS(LINKED_DECLARE)
#pragma weak nvJitLinkVersion

static void take_linked(void)
{
#define LINKED_TAKE(name, parameters) functions.name = LINKED(name);
	LINK_FUNCTIONS(LINKED_TAKE)
	library = RTLD_DEFAULT;
}

static bool has_version(void)
{
	return nvJitLinkVersion != NULL;
}
#else
static void take_linked(void)
{
}

static bool has_version(void)
{
	return dlsym(from_default ? RTLD_DEFAULT : library, "nvJitLinkVersion") != NULL;
}
#endif

static void *look_up(const char *name, const char *release)
{
	char text[64];

	if (release) {
		snprintf(text, sizeof(text), "__nvJitLink%s_%s", name, release);
	} else {
		snprintf(text, sizeof(text), "nvJitLink%s", name);
	}
	return dlsym(from_default ? RTLD_DEFAULT : library, text);
}

static void take_functions(const char *release)
{
	(void)dlerror();
#define LOOKUP_TAKE(name, parameters) functions.name = look_up(#name, release);
	LINK_FUNCTIONS(LOOKUP_TAKE)
	printf("looked up: %s\n", functions.Create && !dlerror() ? "all" : "not all");
	LINK_LATER(LOOKUP_TAKE)
	(void)dlerror();
}

#define GET(what, artifact) host_get(what, handles[current], functions.Get##artifact##Size, functions.Get##artifact)

static void get_logs(void)
{
	GET("error log", ErrorLog);
	GET("info log", InfoLog);
}

static void get(void)
{
	GET("cubin", LinkedCubin);
	GET("ptx", LinkedPtx);
	if (functions.GetLinkedLTOIR) {
		GET("ltoir", LinkedLTOIR);
	}
	get_logs();
}

static void get_nothing(void)
{
	printf("null %d %d %d %d\n", functions.GetLinkedCubinSize(handles[current], NULL),
	       functions.GetLinkedCubin(handles[current], NULL), functions.GetErrorLogSize(handles[current], NULL),
	       functions.GetErrorLog(handles[current], NULL));
	printf("null handle %d %d\n", functions.Complete(NULL), functions.AddData(NULL, LINK_PTX, "x", 2, NULL));
}

/* The input as it is to end. The memory stays: names and texts are the library's to read as long as it likes. */
static const char *laid_out(const char *text, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size / page + 1) * page;
	char *bytes;

	if (end == END_PAGE) {
		bytes = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		(void)mprotect(bytes + room, page, PROT_NONE);
		bytes += room - size;
	} else {
		bytes = malloc(size + 2 + page);
		bytes += (page / 2 - (uintptr_t)(bytes + size)) % page; /* not at the end of one by chance */
		bytes[size] = end == END_OPEN ? 'x' : '\0';
		bytes[size + 1] = '\0';
	}
	memcpy(bytes, text, size);
	return bytes;
}

static void add_behind(const char *what, int type, const void *head, size_t head_size, const char *text)
{
	size_t size = head_size + strlen(text);
	char *whole = calloc(1, size + 1);
	int code;

	memcpy(whole, head, head_size);
	memcpy(whole + head_size, text, strlen(text));
	size += end == END_INSIDE;
	code = functions.AddData(handles[current], type, laid_out(whole, size), size, input_name);
	free(whole);
	printf("%s %d\n", what, code);
}

static void add(const char *what, int type, const char *head, const char *text)
{
	add_behind(what, type, head, strlen(head), text);
}

/* "=TEXT", "+N=TEXT", "-N=TEXT": N bytes more or less than there are. */
static void add_fatbin(int type, const char *word)
{
	const char *text = strchr(word, '=') + 1;
	const struct link_fatbin head = LINK_FATBIN_HEAD(strlen(text) + (size_t)atol(word), strlen(text));

	add_behind("fatbin", type, &head, sizeof(head), text);
}

static void add_ltoir(const char *what, int type, const char *text)
{
	static const char head[LINK_LTOIR_HEAD_SIZE] = LINK_HEAD_LTOIR;

	add_behind(what, type, head, sizeof(head), text);
}

static void add_thin(const char *names)
{
	char head[96];

	(void)snprintf(head, sizeof(head), LINK_HEAD_THIN LINK_TABLE_HEAD, "//", strlen(names));
	add("thin", LINK_LIBRARY, head, names);
}

/* What is in the caller's hands: nothing of it is read afterwards. */
static void add_by_api(const char *text)
{
	void *(*ask)(int) = dlsym(library, "__nvJitLinkAPI");
	int (*add_module)(nvJitLinkHandle, const void *, size_t, const char *) = NULL;

	if (ask) {
		*(void **)&add_module = ask(LINK_API_ADD);
	}
	printf("api %d\n", add_module ? add_module(handles[current], text, strlen(text), "module") : -1);
}

static void *live(void *argument)
{
	long number = (long)argument;
	nvJitLinkHandle handle = NULL;
	char text[64];
	size_t size = 0;
	char *bytes;
	int codes[3];

	snprintf(text, sizeof(text), ".version %ld\n@warn hello\n", number);
	codes[0] = functions.Create(&handle, option_count, options);
	codes[1] = functions.AddData(handle, LINK_PTX, text, strlen(text), "thread");
	codes[2] = functions.Complete(handle);
	(void)functions.GetLinkedCubinSize(handle, &size);
	bytes = calloc(1, size + 1);
	(void)functions.GetLinkedCubin(handle, bytes);
	(void)functions.Destroy(&handle);
	snprintf(text, sizeof(text), "%d %d %d", codes[0], codes[1], codes[2]);
	bytes = realloc(bytes, strlen(bytes) + sizeof(text));
	return strcat(bytes, text);
}

static void show_thread(void *said)
{
	printf("thread: %s\n", (char *)said);
	free(said);
}

static bool is(const char *word, const char *head, const char **ret_rest)
{
	size_t size = strlen(head);

	*ret_rest = word + size;
	return strncmp(word, head, size) == 0;
}

static bool act_on_library(const char *word)
{
	const char *rest;
	unsigned major = 0, minor = 0;
	int found = -1;

	if (is(word, "lib=", &rest)) {
		library = dlopen(rest, RTLD_NOW | RTLD_GLOBAL);
		if (!library) {
			printf("no library: %s\n", dlerror());
			exit(2);
		}
	} else if (is(word, "from=", &rest)) {
		from_default = strcmp(rest, "default") == 0;
	} else if (strcmp(word, "names=linked") == 0) {
		take_linked();
	} else if (is(word, "names=", &rest)) {
		take_functions(strcmp(rest, "plain") == 0 ? NULL : rest);
	} else if (strcmp(word, "version") == 0) {
		int (*version)(unsigned *, unsigned *) = dlsym(library, "nvJitLinkVersion");

		printf("version %d %u.%u\n", version ? version(&major, &minor) : -1, major, minor);
	} else if (strcmp(word, "weak") == 0) {
		printf("nvJitLinkVersion %s\n", has_version() ? "is there" : "is not there");
	} else if (strcmp(word, "inspect") == 0) {
		int (*inspect)(nvJitLinkHandle, int *) = dlsym(library, "nvJitLinkInspect");

		printf("inspect %d", inspect ? inspect(handles[current], &found) : -1);
		printf(", %d\n", found);
	} else if (is(word, "whim=", &rest)) {
		snprintf(dlsym(library, "fakeLinkWhim"), sizeof(fakeLinkWhim), "%s", rest);
	} else {
		return false;
	}
	return true;
}

static bool act_on_handle(const char *word)
{
	const char *rest;

	if (is(word, "handle=", &rest)) {
		current = atoi(rest) % HANDLES_MAX;
	} else if (is(word, "option=", &rest) && option_count < OPTIONS_MAX) {
		options[option_count++] = rest;
	} else if (strcmp(word, "options=") == 0) {
		option_count = 0;
	} else if (strcmp(word, "create") == 0) {
		printf("create %d\n", functions.Create(&handles[current], option_count, options));
	} else if (strcmp(word, "create=none") == 0) {
		printf("create %d\n", functions.Create(NULL, option_count, options));
	} else if (strcmp(word, "complete") == 0) {
		printf("complete %d\n", functions.Complete(handles[current]));
	} else if (strcmp(word, "get") == 0) {
		get();
	} else if (strcmp(word, "logs") == 0) {
		get_logs();
	} else if (strcmp(word, "null") == 0) {
		get_nothing();
	} else if (strcmp(word, "destroy") == 0) {
		printf("destroy %d\n", functions.Destroy(&handles[current]));
	} else if (is(word, "api=", &rest)) {
		add_by_api(rest);
	} else {
		return false;
	}
	return true;
}

static bool act_on_input(const char *word)
{
	const char *rest;
	char *type_end;

	if (is(word, "name=", &rest)) {
		input_name = rest;
	} else if (is(word, "refill=", &rest)) {
		(void)strncpy((char *)(uintptr_t)input_name, rest, strlen(input_name));
	} else if (strcmp(word, "noname") == 0) {
		input_name = NULL;
	} else if (is(word, "end=", &rest)) {
		end = *rest == 'i' ? END_INSIDE : *rest == 'b' ? END_BEHIND : *rest == 'o' ? END_OPEN : END_PAGE;
	} else if (is(word, "ptx=", &rest)) {
		add("ptx", LINK_PTX, LINK_HEAD_PTX " ", rest);
	} else if (is(word, "lto=", &rest)) {
		add_ltoir("lto", LINK_LTOIR, rest);
	} else if (is(word, "cubin=", &rest)) {
		add("cubin", LINK_CUBIN, LINK_HEAD_CUBIN, rest);
	} else if (is(word, "fatbin", &rest)) {
		add_fatbin(LINK_FATBIN, rest);
	} else if (is(word, "anyfat", &rest)) {
		add_fatbin(LINK_ANY, rest);
	} else if (is(word, "thin=", &rest)) {
		add_thin(rest);
	} else if (is(word, "anylto=", &rest)) {
		add_ltoir("any", LINK_ANY, rest);
	} else if (is(word, "any=", &rest)) {
		add("any", LINK_ANY, "", rest);
	} else if (is(word, "raw=", &rest)) {
		int type = (int)strtol(rest, &type_end, 10);

		add("raw", type, "", type_end + 1);
	} else if (is(word, "file=", &rest)) {
		int type = (int)strtol(rest, &type_end, 10);

		printf("file %d\n", functions.AddFile(handles[current], type, type_end + 1));
	} else {
		return false;
	}
	return true;
}

static bool act_on_process(char *word)
{
	const char *rest;
	pid_t child;

	if (is(word, "setenv=", &rest)) {
		putenv(word + strlen("setenv="));
	} else if (is(word, "unsetenv=", &rest)) {
		unsetenv(rest);
	} else if (is(word, "round=", &rest)) {
		fesetround(strcmp(rest, "up") == 0 ? FE_UPWARD : FE_TONEAREST);
	} else if (is(word, "chdir=", &rest)) {
		printf("chdir %d\n", chdir(rest));
	} else if (is(word, "write=", &rest)) {
		word = strchr(rest, '=');
		*word++ = '\0';
		(void)file_write(rest, word, strlen(word));
	} else if (is(word, "nvrtc=", &rest)) {
		host_use_nvrtc(rest);
	} else if (is(word, "threads=", &rest)) {
		host_run_threads(atoi(rest), live, show_thread);
	} else if (strcmp(word, "fork") == 0) {
		fflush(stdout);
		child = fork();
		if (child > 0) {
			(void)waitpid(child, NULL, 0);
		}
	} else if (strcmp(word, "kill") == 0) {
		fflush(stdout);
		(void)kill(getpid(), SIGKILL);
	} else {
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	void (*work)(int *, int *);
	int texts, links;

	take_linked();
	for (int i = 1; i < argc; i++) {
		if (!act_on_library(argv[i]) && !act_on_handle(argv[i]) && !act_on_input(argv[i]) &&
		    !act_on_process(argv[i])) {
			printf("what is %s?\n", argv[i]);
			return 4;
		}
	}
	work = dlsym(library, "fakeLinkWork");
	work(&texts, &links);
	printf("really link %d %d\n", texts, links);
	return 0;
}
