/* SPDX-License-Identifier: MIT */
/*
 * player: plays case files against an NVRTC and prints everything that a host can see
 *
 * usage: player LIBRARY DIRECTORY CASE-FILE [LOG]
 *
 * The file is played twice. CASE-FILE "-" is standard input, played once in DIRECTORY itself and answered line by line,
 * for a driver that steers several players (random_edits.py). A case begins with "=== A sentence." and is played in a
 * directory of its own below DIRECTORY. Each line is a command;
 * "<<" at the end of a line takes the following lines up to one that says "END" as the last word. Words are separated
 * by blanks; \_ is a blank inside a word, NULL is a null pointer, @T the case's directory, @I the toolkit's headers.
 * With LOG, the case's sentence is appended to that file before the case, so that a reader can tell which log lines
 * belong to it.
 *
 *   source <<            name NAME            header NAME <<      create [N]       use N         destroy
 *   add EXPRESSION       compile OPTION...    compile-count N     lowered EXPRESSION    all    code    null
 *   callback CALLS       (returns 1 from that call on; "callback none" returns 0 always)
 *   write PATH <<        append PATH TEXT     unlink PATH         mkdir PATH       chdir PATH    link TARGET PATH
 *   rename OLD NEW       age PATH [DAYS]      (mtime 2020-01-01 and DAYS)          setenv N V    unsetenv N
 *   settle [MS]          (waits until files just written count as old)
 *   hard OLD NEW         touch PATH       rewrite PATH <<  (in place, with the times that it had)
 *   mark WORD            (prints the word on a line of its own)
 *   mode up|zero|flush|normal    (how this thread rounds; flush: denormals are zero)
 */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PROGRAMS 8
#define WORDS    64

static void *library;
static void *programs[PROGRAMS];
static int current;
static char *source, *name;
static char *header_names[64], *header_texts[64];
static int header_count;
static int callback_calls, callback_limit;
static char top[4096];

static void *function(const char *symbol)
{
	return dlsym(library, symbol);
}

static uint64_t hash(const char *bytes, size_t size)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++) {
		h = (h ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
	}
	return h;
}

/* The length of a module id, _<8 hex>_<pid>, at `at`; new in every process. */
static size_t module_id(const char *at, size_t left)
{
	size_t size = 10;

	if (left < 11 || at[0] != '_' || at[9] != '_' || !isdigit((unsigned char)at[10])) {
		return 0;
	}
	for (int i = 1; i < 9; i++) {
		if (!isxdigit((unsigned char)at[i])) {
			return 0;
		}
	}
	while (size < left && isdigit((unsigned char)at[size])) {
		size++;
	}
	return size;
}

/* The length of `prefix` and the digits behind it at `at`; 0 where they are not there. */
static size_t numbered(const char *at, size_t left, const char *prefix)
{
	size_t size = strlen(prefix);

	if (left <= size || memcmp(at, prefix, size) != 0 || !isdigit((unsigned char)at[size])) {
		return 0;
	}
	while (size < left && isdigit((unsigned char)at[size])) {
		size++;
	}
	return size;
}

/*
 * Printed alike: module ids and the directory of precompiled headers, which are new in every process, and the numbers
 * of calls in comments of PTX, which up to 12.4 go on counting through a process.
 */
static size_t normalise(char *bytes, size_t size)
{
	size_t out = 0;

	for (size_t i = 0; i < size;) {
		const char *at = bytes + i;
		size_t id = module_id(at, size - i);
		size_t number = numbered(at, size - i, "// callseq ");
		size_t directory = numbered(at, size - i, "/__nvrtc_auto_pch_");

		if (id || number || directory) {
			memcpy(bytes + out, id ? "_ID" : number ? "//N" : "/PC", 3);
			out += 3;
			i += id + number + directory;
		} else {
			bytes[out++] = bytes[i++];
		}
	}
	return out;
}

static void print_text(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '\n') {
			printf("\\n");
		} else if (c < 32 || c > 126) {
			printf("\\x%02x", c);
		} else {
			putchar(c);
		}
	}
	putchar('\n');
}

static void product(const char *what, int show)
{
	char symbol[64];
	int (*get_size)(void *, size_t *);
	int (*get)(void *, char *);
	size_t size = 4242;
	char *bytes;
	int code;

	snprintf(symbol, sizeof(symbol), "nvrtcGet%sSize", what);
	get_size = (int (*)(void *, size_t *))function(symbol);
	snprintf(symbol, sizeof(symbol), "nvrtcGet%s", what);
	get = (int (*)(void *, char *))function(symbol);
	if (!get_size || !get) {
		printf("  %s absent\n", what);
		return;
	}
	errno = 77;
	code = get_size(programs[current], &size);
	printf("  %sSize %d %zu", what, code, size);
	if (code != 0) {
		size = 16;
	}
	bytes = malloc(size + 16);
	memset(bytes, 0xee, size + 16);
	code = get(programs[current], bytes);
	printf(" get %d", code);
	for (size_t i = size; i < size + 16; i++) {
		if ((unsigned char)bytes[i] != 0xee) {
			printf(" WROTE PAST THE END");
			break;
		}
	}
	if (code == 0) {
		size_t left = normalise(bytes, size);

		printf(" %016llx", (unsigned long long)hash(bytes, left));
		if (show) {
			printf(" ");
			print_text(bytes, left);
			free(bytes);
			return;
		}
	}
	printf("\n");
	free(bytes);
}

static void all(void)
{
	static const char *const products[] = {"PTX", "CUBIN", "NVVM", "LTOIR", "OptiXIR", "TileIR"};
	int (*status)(void *) = (int (*)(void *))function("nvrtcGetPCHCreateStatus");
	int (*heap)(void *, size_t *) = (int (*)(void *, size_t *))function("nvrtcGetPCHHeapSizeRequired");
	size_t size = 99;

	for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
		product(products[i], 0);
	}
	product("ProgramLog", 1);
	if (status && heap) {
		int a = status(programs[current]);
		int b = heap(programs[current], &size);

		printf("  PCH %d %d %zu\n", a, b, size);
	}
}

/* On a null expression nvrtcAddNameExpression and nvrtcGetLoweredName crash in 11.8 and 12.0, and no longer in 12.4. */
static int takes_null_expression(void)
{
	int (*version)(int *, int *) = (int (*)(int *, int *))function("nvrtcVersion");
	int major = 0, minor = 0;

	return version && version(&major, &minor) == 0 && (major > 12 || (major == 12 && minor >= 4));
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
		f = (int (*)(void *, void *))function(symbol);
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
		int (*lowered)(void *, const char *, const char **) =
		    (int (*)(void *, const char *, const char **))function("nvrtcGetLoweredName");
		const char *out = "untouched";
		int a = lowered(programs[current], NULL, &out);

		printf("  GetLoweredName null name %d %s", a, out ? out : "NULL");
		a = lowered(programs[current], "x", NULL);
		printf(" null out %d", a);
		a = lowered(NULL, "x", &out);
		printf(" null program %d\n", a);
	}
}

static int flow(void *payload, void *reserved)
{
	(void)payload;
	(void)reserved;
	callback_calls++;
	return callback_limit > 0 && callback_calls >= callback_limit;
}

static void fail(const char *what)
{
	printf("  FAILED %s: %s\n", what, strerror(errno));
}

static void put(const char *path, const char *text, int flags)
{
	int descriptor = open(path, O_WRONLY | O_CREAT | flags, 0644);

	if (descriptor < 0 || write(descriptor, text, strlen(text)) != (ssize_t)strlen(text)) {
		fail(path);
	}
	if (descriptor >= 0) {
		close(descriptor);
	}
}

static void create(void)
{
	int (*f)(void **, const char *, const char *, int, const char *const *, const char *const *) =
	    (int (*)(void **, const char *, const char *, int, const char *const *, const char *const *))function(
	        "nvrtcCreateProgram");
	int code = f(&programs[current], source, name, header_count, (const char *const *)header_texts,
	             (const char *const *)header_names);

	printf("  create %d\n", code);
	header_count = 0;
}

static void lowered(const char *expression)
{
	int (*f)(void *, const char *, const char **) =
	    (int (*)(void *, const char *, const char **))function("nvrtcGetLoweredName");
	const char *out = "untouched", *again = "untouched";
	int code = f(programs[current], expression, &out);
	char *copy;

	(void)f(programs[current], expression, &again);
	printf("  lowered %s %d ", expression, code);
	if (!out) {
		printf("NULL\n");
		return;
	}
	copy = strdup(out);
	copy[normalise(copy, strlen(copy))] = '\0';
	printf("%s%s\n", copy, out == again ? "" : " (another pointer)");
	free(copy);
}

static void compile(int count, char **options)
{
	int (*f)(void *, int, const char *const *) =
	    (int (*)(void *, int, const char *const *))function("nvrtcCompileProgram");
	int code = f(programs[current], count, (const char *const *)options);

	printf("  compile %d\n", code);
}

static void set_callback(const char *limit)
{
	int (*f)(void *, int (*)(void *, void *), void *) =
	    (int (*)(void *, int (*)(void *, void *), void *))function("nvrtcSetFlowCallback");

	callback_calls = 0;
	callback_limit = atoi(limit);
	printf("  callback %d\n", f ? f(programs[current], flow, &callback_calls) : -1);
}

static void mode(const char *wanted)
{
	(void)fesetenv(FE_DFL_ENV);
	if (strcmp(wanted, "up") == 0) {
		(void)fesetround(FE_UPWARD);
	} else if (strcmp(wanted, "zero") == 0) {
		(void)fesetround(FE_TOWARDZERO);
	} else if (strcmp(wanted, "flush") == 0) {
#if defined(__x86_64__)
		__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#elif defined(__aarch64__)
		__asm__ volatile("msr fpcr, %0" : : "r"(UINT64_C(1) << 24));
#endif
	} else if (strcmp(wanted, "normal") != 0) {
		fail(wanted);
	}
}

static void settle(const char *milliseconds)
{
	struct timespec pause = {0, (milliseconds ? atol(milliseconds) : 120) * 1000000};

	nanosleep(&pause, NULL);
}

static void rewrite(const char *path, const char *text)
{
	struct stat before;

	if (stat(path, &before) != 0) {
		fail(path);
		return;
	}
	put(path, text, O_TRUNC);
	if (utimensat(AT_FDCWD, path, (struct timespec[]){before.st_atim, before.st_mtim}, 0) != 0) {
		fail(path);
	}
}

/* A fixed date, so that output that holds it is the same in every run. */
static void age(const char *path, int days)
{
	struct timespec times[2] = {{1577836800 + days * 86400L, 0}, {1577836800 + days * 86400L, 0}};

	if (utimensat(AT_FDCWD, path, times, 0) != 0) {
		fail(path);
	}
}

/* Puts `text` in the place of the two characters at `at`; returns its last character. */
static char *replace(char *at, const char *text)
{
	size_t size = strlen(text);

	memmove(at + size, at + 2, strlen(at + 2) + 1);
	memcpy(at, text, size);
	return at + size - 1;
}

static void replace_places(char *text)
{
	const char *include = getenv("CUDA_INCLUDE");

	for (char *at = text; *at; at++) {
		if (at[0] == '@' && at[1] == 'T') {
			at = replace(at, top);
		} else if (at[0] == '@' && at[1] == 'I') {
			at = replace(at, include ? include : "/usr/local/cuda/include");
		}
	}
}

static char *unescape(char *word)
{
	char *out = word;

	replace_places(word);
	if (strcmp(word, "NULL") == 0) {
		return NULL;
	}
	for (char *in = word; *in; in++) {
		if (in[0] == '\\' && in[1] == '_') {
			*out++ = ' ';
			in++;
		} else if (in[0] == '\\' && in[1] == 'n') {
			*out++ = '\n';
			in++;
		} else {
			*out++ = *in;
		}
	}
	*out = '\0';
	return word;
}

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

static void play(int count, char **words)
{
	const char *verb = words[0];
	char **rest = words + 1;

	if (strcmp(verb, "source") == 0) {
		source = copy(rest[0]);
	} else if (strcmp(verb, "name") == 0) {
		name = copy(rest[0]);
	} else if (strcmp(verb, "header") == 0) {
		header_names[header_count] = copy(rest[0]);
		header_texts[header_count++] = copy(rest[1]);
	} else if (strcmp(verb, "create") == 0) {
		current = count > 1 ? atoi(rest[0]) : current;
		create();
	} else if (strcmp(verb, "use") == 0) {
		current = atoi(rest[0]);
	} else if (strcmp(verb, "destroy") == 0) {
		int (*f)(void **) = (int (*)(void **))function("nvrtcDestroyProgram");

		printf("  destroy %d\n", f(&programs[current]));
	} else if (strcmp(verb, "add") == 0) {
		int (*f)(void *, const char *) = (int (*)(void *, const char *))function("nvrtcAddNameExpression");

		printf("  add %d\n", f(programs[current], count > 1 ? rest[0] : ""));
	} else if (strcmp(verb, "compile") == 0) {
		compile(count - 1, rest);
	} else if (strcmp(verb, "compile-count") == 0) {
		compile(atoi(rest[0]), NULL);
	} else if (strcmp(verb, "lowered") == 0) {
		lowered(count > 1 ? rest[0] : "");
	} else if (strcmp(verb, "all") == 0) {
		all();
	} else if (strcmp(verb, "code") == 0) {
		product("PTX", 0);
		product("CUBIN", 0);
	} else if (strcmp(verb, "null") == 0) {
		null();
	} else if (strcmp(verb, "callback") == 0) {
		set_callback(rest[0]);
	} else if (strcmp(verb, "write") == 0) {
		put(rest[0], rest[1], O_TRUNC);
	} else if (strcmp(verb, "append") == 0) {
		put(rest[0], rest[1], O_APPEND);
	} else if (strcmp(verb, "unlink") == 0) {
		(void)(unlink(rest[0]) == 0 || rmdir(rest[0]) == 0 || (fail(rest[0]), 0));
	} else if (strcmp(verb, "mkdir") == 0) {
		(void)(mkdir(rest[0], 0755) == 0 || (fail(rest[0]), 0));
	} else if (strcmp(verb, "chdir") == 0) {
		(void)(chdir(rest[0]) == 0 || (fail(rest[0]), 0));
	} else if (strcmp(verb, "link") == 0) {
		(void)(symlink(rest[0], rest[1]) == 0 || (fail(rest[1]), 0));
	} else if (strcmp(verb, "rename") == 0) {
		(void)(rename(rest[0], rest[1]) == 0 || (fail(rest[0]), 0));
	} else if (strcmp(verb, "age") == 0) {
		age(rest[0], count > 2 ? atoi(rest[1]) : 0);
	} else if (strcmp(verb, "setenv") == 0) {
		setenv(rest[0], rest[1], 1);
	} else if (strcmp(verb, "unsetenv") == 0) {
		unsetenv(rest[0]);
	} else if (strcmp(verb, "mode") == 0) {
		mode(rest[0]);
	} else if (strcmp(verb, "settle") == 0) {
		settle(count > 1 ? rest[0] : NULL);
	} else if (strcmp(verb, "hard") == 0) {
		(void)(link(rest[0], rest[1]) == 0 || (fail(rest[1]), 0));
	} else if (strcmp(verb, "touch") == 0) {
		(void)(utimensat(AT_FDCWD, rest[0], NULL, 0) == 0 || (fail(rest[0]), 0));
	} else if (strcmp(verb, "rewrite") == 0) {
		rewrite(rest[0], rest[1]);
	} else if (strcmp(verb, "mark") == 0) {
		printf("%s\n", rest[0]);
	} else {
		printf("  UNKNOWN COMMAND %s\n", verb);
		exit(2);
	}
}

/* Splits a line; a last word "<<" is replaced by the lines that follow, up to END. */
static void command(char *line, FILE *file)
{
	static char text[1 << 20];
	static char buffers[WORDS][8192];
	char *words[WORDS + 1] = {0};
	int count = 0;

	for (char *word = strtok(line, " \t\n"); word && count < WORDS; word = strtok(NULL, " \t\n")) {
		if (strcmp(word, "<<") == 0) {
			size_t size = 0;
			char *next = NULL;
			size_t capacity = 0;

			while (getline(&next, &capacity, file) > 0 && strcmp(next, "END\n") != 0) {
				size += (size_t)snprintf(text + size, sizeof(text) - size, "%s", next);
			}
			text[size] = '\0';
			replace_places(text);
			free(next);
			words[count++] = text;
			break;
		}
		snprintf(buffers[count], sizeof(buffers[count]), "%s", word);
		words[count] = unescape(buffers[count]);
		count++;
	}
	if (count) {
		play(count, words);
	}
}

static void begin(const char *directory, int number, const char *sentence, const char *log)
{
	(void)!chdir("/");
	snprintf(top, sizeof(top), "%s/case%d", directory, number);
	if (mkdir(top, 0755) != 0 || chdir(top) != 0) {
		fail(top);
		exit(2);
	}
	source = name = NULL;
	header_count = current = callback_limit = 0;
	printf("=== %s", sentence);
	if (log) {
		int descriptor = open(log, O_WRONLY | O_APPEND | O_CREAT, 0600);

		(void)!write(descriptor, "=== ", 4);
		(void)!write(descriptor, sentence, strlen(sentence));
		close(descriptor);
	}
}

static void play_file(const char *path, const char *directory, const char *log, int *number)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	char *line = NULL;
	size_t capacity = 0;

	if (!file) {
		fail(path);
		exit(2);
	}
	while (getline(&line, &capacity, file) > 0) {
		if (strncmp(line, "=== ", 4) == 0) {
			begin(directory, (*number)++, line + 4, log);
		} else if (line[0] != '#') {
			command(line, file);
			fflush(stdout);
		}
	}
	fclose(file);
	free(line);
}

int main(int argc, char **argv)
{
	char start[4096];
	int number = 0;

	if (argc < 4 || !getcwd(start, sizeof(start)) || !(library = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL))) {
		fprintf(stderr, "usage: player LIBRARY DIRECTORY CASE-FILE [LOG]: %s\n", argc < 4 ? "" : dlerror());
		return 2;
	}
	if (strcmp(argv[3], "-") == 0) {
		snprintf(top, sizeof(top), "%s", argv[2]);
		play_file(argv[3], argv[2], NULL, &number);
		return 0;
	}
	/* Twice: the second round meets what the first has left in this process. */
	for (int round = 1; round <= 2; round++) {
		printf("round %d\n", round);
		play_file(argv[3], argv[2], argc > 4 ? argv[4] : NULL, &number);
	}
	return 0;
}
