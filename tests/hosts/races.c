/* SPDX-License-Identifier: MIT */
/*
 * races: a host that moves about while it compiles, and then asks for the same again at rest
 *
 * usage: races LIBRARY PLACE world               makes two directories, headers and links in PLACE
 *        races LIBRARY PLACE race SEED COUNT     COUNT random compiles, while the process is elsewhere now and then
 *        races LIBRARY PLACE rest SEED COUNT     the same ones, from the same places, at rest; a line for each
 *
 * Between the begin and the end of a compile the directory, the environment and what lies at a path change, and most
 * often change back, so that whoever looks before and after sees nothing: by another thread, or from inside (NVRTC
 * calls a flow callback some 60 times in a compile), where a seed does the same again. What is told at rest must not
 * hang on what was compiled under way: the lines of `rest` are the same with and without a cache that `race` has
 * filled.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef void *program_handle;
typedef int flow(void *payload, void *reserved);

static struct {
	int (*CreateProgram)(program_handle *, const char *, const char *, int, const char *const *,
	                     const char *const *);
	int (*CompileProgram)(program_handle, int, const char *const *);
	int (*DestroyProgram)(program_handle *);
	int (*SetFlowCallback)(program_handle, flow *, void *); /* 12.8 and later */
} nvrtc;

static const char *const products[] = {"PTX", "CUBIN", "LTOIR", "OptiXIR", "ProgramLog"};
static void *library;
static char top[4096];

/* Random numbers: xorshift, of the seed alone. */
static uint64_t state;

static unsigned below(unsigned limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)((state >> 11) % limit);
}

static void seed(uint64_t number)
{
	state = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
	for (int i = 0; i < 8; i++) {
		(void)below(2);
	}
}

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* The world: PLACE/A and PLACE/B hold headers of the same names, PLACE/inc and PLACE/other are swapped now and then. */

static void write_header(const char *directory, const char *name, int value)
{
	char path[4300];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	if (!file || fprintf(file, "#define VALUE%c %d\n", name[0], value) < 0 || fclose(file) != 0) {
		die(path);
	}
}

static void make_world(void)
{
	static const char *const directories[] = {"A", "B", "A/sub", "B/sub", "inc", "other"};
	int value = 100;

	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		if (mkdir(directories[i], 0700) != 0) {
			die(directories[i]);
		}
		for (char name = 'x'; name <= 'z'; name++) {
			/* z.h: there in some, and not in others */
			if (name != 'z' || i % 2) {
				write_header(directories[i], (char[]){name, '.', 'h', '\0'}, value++);
			}
		}
	}
	if (symlink("A", "link") != 0 || symlink("B", "turned") != 0) {
		die("symlink");
	}
}

/* Where the process is: a state is a choice of each. */

static void exchange(const char *one, const char *other)
{
	char from[4300], to[4300];

	snprintf(from, sizeof(from), "%s/%s", top, one);
	snprintf(to, sizeof(to), "%s/%s", top, other);
	if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 2 /* RENAME_EXCHANGE */) != 0) {
		die("renameat2");
	}
}

static int swapped;

static void be_swapped(int wanted)
{
	if (swapped != wanted) {
		exchange("inc", "other");
		swapped = wanted;
	}
}

static void be_in(int wanted)
{
	char path[4300];

	snprintf(path, sizeof(path), "%s/%s", top, wanted ? "B" : "A");
	if (chdir(path) != 0) {
		die(path);
	}
}

static void name_place(int wanted)
{
	static const char *const names[] = {"A", "B", "link", NULL};
	char path[4300];

	if (!names[wanted]) {
		unsetenv("PWD");
		return;
	}
	snprintf(path, sizeof(path), "%s/%s", top, names[wanted]);
	setenv("PWD", path, 1);
}

static void be_known(int wanted)
{
	static const char *const values[] = {NULL, "0", "1"};

	if (values[wanted]) {
		setenv("NVVM_IR_VER_CHK", values[wanted], 1);
	} else {
		unsetenv("NVVM_IR_VER_CHK");
	}
}

struct at {
	int in, named, known, swapped;
};

static void be(struct at at)
{
	be_in(at.in);
	name_place(at.named);
	be_known(at.known);
	be_swapped(at.swapped);
}

static struct at somewhere(void)
{
	struct at at = {(int)below(2), (int)below(4), (int)below(3), below(4) == 0};

	return at;
}

/* One thing is another for a while. */
static void be_elsewhere(struct at at, unsigned which)
{
	switch (which % 4) {
	case 0:
		be_in(!at.in);
		break;
	case 1:
		name_place((at.named + 1) % 4);
		break;
	case 2:
		be_known((at.known + 1) % 3);
		break;
	default:
		be_swapped(!at.swapped);
		break;
	}
}

/* Interference: by a thread, which sleeps a random while between; or by a callback, at two of its calls. */

static struct {
	struct at at;
	_Atomic int stop;
	uint64_t seed;
	unsigned which, leave, back, calls;
} meddler;

static void *meddle(void *unused)
{
	uint64_t own = meddler.seed | 1;

	while (!meddler.stop) {
		struct timespec pause = {0, 0};

		for (int i = 0; i < 2 && !meddler.stop; i++) {
			own = own * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			pause.tv_nsec = (long)((own >> 33) % (own >> 62 ? 3000000 : 200000));
			(void)nanosleep(&pause, NULL);
			if (i == 0) {
				be_elsewhere(meddler.at, (unsigned)(own >> 40));
			} else {
				be(meddler.at);
			}
		}
	}
	be(meddler.at);
	return unused;
}

static int meddle_now(void *payload, void *reserved)
{
	unsigned call = meddler.calls++;

	(void)payload;
	(void)reserved;
	if (call == meddler.leave) {
		be_elsewhere(meddler.at, meddler.which);
	} else if (call == meddler.back) {
		be(meddler.at);
	}
	return 0;
}

/* Compiles. */

struct request {
	char source[512];
	const char *name;
	const char *options[8];
	int option_count;
	char include[4300];
};

static void choose(struct request *request)
{
	static const char *const includes[] = {"\"x.h\"", "\"sub/x.h\"", "\"z.h\"", "<y.h>", "<z.h>", "\"x.h\""};
	static const char *const forms[] = {"-lineinfo", "-dlto",     "-G",    "-DN=1",
	                                    "-dlto",     "-lineinfo", "-DN=2", "-DN=3"};
	static const char *const names[] = {NULL, "p.cu", "sub/p.cu"};
	const char *include = includes[below(6)];

	snprintf(request->source, sizeof(request->source),
	         "#include %s\n#ifndef VALUEx\n#define VALUEx 1\n#endif\n#ifndef VALUEy\n#define VALUEy 1\n#endif\n"
	         "#ifndef VALUEz\n#define VALUEz 1\n#endif\n"
	         "extern \"C\" __global__ void k(int *p) { p[0] = VALUEx + VALUEy * 1000 + VALUEz * 1000000; }\n",
	         include);
	snprintf(request->include, sizeof(request->include), below(2) ? "-I../inc" : "-I%s/inc", top);
	request->name = names[below(3)];
	request->option_count = 0;
	request->options[request->option_count++] = below(3) ? "-arch=sm_86" : "-arch=compute_86";
	request->options[request->option_count++] = request->include;
	request->options[request->option_count++] = forms[below(8)];
	if (below(4) == 0) {
		request->options[request->option_count++] = "-I.";
	}
}

static uint64_t mix(uint64_t digest, const void *bytes, size_t size)
{
	const unsigned char *next = bytes;

	for (size_t i = 0; i < size; i++) {
		digest = (digest ^ next[i]) * UINT64_C(0x100000001b3);
	}
	return digest;
}

static uint64_t ask(program_handle program)
{
	uint64_t digest = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
		int (*size_of)(program_handle, size_t *);
		int (*get)(program_handle, char *);
		char name[64];
		size_t size = 0;
		char *bytes;

		snprintf(name, sizeof(name), "nvrtcGet%sSize", products[i]);
		*(void **)&size_of = dlsym(library, name);
		snprintf(name, sizeof(name), "nvrtcGet%s", products[i]);
		*(void **)&get = dlsym(library, name);
		if (!size_of || !get || size_of(program, &size) != 0) {
			continue;
		}
		bytes = calloc(1, size + 1);
		get(program, bytes);
		digest = mix(digest, bytes, size);
		free(bytes);
	}
	return digest;
}

static uint64_t compile(const struct request *request, flow *callback, int *ret_result)
{
	program_handle program = NULL;
	uint64_t digest;

	if (nvrtc.CreateProgram(&program, request->source, request->name, 0, NULL, NULL) != 0) {
		die("nvrtcCreateProgram");
	}
	if (callback) {
		nvrtc.SetFlowCallback(program, callback, NULL);
	}
	*ret_result = nvrtc.CompileProgram(program, request->option_count, request->options);
	digest = ask(program);
	nvrtc.DestroyProgram(&program);
	return digest;
}

static void race(uint64_t number, int count)
{
	for (int i = 0; i < count; i++) {
		struct request request;
		int result;

		seed(number + (uint64_t)i);
		choose(&request);
		meddler.at = somewhere();
		be(meddler.at);
		meddler.seed = ((uint64_t)below(1U << 30) << 30) | below(1U << 30);
		meddler.which = below(4);
		meddler.leave = below(20);
		meddler.back = meddler.leave + 1 + below(40);
		meddler.calls = 0;
		meddler.stop = 0;
		if (nvrtc.SetFlowCallback && below(2)) {
			(void)compile(&request, meddle_now, &result);
			be(meddler.at);
		} else {
			pthread_t thread;

			if (pthread_create(&thread, NULL, meddle, NULL) != 0) {
				die("pthread_create");
			}
			(void)compile(&request, NULL, &result);
			meddler.stop = 1;
			pthread_join(thread, NULL);
		}
	}
}

static void rest(uint64_t number, int count)
{
	for (int i = 0; i < count; i++) {
		struct request request;
		struct at at;
		uint64_t digest;
		int result;

		seed(number + (uint64_t)i);
		choose(&request);
		at = somewhere();
		be(at);
		digest = compile(&request, NULL, &result);
		printf("%d: in %c, PWD %d, variable %d, %s: %.*s, %s", i, "AB"[at.in], at.named, at.known,
		       at.swapped ? "swapped" : "straight", (int)strcspn(request.source, "\n"), request.source,
		       request.name ? request.name : "no name");
		for (int j = 0; j < request.option_count; j++) {
			const char *option = request.options[j];
			size_t inside = strncmp(option, "-I/", 3) == 0 ? 2 + strlen(top) : 0;

			printf(" %s", option + inside);
		}
		printf(": %d %016llx\n", result, (unsigned long long)digest);
	}
}

int main(int count, char **words)
{
	if (count < 4 || !realpath(words[2], top) || chdir(top) != 0) {
		fputs("usage: races LIBRARY PLACE world|race|rest [SEED COUNT]\n", stderr);
		return 2;
	}
	if (strcmp(words[3], "world") == 0) {
		make_world();
		return 0;
	}
	library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
	if (!library || count != 6) {
		fprintf(stderr, "races: %s\n", library ? "no seed and count" : dlerror());
		return 2;
	}
	*(void **)&nvrtc.CreateProgram = dlsym(library, "nvrtcCreateProgram");
	*(void **)&nvrtc.CompileProgram = dlsym(library, "nvrtcCompileProgram");
	*(void **)&nvrtc.DestroyProgram = dlsym(library, "nvrtcDestroyProgram");
	*(void **)&nvrtc.SetFlowCallback = dlsym(library, "nvrtcSetFlowCallback");
	setenv("NVVM_IR_VER_CHK", "0", 1); /* from here on it is changed, and not added */
	if (strcmp(words[3], "race") == 0) {
		race(strtoull(words[4], NULL, 10) << 20, atoi(words[5]));
	} else {
		rest(strtoull(words[4], NULL, 10) << 20, atoi(words[5]));
	}
	be_in(0);
	be_swapped(0);
	return 0;
}
