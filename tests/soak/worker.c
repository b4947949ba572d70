/* SPDX-License-Identifier: MIT */
/*
 * worker: a host that compiles at random and checks every answer that it gets
 *
 * usage: worker LIBRARY TREE BOARD SLOT KEYS LIVES
 *
 * LIBRARY is the fake compiler (flavour plain), opened as hosts open NVRTC, so that a preloaded cache stands before it.
 * A second copy of the same compiler is linked in, out of the cache's reach. Each round compiles one of KEYS programs,
 * which include headers of TREE, three times: with the copy, through the cache, with the copy. Where the copy gave the
 * same twice, no header changed meanwhile, and the cache must have given that; all that a host can ask for is compared.
 * What was wrong goes to TREE/../wrong.<pid> and is counted on the BOARD.
 *
 * After a random number of rounds the worker runs itself anew, LIVES times (0: until the board says stop).
 * SOAK_WAITS: how long each compile waited for an agent, by the library's own clock and trace, is summed over the life of
 * the process, but for what the agent found and was then hit; the longest sum of the slot stands on the board. The trace
 * is a pipe that the worker itself reads.
 * SOAK_FSIZE: the largest file that it may write (RLIMIT_FSIZE). SOAK_PAUSE_US: it sleeps that long at most each round.
 * SOAK_IN_ORDER: each program once, from the first to the last, through the cache first, nothing at random; then it
 * prints "compiles N same N moved N wrong N" and exits, with 1 where anything was wrong.
 */
#include "tests/hosts/host.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

#define TEXT_MAX 65536
#define HEADERS  8
#define NAMES    40

/* What workers tell soak.py, which knows this layout, in a file that all of them map. One that is killed has told
 * everything but the compile that it was in. */
#define BOARD_SLOTS 256

struct board_row {
	_Atomic uint64_t compiles; /* through the cache */
	_Atomic uint64_t same;     /* as a plain compile before and after says */
	_Atomic uint64_t moved;    /* an edit fell in between: nothing can be said */
	_Atomic uint64_t wrong;
	_Atomic uint64_t lives;     /* processes begun in this slot */
	_Atomic uint64_t waited_ns; /* for agents that did not help, the process that is alive now */
	_Atomic uint64_t worst_ns;  /* ... of any, the one that waited longest */
	_Atomic uint64_t spare[1];
};

struct board {
	_Atomic uint64_t stop;
	_Atomic uint64_t spare[7];
	struct board_row rows[BOARD_SLOTS];
};

struct text {
	size_t size;
	char bytes[TEXT_MAX];
};

#define LINKED(name, parameters) .name = (name),
static const struct compiler plain = {NVRTC_BASE(LINKED)};

static uint64_t seed;

static uint64_t next_random(void)
{
	uint64_t number = seed += UINT64_C(0x9e3779b97f4a7c15);

	number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
	return number ^ number >> 31;
}

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
	va_list values;
	int size;

	va_start(values, format);
	size = vsnprintf(text->bytes + text->size, TEXT_MAX - text->size, format, values);
	va_end(values);
	text->size += size > 0 ? (size_t)size : 0;
	if (text->size >= TEXT_MAX) {
		fprintf(stderr, "worker: too much text\n");
		exit(3);
	}
}

static void add_artifact(struct text *text, const char *name, nvrtcProgram program,
                         nvrtcResult (*size_of)(nvrtcProgram, size_t *), nvrtcResult (*get)(nvrtcProgram, char *))
{
	static char buffer[TEXT_MAX];
	size_t size = 0;
	nvrtcResult result = size_of(program, &size);

	add(text, "%s size %d %zu\n", name, result, size);
	if (result != 0 || size == 0 || size > sizeof(buffer)) {
		return;
	}
	memset(buffer, 0, size);
	add(text, "get %d\n", get(program, buffer));
	if (text->size + size < TEXT_MAX) {
		memcpy(text->bytes + text->size, buffer, size);
		text->size += size;
	}
}

/* Everything that a host can see of program number `number`. */
static void see(const struct compiler *compiler, const char *tree, unsigned number, struct text *text)
{
	char source[512], directory[4096], architecture[32], expression[32];
	const char *options[] = {directory, architecture};
	nvrtcProgram program = NULL;
	const char *lowered;
	unsigned names = number * 7 % NAMES;

	snprintf(source, sizeof(source), "#include \"h%u.h\"\n#include \"h%u.h\"\n%sextern \"C\" void k%u();\n",
	         number % HEADERS, (number / HEADERS + 1) % HEADERS,
	         number % 16 == 5   ? "// error\n"
	         : number % 16 == 7 ? "// warning\n"
	                            : "",
	         number);
	snprintf(directory, sizeof(directory), "-I%s", tree);
	snprintf(architecture, sizeof(architecture), "-arch=%s", number % 3 ? "sm_90" : "compute_90");
	text->size = 0;
	add(text, "create %d\n", compiler->nvrtcCreateProgram(&program, source, "k.cu", 0, NULL, NULL));
	for (unsigned i = 0; i < names; i++) {
		snprintf(expression, sizeof(expression), "k%u<%u>", number, i);
		add(text, "name %d\n", compiler->nvrtcAddNameExpression(program, expression));
	}
	add(text, "compile %d\n", compiler->nvrtcCompileProgram(program, 2, options));
	add_artifact(text, "ptx", program, compiler->nvrtcGetPTXSize, compiler->nvrtcGetPTX);
	add_artifact(text, "cubin", program, compiler->nvrtcGetCUBINSize, compiler->nvrtcGetCUBIN);
	add_artifact(text, "log", program, compiler->nvrtcGetProgramLogSize, compiler->nvrtcGetProgramLog);
	for (unsigned i = 0; i < names; i++) {
		nvrtcResult result;

		snprintf(expression, sizeof(expression), "k%u<%u>", number, i);
		result = compiler->nvrtcGetLoweredName(program, expression, &lowered);
		add(text, "lowered %d %s\n", result, result == 0 ? lowered : "");
	}
	add(text, "destroy %d\n", compiler->nvrtcDestroyProgram(&program));
}

static void report(const char *tree, unsigned number, const struct text *wanted, const struct text *got)
{
	char path[4200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/../wrong.%ld", tree, (long)getpid());
	file = fopen(path, "a");
	if (file) {
		fprintf(file, "== program %u: wanted\n%.*s\n== got\n%.*s\n", number, (int)wanted->size, wanted->bytes,
		        (int)got->size, got->bytes);
		fclose(file);
	}
}

static bool equal(const struct text *a, const struct text *b)
{
	return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

#define TRACE_READ  200
#define TRACE_WRITE 201

/* The library learns of the pipe from its environment, so the worker begins once more with that. */
static void trace_into_pipe(char **argv)
{
	char path[32];
	int ends[2];

	if (!getenv("SOAK_WAITS") || getenv("NVRTCCACHE_TRACE")) {
		return;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", TRACE_WRITE);
	if (pipe2(ends, O_NONBLOCK) != 0 || dup2(ends[0], TRACE_READ) < 0 || dup2(ends[1], TRACE_WRITE) < 0 ||
	    close(ends[0]) != 0 || close(ends[1]) != 0 || setenv("NVRTCCACHE_TRACE", path, 1) != 0) {
		perror("worker: pipe");
		exit(3);
	}
	execv("/proc/self/exe", argv);
	perror("worker");
	exit(3);
}

/* One event of the trace; what the agent found and was then hit has taken the place of a compile, and costs nothing. */
static void add_wait(const char *event, struct board_row *row)
{
	static const char name[] = "\"agent_wait\":";
	const char *at = strstr(event, name);
	uint64_t waited;

	if (!at || (strstr(event, "\"agent\":\"found\"") && strstr(event, "\"cat\":\"hit_disk\""))) {
		return;
	}
	waited = strtoull(at + sizeof(name) - 1, NULL, 10);
	waited += atomic_fetch_add(&row->waited_ns, waited);
	if (waited > atomic_load(&row->worst_ns)) {
		atomic_store(&row->worst_ns, waited);
	}
}

/* What one compile has traced: a few lines, each of less than 3 KB. */
static void add_waits(struct board_row *row)
{
	static char text[TEXT_MAX + 1];
	ssize_t size = read(TRACE_READ, text, TEXT_MAX);
	char *rest = text;

	text[size > 0 ? size : 0] = '\0';
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
		add_wait(line, row);
	}
}

/* `first`: through the cache before the compiler's copy has touched a header; nothing must change meanwhile. */
static void one_round(const struct compiler *cached, const char *tree, unsigned number, bool first,
                      struct board_row *row)
{
	static struct text before, got, after;

	if (!first) {
		see(&plain, tree, number, &before);
	}
	see(cached, tree, number, &got);
	if (getenv("SOAK_WAITS")) {
		add_waits(row);
	}
	if (first) {
		see(&plain, tree, number, &before);
	}
	see(&plain, tree, number, &after);
	atomic_fetch_add(&row->compiles, 1);
	if (!equal(&before, &after)) {
		atomic_fetch_add(&row->moved, 1);
	} else if (equal(&before, &got)) {
		atomic_fetch_add(&row->same, 1);
	} else {
		atomic_fetch_add(&row->wrong, 1);
		report(tree, number, &before, &got);
	}
}

static struct board *open_board(const char *path)
{
	int file = open(path, O_RDWR | O_CLOEXEC);
	void *board =
	    file < 0 ? MAP_FAILED : mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	if (board == MAP_FAILED) {
		perror(path);
		exit(3);
	}
	close(file);
	return board;
}

static void limit_files(const char *text)
{
	struct rlimit limit = {.rlim_max = RLIM_INFINITY};

	if (text) {
		limit.rlim_cur = strtoull(text, NULL, 10);
		(void)setrlimit(RLIMIT_FSIZE, &limit);
	}
}

static unsigned number_of(const char *text)
{
	return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

static int in_order(const struct compiler *cached, const char *tree, unsigned keys)
{
	static struct board_row row;

	for (unsigned number = 0; number < keys; number++) {
		one_round(cached, tree, number, true, &row);
	}
	printf("compiles %lu same %lu moved %lu wrong %lu\n", (unsigned long)row.compiles, (unsigned long)row.same,
	       (unsigned long)row.moved, (unsigned long)row.wrong);
	return row.wrong ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct compiler cached;
	struct timespec now;
	struct board *board;
	struct board_row *row;
	unsigned keys, lives, pause;
	char left[16];

	if (argc != 7 || number_of(argv[4]) >= BOARD_SLOTS || number_of(argv[5]) == 0) {
		fprintf(stderr, "usage: worker LIBRARY TREE BOARD SLOT KEYS LIVES\n");
		return 2;
	}
	trace_into_pipe(argv);
	board = open_board(argv[3]);
	row = &board->rows[number_of(argv[4])];
	keys = number_of(argv[5]);
	lives = number_of(argv[6]);
	pause = number_of(getenv("SOAK_PAUSE_US"));
	(void)clock_gettime(CLOCK_REALTIME, &now);
	seed = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^ (uint64_t)getpid() << 16;
	host_open(argv[1], &cached);
	atomic_fetch_add(&row->lives, 1);
	atomic_store(&row->waited_ns, 0);
	limit_files(getenv("SOAK_FSIZE"));
	if (getenv("SOAK_IN_ORDER")) {
		return in_order(&cached, argv[2], keys);
	}
	for (unsigned left_rounds = 20 + (unsigned)(next_random() % 400); left_rounds > 0; left_rounds--) {
		double share = (double)(next_random() >> 11) * 0x1p-53;

		if (atomic_load(&board->stop)) {
			return 0;
		}
		/* some are asked for often, most seldom */
		one_round(&cached, argv[2], (unsigned)(share * share * share * keys), false, row);
		if (pause) {
			usleep((useconds_t)(next_random() % pause));
		}
	}
	if (lives == 1) {
		return 0;
	}
	snprintf(left, sizeof(left), "%u", lives ? lives - 1 : 0);
	argv[6] = left;
	execv("/proc/self/exe", argv);
	return 3;
}
