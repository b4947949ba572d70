/* SPDX-License-Identifier: MIT */
#include "tests/faults/scenarios.h"

#include "tests/faults/tree.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define FILLERS     24
#define HOUR        3600

#define JOB(program, world, library) {PROGRAM_##program, WORLD_##world, LIBRARY_##library}
#define HOST(list, variables)        {.environment = (variables), .jobs = (list), .count = COUNT(list)}

static const struct job plain[] = {JOB(PLAIN, A, 13)};
static const struct job plain_twice[] = {JOB(PLAIN, A, 13), JOB(PLAIN, A, 13)};
static const struct job failing[] = {JOB(FAILING, A, 13)};
static const struct job debug[] = {JOB(DEBUG, A, 13)};
static const struct job another[] = {JOB(FILLER, A, 13)};
static const struct job large[] = {JOB(LARGE, A, 13)};
static const struct job others[] = {JOB(PLAIN, B, 13), JOB(PLAIN, C, 13)};
/* The option that pads is one that nobody has searched: what a process compiles without it afterwards is not kept. */
static const struct job with_large[] = {JOB(PLAIN, A, 13), JOB(LARGE, A, 13), JOB(LARGE, B, 13)};
static const struct job with_failing[] = {JOB(FAILING, A, 13), JOB(FAILING, B, 13), JOB(FAILING, D, 13)};
static const struct job with_debug[] = {JOB(DEBUG, A, 13), JOB(DEBUG, B, 13), JOB(DEBUG, C, 13)};
static const struct job two[] = {JOB(PLAIN, A, 13), JOB(PLAIN, A, 13B)};
/* The same request in every world, and by another compiler. */
static const struct job everywhere[] = {JOB(PLAIN, A, 13), JOB(PLAIN, A, 13B), JOB(PLAIN, B, 13), JOB(PLAIN, C, 13),
                                        JOB(PLAIN, D, 13)};

uint64_t evict_cap;
static char evict_cap_text[48];
static const char *const capped[] = {evict_cap_text, NULL};
static const char *const read_only[] = {"NVRTCCACHE_READONLY=1", NULL};
static const char *const verify[] = {"NVRTCCACHE_VERIFY=1", NULL};
static const char *const recache[] = {"NVRTCCACHE_RECACHE=1", NULL};
static const char *const shared_synced[] = {"NVRTCCACHE_SHARED=1", "NVRTCCACHE_FSYNC=1", NULL};
static const char *const shared[] = {"NVRTCCACHE_SHARED=1", NULL};
static const char *const no_memory[] = {"NVRTCCACHE_MEM_SIZE=0", NULL};

static bool do_jobs(const struct job *jobs, size_t count, const char *const *environment)
{
	const struct process process = {.environment = environment, .jobs = jobs, .count = count};
	struct seen *seen = stage_seen(3);

	return !stage_judge(stage_run(&process, seen), &process, seen);
}

#define MAKE(name, jobs, environment)                             \
	static bool make_##name(void)                             \
	{                                                         \
		return do_jobs(jobs, COUNT(jobs), (environment)); \
	}
MAKE(plain, plain, NULL)
MAKE(others, others, NULL)
MAKE(another, another, NULL)
MAKE(large, large, NULL)
MAKE(failing, failing, NULL)
MAKE(shared, plain, shared)

/* The entry of a directory that has one. */
static const char *only_entry(void)
{
	struct stage_usage usage;

	stage_usage(&usage);
	return usage.entries == 1 ? stage_path(usage.entry[0]) : "";
}

static bool make_old(void)
{
	return make_plain() && tree_age(only_entry(), 3 * HOUR);
}

static bool make_damaged(void)
{
	char *bytes;
	size_t size;
	bool good;

	if (!make_plain() || !tree_read(only_entry(), &bytes, &size)) {
		return false;
	}
	bytes[size / 2] ^= 1;
	good = file_write(only_entry(), bytes, size);
	free(bytes);
	return good;
}

static void age_entry(void *context, const char *path, const char *name, const struct stat *found)
{
	int *hours = context;

	if (strlen(name) == 68) {
		(void)tree_age(path, ++*hours * HOUR);
	}
}

/* Nearly full of results that nobody used lately. */
static bool make_full(void)
{
	struct job jobs[FILLERS];
	struct stage_usage usage;
	int hours = 2;

	for (int i = 0; i < FILLERS; i++) {
		jobs[i] = (struct job){PROGRAM_FILLER + i, WORLD_A, LIBRARY_13};
	}
	(void)snprintf(evict_cap_text, sizeof(evict_cap_text), "NVRTCCACHE_MAX_SIZE=1G");
	if (!do_jobs(jobs, FILLERS, capped)) {
		return false;
	}
	stage_usage(&usage);
	evict_cap = usage.bytes + usage.bytes / FILLERS / 64;
	(void)snprintf(evict_cap_text, sizeof(evict_cap_text), "NVRTCCACHE_MAX_SIZE=%" PRIu64, evict_cap);
	tree_walk(stage_path("cache"), age_entry, &hours);
	return usage.entries == FILLERS;
}

/* The sums are lost, and somebody died while storing, long ago. */
static bool make_full_unknown(void)
{
	struct stage_usage usage;
	char path[300];
	char *bytes;
	size_t size;
	bool good;

	if (!make_full() || unlink(stage_path("cache/v1/sums")) != 0) {
		return false;
	}
	stage_usage(&usage);
	if (!tree_read(stage_path(usage.entry[0]), &bytes, &size)) {
		return false;
	}
	snprintf(path, sizeof(path), "%.11s/tmp.1.0123456789abcdef", usage.entry[0]);
	good = file_write(stage_path(path), bytes, 4) && tree_age(stage_path(path), 2 * HOUR);
	free(bytes);
	return good;
}

static bool make_lower(void)
{
	return make_plain() && tree_remove(stage_path("lower")) &&
	       rename(stage_path("cache"), stage_path("lower")) == 0;
}

static const char *const *lower(void)
{
	static char variable[600];
	static const char *const list[] = {variable, NULL};

	snprintf(variable, sizeof(variable), "NVRTCCACHE_LOWER=%s", stage_path("lower"));
	return list;
}

static const char *const *written(void)
{
	static char log[600], trace[600];
	static const char *const list[] = {log, trace, "NVRTCCACHE_LOG_LEVEL=debug", NULL};

	snprintf(log, sizeof(log), "NVRTCCACHE_LOG=%s", stage_path("log"));
	snprintf(trace, sizeof(trace), "NVRTCCACHE_TRACE=%s", stage_path("trace"));
	return list;
}

#define EVERYWHERE HOST(everywhere, NULL)

const struct scenario scenarios[] = {
    {"first use of a directory that is not there", NULL, HOST(plain, NULL), EVERYWHERE, 0, 0},
    {"cold store", make_another, HOST(plain, NULL), EVERYWHERE, 0, 0},
    {"store behind results of other headers", make_others, HOST(plain, NULL), EVERYWHERE, 0, 0},
    {"store of a compile that failed", make_another, HOST(failing, NULL), HOST(with_failing, NULL), 0, 0},
    {"store of a result that names its place", make_another, HOST(debug, NULL), HOST(with_debug, NULL), 0, 0},
    {"store of a large result", make_another, HOST(large, NULL), HOST(with_large, NULL), 0, 0},
    {"store that must evict", make_full, HOST(plain, capped), HOST(two, capped), 0, 1},
    {"store that must evict without sums", make_full_unknown, HOST(plain, capped), HOST(two, capped), 0, 1},
    {"store, shared and synced", make_shared, HOST(others, shared_synced), HOST(everywhere, shared), 0, 0},
    {"store over a result (recache)", make_plain, HOST(plain, recache), EVERYWHERE, 0, 0},
    {"hit on disk", make_plain, HOST(plain, NULL), EVERYWHERE, 0, 0},
    {"hit on disk without a memory front", make_plain, HOST(plain_twice, no_memory), EVERYWHERE, 0, 0},
    {"hit on a large result", make_large, HOST(large, NULL), HOST(with_large, NULL), 0, 0},
    {"hit on a failure", make_failing, HOST(failing, NULL), HOST(with_failing, NULL), 0, 0},
    {"hit in memory behind one on disk", make_plain, HOST(plain_twice, NULL), EVERYWHERE, 0, 0},
    {"hit that refreshes recency", make_old, HOST(plain, NULL), EVERYWHERE, 0, 0},
    {"hit in a lower cache", make_lower, HOST(plain_twice, NULL), EVERYWHERE, 0, 0},
    {"damaged result", make_damaged, HOST(plain, NULL), EVERYWHERE, 0, 0},
    {"read-only, a hit", make_plain, HOST(plain, read_only), EVERYWHERE, 0, 0},
    {"read-only, a miss", make_others, HOST(plain, read_only), EVERYWHERE, 0, 0},
    {"verify", make_plain, HOST(plain, verify), EVERYWHERE, 0, 0},
    {"log and trace", make_another, HOST(plain_twice, NULL), EVERYWHERE, 0, 0},
    {"waiting for another's compile", make_another, HOST(plain, NULL), EVERYWHERE, 1, 0},
};
const size_t scenario_count = COUNT(scenarios);

/* Variables that hold a path of the stage. */
static void complete(const struct scenario *scenario, struct process *process)
{
	if (scenario->prepare == make_lower) {
		process->environment = lower();
	} else if (strcmp(scenario->name, "log and trace") == 0) {
		process->environment = written();
	}
}

bool scenario_begin(const struct scenario *scenario, struct scenario *ret_scenario)
{
	*ret_scenario = *scenario;
	complete(scenario, &ret_scenario->host);
	if (scenario->prepare == make_lower) {
		complete(scenario, &ret_scenario->after);
	}
	if (!tree_remove(stage_path("cache")) || !tree_remove(stage_path("template"))) {
		return false;
	}
	stage_clear_counts();
	if (!scenario->prepare) {
		return true;
	}
	return scenario->prepare() &&
	       (access(stage_path("cache"), F_OK) != 0 || rename(stage_path("cache"), stage_path("template")) == 0);
}

bool scenario_restore(const struct scenario *scenario)
{
	(void)unlink(stage_path("log"));
	(void)unlink(stage_path("trace"));
	stage_clear_counts();
	if (!tree_remove(stage_path("cache"))) {
		return false;
	}
	return access(stage_path("template"), F_OK) != 0 || tree_copy(stage_path("template"), stage_path("cache"));
}
