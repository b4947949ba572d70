/* SPDX-License-Identifier: MIT */
#include "tests/faults/stage.h"

#include "cache/events.h"
#include "cache/store.h"
#include "cache/tools/prune.h"
#include "cache/upkeep/sample.h"
#include "tests/fake/nvrtc.h"
#include "tests/fake/text.h"
#include "tests/faults/tree.h"
#include "tests/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATHS       8
#define SEEN_MAX    4
#define JOBS_BEFORE 32 /* at most, when a directory is made */

static char base_path[PATH_MAX / 4];
static struct seen *all_seen;
static struct seen *gated;
static int printed = -1;
static uint64_t jobs_done;
static unsigned tests, failures;

bool stage_open(const char *base, const char *fakes)
{
	snprintf(base_path, sizeof(base_path), "%s", base);
	printed = open(stage_path("printed"), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	all_seen = mmap(NULL, SEEN_MAX * sizeof(*all_seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return printed >= 0 && all_seen != MAP_FAILED && host_open(base, fakes) &&
	       host_read_expected(stage_path("expected"));
}

const char *stage_path(const char *name)
{
	static char paths[PATHS][PATH_MAX / 2];
	static unsigned next;
	char *path = paths[next++ % PATHS];

	snprintf(path, sizeof(paths[0]), "%s/%s", base_path, name);
	return path;
}

struct seen *stage_seen(unsigned number)
{
	return &all_seen[number % SEEN_MAX];
}

/* The fake calls it in the middle of every compile. */
void fakeNvrtcGate(void)
{
	struct timespec pause = {.tv_nsec = 200000};

	if (gated) {
		__atomic_store_n(&gated->inside, true, __ATOMIC_RELEASE);
		while (!__atomic_load_n(&gated->open, __ATOMIC_ACQUIRE)) {
			(void)nanosleep(&pause, NULL);
		}
	}
}

static const char *const inherited[] = {"HOME", "XDG_CACHE_HOME", "LD_PRELOAD"};

static void be_host(const struct process *process, struct seen *seen)
{
	const struct inject_plan nothing = {.action = INJECT_NOTHING};

	(void)dup2(printed, STDOUT_FILENO);
	(void)dup2(printed, STDERR_FILENO);
	(void)alarm(600);
	for (size_t i = 0; i < sizeof(inherited) / sizeof(inherited[0]); i++) {
		(void)unsetenv(inherited[i]);
	}
	setenv("NVRTCCACHE_DIR", stage_path("cache"), 1);
	for (const char *const *variable = process->environment; variable && *variable; variable++) {
		putenv((char *)(uintptr_t)*variable);
	}
	gated = process->gate ? seen : NULL;
	seen->descriptors_before = descriptors_open();
	inject_begin(process->plan ? process->plan : &nothing, &seen->report);
	for (size_t i = 0; i < process->count; i++) {
		host_do(&process->jobs[i], &seen->text);
	}
	seen->compiles = host_compiles();
	seen->descriptors_after = descriptors_open();
	exit(0);
}

int stage_start(const struct process *process, struct seen *seen)
{
	pid_t child;

	seen->text.size = 0;
	seen->compiles = -1;
	seen->inside = false;
	seen->open = false;
	jobs_done += process->count;
	(void)fflush(NULL);
	child = fork();
	if (child == 0) {
		be_host(process, seen);
	}
	return child;
}

int stage_end(int child)
{
	int status = -1;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
	}
	return status;
}

int stage_run(const struct process *process, struct seen *seen)
{
	return stage_end(stage_start(process, seen));
}

const char *stage_judge(int status, const struct process *process, const struct seen *seen)
{
	if (WIFSIGNALED(status)) {
		return WTERMSIG(status) == SIGALRM ? "the host hung" : "a signal ended the host";
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		return "the host's exit code is another";
	}
	if (lseek(printed, 0, SEEK_END) != 0) {
		if (ftruncate(printed, 0) != 0) {
			return "something was printed, and cannot be removed";
		}
		return "something was printed";
	}
	if (!host_as_expected(process->jobs, process->count, &seen->text)) {
		return "the host got something else than NVRTC gives";
	}
	if (seen->descriptors_before != seen->descriptors_after) {
		return "a descriptor was left open";
	}
	return NULL;
}

static bool is_hex(const char *text, size_t size)
{
	return strlen(text) == size && strspn(text, "0123456789abcdef") == size;
}

static void look_at(void *context, const char *path, const char *name, const struct stat *found)
{
	static const char known[] = "CACHEDIR.TAG v1/sums v1/lock v1/compile-lock v1/events v1/events.old";
	struct stage_usage *usage = context;
	const char *last = strrchr(name, '/');

	last = last ? last + 1 : name;
	if (strncmp(last, "tmp.", 4) == 0) {
		usage->temporaries++;
		usage->bytes += sample_bytes_of(found);
	} else if (strlen(name) == 74 && strcmp(last + 62, ".facts") == 0) {
		usage->bytes += sample_bytes_of(found);
	} else if (strlen(name) == 68 && is_hex(last, 62)) {
		if (usage->entries < 8) {
			snprintf(usage->entry[usage->entries], sizeof(usage->entry[0]), "cache/%s", name);
		}
		usage->entries++;
		usage->bytes += sample_bytes_of(found);
	} else if (!is_among(name, known, WORDS_WHOLE)) {
		usage->strangers++;
	}
}

void stage_usage(struct stage_usage *ret_usage)
{
	memset(ret_usage, 0, sizeof(*ret_usage));
	tree_walk(stage_path("cache"), look_at, ret_usage);
}

static void age_temporary(void *context, const char *path, const char *name, const struct stat *found)
{
	if (strstr(name, "/tmp.")) {
		(void)tree_age(path, 7200);
	}
}

/* Two hours later somebody prunes. */
static const char *sweep_leftovers(void)
{
	struct store store = {.directory = {.path = stage_path("cache"), .shared = true}};
	struct store_pruned pruned;
	struct stage_usage usage;
	int error;

	stage_usage(&usage);
	if (usage.strangers) {
		return "there are files that nobody knows";
	}
	if (!usage.temporaries) {
		return NULL;
	}
	tree_walk(stage_path("cache"), age_temporary, NULL);
	error = store_remove(&store, &(struct store_removal){.unused_ns = INT64_MAX}, &pruned);
	stage_usage(&usage);
	return error != 0 ? "prune failed" : usage.temporaries ? "a temporary stays for ever" : NULL;
}

static const char *judge_counters(void)
{
	/* some scenario's directory is shared */
	const struct directory directory = {.path = stage_path("cache"), .shared = true};
	uint64_t values[COUNTER_COUNT];
	struct events events;

	if (events_read(&directory, EVENTS_ALL, &events) != 0) {
		return "the record cannot be read";
	}
	memcpy(values, events.counts, sizeof(values));
	events_free(&events);
	if (values[COUNTER_TOTAL_hits_memory] + values[COUNTER_TOTAL_hits_disk] + values[COUNTER_TOTAL_misses] >
	    jobs_done) {
		return "more was counted than was done";
	}
	for (size_t i = 0; i < COUNTER_COUNT; i++) {
		if (!strstr(counter_name((enum counter)i), "_ns") && values[i] > 100000) {
			return "a counter is beyond belief";
		}
	}
	return NULL;
}

const char *stage_examine(const struct process *process, unsigned what)
{
	struct seen *seen = stage_seen(3);
	const char *wrong = stage_judge(stage_run(process, seen), process, seen);

	if (!wrong) {
		wrong = stage_judge(stage_run(process, seen), process, seen);
		if (!wrong && (what & EXAMINE_HITS) && seen->compiles != 0) {
			wrong = "what was stored is not found";
		}
	} else if (strcmp(wrong, "the host got something else than NVRTC gives") == 0) {
		wrong = "the next host got something else than NVRTC gives";
	}
	if (!wrong && (what & EXAMINE_FILES)) {
		wrong = sweep_leftovers();
		wrong = wrong ? wrong : judge_counters();
	}
	return wrong;
}

void stage_clear_counts(void)
{
	jobs_done = JOBS_BEFORE;
}

void stage_note(const char *format, ...)
{
	va_list arguments;

	printf("# ");
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
}

void stage_result(bool good, const char *format, ...)
{
	va_list arguments;

	tests++;
	failures += !good;
	printf("%sok - ", good ? "" : "not ");
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	(void)fflush(stdout);
}

int stage_plan(void)
{
	printf("1..%u\n", tests);
	return failures ? 1 : 0;
}
