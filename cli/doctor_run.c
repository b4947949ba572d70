/* SPDX-License-Identifier: MIT */
/* doctor, fourth part: what a run of the program has reached, by a time line and a log of that run alone. */
#include "cli/doctor.h"

#include "cli/console.h"
#include "cli/loader.h"
#include "interpose/compile/event.h"
#include "interpose/compilers.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define REASONS_MAX 64

static const struct {
	const char *category, *words;
} kinds[] = {
#define KIND_ROW(name, category, words) {category, words},
    EVENT_KINDS(KIND_ROW)
#undef KIND_ROW
};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

static const char *const names[] = {
#define COMPILER_NAME(name, NAME) #name,
    COMPILERS(COMPILER_NAME)
#undef COMPILER_NAME
};

#define COMPILER_COUNT (sizeof(names) / sizeof(names[0]))

struct reached {
	uint64_t counts[COMPILER_COUNT][KIND_COUNT];
	struct {
		size_t compiler, kind;
		char text[64];
		uint64_t count;
	} reasons[REASONS_MAX];
	size_t reason_count;
};

/* The value of "name":"..." in one event of the time line. Quotes within strings are escaped there, so that this cannot
 * be part of one. */
static bool find_value(const char *event, const char *name, char *ret_text, size_t capacity)
{
	char pattern[32];
	const char *at;
	size_t size;

	snprintf(pattern, sizeof(pattern), "\"%s\":\"", name);
	at = strstr(event, pattern);
	if (!at) {
		return false;
	}
	at += strlen(pattern);
	size = strcspn(at, "\"");
	if (size >= capacity) {
		return false;
	}
	memcpy(ret_text, at, size);
	ret_text[size] = '\0';
	return true;
}

static void count_reason(struct reached *reached, size_t compiler, size_t kind, const char *text)
{
	size_t i = 0;

	while (i < reached->reason_count &&
	       (reached->reasons[i].compiler != compiler || reached->reasons[i].kind != kind ||
	        strcmp(reached->reasons[i].text, text) != 0)) {
		i++;
	}
	if (i == REASONS_MAX) {
		return;
	}
	if (i == reached->reason_count) {
		reached->reasons[i].compiler = compiler;
		reached->reasons[i].kind = kind;
		snprintf(reached->reasons[i].text, sizeof(reached->reasons[i].text), "%s", text);
		reached->reason_count++;
	}
	reached->reasons[i].count++;
}

static void count_event(struct reached *reached, const char *event)
{
	char category[32], compiler[32], reason[64];

	if (!find_value(event, "cat", category, sizeof(category)) ||
	    !find_value(event, "compiler", compiler, sizeof(compiler))) {
		return;
	}
	for (size_t i = 0; i < COMPILER_COUNT; i++) {
		for (size_t j = 0; strcmp(names[i], compiler) == 0 && j < KIND_COUNT; j++) {
			if (strcmp(kinds[j].category, category) == 0) {
				reached->counts[i][j]++;
				if (find_value(event, "reason", reason, sizeof(reason))) {
					count_reason(reached, i, j, reason);
				}
			}
		}
	}
}

static void read_timeline(struct reached *reached, const char *path)
{
	FILE *file = fopen(path, "re");
	size_t capacity = 0;
	char *line = NULL;

	while (file && getline(&line, &capacity, file) > 0) {
		count_event(reached, line);
	}
	free(line);
	if (file) {
		fclose(file);
	}
}

static enum finding_level level_of(size_t kind)
{
	return kind == EVENT_PASSED_THROUGH ? FINDING_FAIL : kind == EVENT_NOT_KEPT ? FINDING_WARN : FINDING_OK;
}

/* "nvrtc: 2 not kept (time_macros 2)" */
static void tell_kind(struct findings *findings, const struct reached *reached, size_t compiler, size_t kind)
{
	char reasons[512] = "";
	size_t size = 0;

	for (size_t i = 0; i < reached->reason_count && size < sizeof(reasons) - 100; i++) {
		if (reached->reasons[i].compiler == compiler && reached->reasons[i].kind == kind) {
			size +=
			    (size_t)snprintf(reasons + size, sizeof(reasons) - size, "%s%s %" PRIu64,
			                     size ? ", " : " (", reached->reasons[i].text, reached->reasons[i].count);
		}
	}
	finding_add(findings, level_of(kind), "run", "%s: %" PRIu64 " %s%s%s", names[compiler],
	            reached->counts[compiler][kind], kinds[kind].words, reasons, size ? ")" : "");
}

static void tell(struct findings *findings, const struct reached *reached)
{
	bool any = false;

	for (size_t i = 0; i < COMPILER_COUNT; i++) {
		for (size_t j = 0; j < KIND_COUNT; j++) {
			if (reached->counts[i][j] != 0) {
				tell_kind(findings, reached, i, j);
				any = true;
			}
		}
	}
	if (!any) {
		finding_add(findings, FINDING_WARN, "run", "it compiled nothing through the library");
	}
}

/* Each line of the log is a warning: its words stand behind "nvrtccache[4711]: ". */
static void tell_log(struct findings *findings, const char *path)
{
	FILE *file = fopen(path, "re");
	size_t capacity = 0;
	char *line = NULL, *before = NULL;

	while (file && getline(&line, &capacity, file) > 0) {
		char *words = strstr(line, "]: ");

		line[strcspn(line, "\n")] = '\0';
		words = words ? words + 3 : line;
		if (!before || strcmp(before, words) != 0) { /* of many processes */
			finding_add(findings, FINDING_WARN, "log", "%s", words);
		}
		free(before);
		before = strdup(words);
	}
	free(before);
	free(line);
	if (file) {
		fclose(file);
	}
}

struct start {
	char **argv;
	enum doctor_output output;
	pid_t pid;
};

static int start(void *context)
{
	struct start *run = context;
	posix_spawn_file_actions_t actions;
	int error;

	(void)posix_spawn_file_actions_init(&actions);
	error = run->output == DOCTOR_OUTPUT_ERROR
	            ? posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
	            : 0;
	if (error == 0) {
		error = posix_spawnp(&run->pid, run->argv[0], &actions, NULL, run->argv, environ);
	}
	(void)posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* As system() does: who interrupts means the program, whose end is then waited for. */
static int wait_for(pid_t pid)
{
	struct sigaction ignored = {.sa_handler = SIG_IGN}, interrupt, quit;
	int status = 0;

	(void)sigaction(SIGINT, &ignored, &interrupt);
	(void)sigaction(SIGQUIT, &ignored, &quit);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	(void)sigaction(SIGINT, &interrupt, NULL);
	(void)sigaction(SIGQUIT, &quit, NULL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void run_with(struct findings *findings, const char *preload, char **argv, enum doctor_output output,
                     const char *place)
{
	char timeline[256], log[256];
	struct reached reached = {0};
	struct start run = {.argv = argv, .output = output};
	int error, status;

	snprintf(timeline, sizeof(timeline), "%s/timeline", place);
	snprintf(log, sizeof(log), "%s/log", place);
	if (setenv("NVRTCCACHE_TRACE", timeline, 1) != 0 || setenv("NVRTCCACHE_LOG", log, 1) != 0 ||
	    setenv("NVRTCCACHE_LOG_LEVEL", "warning", 1) != 0 || !loader_with_preload(preload, start, &run, &error)) {
		error = ENOMEM;
	}
	if (error != 0) {
		finding_add(findings, FINDING_FAIL, "run", "%s cannot be run: %s", argv[0], strerror(error));
		return;
	}
	status = wait_for(run.pid);
	read_timeline(&reached, timeline);
	tell(findings, &reached);
	tell_log(findings, log);
	(void)unlink(timeline);
	(void)unlink(log);
	if (status != 0) {
		finding_add(findings, FINDING_WARN, "run", "the program ended with status %d", status);
	}
}

void doctor_run(struct findings *findings, const char *library, char **argv, enum doctor_output output)
{
	const char *base = getenv("TMPDIR"), *others = getenv("LD_PRELOAD");
	char place[200], *preload;

	snprintf(place, sizeof(place), "%s/nvrtccache-doctor.XXXXXX", base && base[0] == '/' ? base : "/tmp");
	if (!mkdtemp(place)) {
		finding_add(findings, FINDING_FAIL, "run", "%s: %s", place, strerror(errno));
		return;
	}
	if (asprintf(&preload, "%s%s%s", library, others && others[0] ? ":" : "", others ? others : "") >= 0) {
		run_with(findings, preload, argv, output, place);
		free(preload);
	}
	(void)rmdir(place);
}
