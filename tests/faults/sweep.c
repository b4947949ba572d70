/* SPDX-License-Identifier: MIT */
#include "tests/faults/sweep.h"

#include "tests/faults/inject.h"
#include "tests/faults/scenarios.h"
#include "tests/faults/stage.h"
#include "tests/faults/tree.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define FAILURES_SHOWN 8
#define STORES_SOON    24
#define STORES_AFTER   152 /* each looks into two of 256 shards anew, as the directory is full */

struct tally {
	const struct sweep *sweep;
	const struct scenario *scenario;
	unsigned long offered; /* faults there are */
	unsigned long injected;
	unsigned long missed; /* the call did not come to pass, or cannot fail so any more */
	unsigned wrong;
};

static const char *const words[] = {"nothing", "error", "short", "killed before", "killed after"};

static void tell(struct tally *tally, const struct inject_plan *plan, const char *call, const char *wrong)
{
	if (tally->wrong++ < FAILURES_SHOWN) {
		stage_note("%s: call %u (%s), %s%s %s %ld: %s", tally->scenario->name, plan->at, call,
		           words[plan->action], plan->on ? " from here on" : "",
		           plan->error ? strerrorname_np(plan->error) : "", (long)plan->length, wrong);
	}
}

/* The holder of the compile lock: inside its compile, until told. */
static int start_holder(const struct scenario *scenario, struct seen *seen)
{
	struct process holder = scenario->host;
	struct timespec pause = {.tv_nsec = 200000};
	int child;

	holder.gate = true;
	holder.plan = NULL;
	child = stage_start(&holder, seen);
	for (int i = 0; i < 50000 && !__atomic_load_n(&seen->inside, __ATOMIC_ACQUIRE); i++) {
		(void)nanosleep(&pause, NULL);
	}
	return child;
}

/* The status of `host`, which may be killed; others that ran beside it must not be worse off. */
static int run_host(const struct scenario *scenario, const struct process *host, unsigned companions, struct seen *seen,
                    const char **ret_wrong)
{
	struct timespec pause = {.tv_nsec = 3000000};
	struct seen *other = stage_seen(3);
	int holder = scenario->held ? start_holder(scenario, other) : 0;
	int child = stage_start(host, seen);
	int beside[2] = {0};
	int status;

	for (unsigned i = 0; i < companions; i++) {
		beside[i] = stage_start(&scenario->host, stage_seen(1 + i));
	}
	*ret_wrong = NULL;
	if (holder) {
		(void)nanosleep(&pause, NULL);
		__atomic_store_n(&other->open, true, __ATOMIC_RELEASE);
		*ret_wrong = stage_judge(stage_end(holder), &scenario->host, other);
	}
	status = stage_end(child);
	for (unsigned i = 0; i < companions; i++) {
		int ended = stage_end(beside[i]);

		*ret_wrong = *ret_wrong ? *ret_wrong : stage_judge(ended, &scenario->host, stage_seen(1 + i));
	}
	return status;
}

/* What the sums missed is found by the stores that follow: the directory is below its cap, and not emptied
 * either.
 */
static const char *judge_eviction(const struct scenario *scenario, bool soon)
{
	struct job jobs[STORES_AFTER];
	struct process stores = scenario->after;
	struct stage_usage usage;
	struct seen *seen = stage_seen(2);
	const char *wrong;

	for (int i = 0; i < STORES_AFTER; i++) {
		jobs[i] = (struct job){(enum program)(PROGRAM_FILLER + HOST_FILLERS - 1 - i), WORLD_A, LIBRARY_13};
	}
	stores.jobs = jobs;
	stores.count = soon ? STORES_SOON : STORES_AFTER;
	wrong = stage_judge(stage_run(&stores, seen), &stores, seen);
	stage_usage(&usage);
	/* a fault that says ENOENT of shards that are there hides 15 of 24 entries at most, until stores come to them */
	if (!wrong && usage.bytes > evict_cap * 7 / 4) {
		wrong = "the directory stays above its cap";
	}
	if (!wrong && usage.bytes < evict_cap / 2) {
		wrong = "more was evicted than needed";
	}
	return wrong;
}

/* What came to pass at that number: not always what stood there in the run without faults, as a store that finds no
 * sums begins with other shards each time. */
static const char *name_of_call(const struct seen *seen, const struct inject_plan *plan, unsigned expected)
{
	return inject_name(plan->at <= seen->report.calls ? seen->report.call[plan->at - 1] : expected);
}

static void try_fault(struct tally *tally, const struct inject_plan *plan, unsigned expected)
{
	const struct scenario *scenario = tally->scenario;
	struct process host = scenario->host;
	struct seen *seen = stage_seen(0);
	bool kills = plan->action == INJECT_KILL_BEFORE || plan->action == INJECT_KILL_AFTER;
	unsigned before; /* temporaries that the scenario begins with */
	const char *call, *wrong;
	int status;

	if (!scenario_restore(scenario)) {
		tell(tally, plan, inject_name(expected), "the directory cannot be made anew");
		return;
	}
	before = strstr(scenario->name, "without sums") ? 1 : 0;
	host.plan = plan;
	status = run_host(scenario, &host, tally->sweep->companions, seen, &wrong);
	call = name_of_call(seen, plan, expected);
	if (seen->report.injected == 0) {
		tally->missed++;
	} else {
		tally->injected++;
	}
	if (!wrong && !(kills && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && seen->report.injected)) {
		wrong = stage_judge(status, &host, seen);
	}
	if (!wrong && !kills && !plan->on && strcmp(call, "unlinkat") != 0) {
		struct stage_usage usage;

		stage_usage(&usage);
		wrong = usage.temporaries > before ? "a temporary was left behind" : NULL;
	}
	wrong = wrong ? wrong : stage_examine(&scenario->after, scenario->evicts ? EXAMINE_HITS : EXAMINE_ALL);
	if (!wrong && scenario->evicts) {
		/* what could not be listed is looked at again by the next store */
		wrong = judge_eviction(scenario, strcmp(call, "readdir") == 0 && !plan->on && !kills);
		/* not before: it prunes, which mends what the stores have to */
		wrong = wrong ? wrong : stage_examine(&scenario->after, EXAMINE_FILES);
	}
	if (wrong) {
		tell(tally, plan, call, wrong);
	}
}

/* The calls of a run in which nothing goes wrong. */
static unsigned count_calls(const struct scenario *scenario, unsigned char *calls, const char **ret_wrong)
{
	struct seen *seen = stage_seen(0);
	unsigned count;
	int status;

	*ret_wrong = "the directory cannot be made";
	if (!scenario_restore(scenario)) {
		return 0;
	}
	status = run_host(scenario, &scenario->host, 0, seen, ret_wrong);
	if (!*ret_wrong) {
		*ret_wrong = stage_judge(status, &scenario->host, seen);
	}
	count = seen->report.calls < INJECT_CALLS_MAX ? seen->report.calls : INJECT_CALLS_MAX;
	memcpy(calls, seen->report.call, count);
	if (!*ret_wrong) {
		*ret_wrong = stage_examine(&scenario->after, EXAMINE_ALL);
	}
	return count;
}

typedef void offer_faults(struct tally *tally, unsigned at, unsigned call);

/* One more fault; is it among those that are tried? */
static bool is_wanted(struct tally *tally)
{
	return tally->offered++ % tally->sweep->stride == 0;
}

static void offer(struct tally *tally, unsigned call, struct inject_plan plan)
{
	if (is_wanted(tally)) {
		try_fault(tally, &plan, call);
	}
}

static void offer_all(struct tally *tally, unsigned at, unsigned call)
{
	const int *error;

	/* always: what a list leaves out is missed by whoever adds up */
	if (tally->scenario->evicts && tally->sweep->stride > 1 && strcmp(inject_name(call), "readdir") == 0) {
		try_fault(tally, &(struct inject_plan){.action = INJECT_ERROR, .at = at, .error = EIO}, call);
		tally->offered++;
	}

	offer(tally, call, (struct inject_plan){.action = INJECT_KILL_BEFORE, .at = at});
	offer(tally, call, (struct inject_plan){.action = INJECT_KILL_AFTER, .at = at});
	for (error = inject_errors(call); *error != 0; error++) {
		offer(tally, call, (struct inject_plan){.action = INJECT_ERROR, .at = at, .error = *error});
		/* interrupted for ever would be a hang, and no fault */
		if (*error != EINTR) {
			offer(tally, call,
			      (struct inject_plan){.action = INJECT_ERROR, .at = at, .error = *error, .on = true});
		}
	}
	if (inject_moves_bytes(call)) {
		offer(tally, call, (struct inject_plan){.action = INJECT_SHORT, .at = at, .length = 0});
		offer(tally, call, (struct inject_plan){.action = INJECT_SHORT, .at = at, .length = 1});
		offer(tally, call, (struct inject_plan){.action = INJECT_SHORT, .at = at, .length = INJECT_HALF});
		offer(tally, call, (struct inject_plan){.action = INJECT_SHORT, .at = at, .length = 1, .on = true});
	}
}

static void offer_memory(struct tally *tally, unsigned at, unsigned call)
{
	if (inject_admits(call, ENOMEM) &&
	    strstr("malloc calloc realloc aligned_alloc strdup strndup tsearch getcwd", inject_name(call))) {
		offer(tally, call, (struct inject_plan){.action = INJECT_ERROR, .at = at, .error = ENOMEM});
		offer(tally, call, (struct inject_plan){.action = INJECT_ERROR, .at = at, .error = ENOMEM, .on = true});
	}
}

static void offer_kill(struct tally *tally, unsigned at, unsigned call)
{
	offer(tally, call, (struct inject_plan){.action = INJECT_KILL_BEFORE, .at = at});
}

/* Changes with every change of a file of the lower cache. */
static void add_file(void *context, const char *path, const char *name, const struct stat *found)
{
	uint64_t *sum = context;

	*sum += strlen(name) + (uint64_t)found->st_ino * 31 + (uint64_t)found->st_size * 37 +
	        (uint64_t)found->st_ctim.tv_nsec * 41 + (uint64_t)found->st_ctim.tv_sec;
}

static uint64_t lower_state(void)
{
	uint64_t sum = 0;

	tree_walk(stage_path("lower"), add_file, &sum);
	return sum;
}

static void sweep_with(const struct sweep *sweep, const char *what, offer_faults *offers)
{
	static unsigned char calls[INJECT_CALLS_MAX];
	unsigned long scenarios_done = 0, calls_done = 0, injected = 0, wrong_results = 0;

	for (size_t i = sweep->part; i < scenario_count; i += sweep->parts) {
		struct scenario scenario;
		struct tally tally = {.sweep = sweep, .scenario = &scenario};
		const char *wrong = "its directory cannot be made";
		unsigned count = 0;
		uint64_t lower;

		if (sweep->only && !strstr(scenarios[i].name, sweep->only)) {
			continue;
		}
		if (scenario_begin(&scenarios[i], &scenario)) {
			count = count_calls(&scenario, calls, &wrong);
		}
		lower = lower_state();
		for (unsigned at = 1; !wrong && at <= count; at++) {
			offers(&tally, at, calls[at - 1]);
		}
		if (!wrong && lower != lower_state()) {
			wrong = "the lower cache was changed";
		}
		if (wrong) {
			stage_note("%s: %s", scenarios[i].name, wrong);
		}
		scenarios_done++;
		calls_done += count;
		injected += tally.injected;
		wrong_results += tally.wrong;
		stage_result(!wrong && tally.wrong == 0 && (tally.injected > 0 || sweep->stride > 1),
		             "%s, %s: %u calls, %lu of %lu faults tried (%lu injected), %u wrong", scenarios[i].name,
		             what, count, tally.injected + tally.missed, tally.offered, tally.injected, tally.wrong);
	}
	stage_note("total: scenarios %lu calls %lu injected %lu wrong %lu", scenarios_done, calls_done, injected,
	           wrong_results);
}

void sweep_faults(const struct sweep *sweep)
{
	sweep_with(sweep, "every fault at every call", offer_all);
}

void sweep_memory(const struct sweep *sweep)
{
	sweep_with(sweep, "no memory", offer_memory);
}

void sweep_crowd(const struct sweep *sweep)
{
	struct sweep crowd = *sweep;

	crowd.companions = 2;
	sweep_with(&crowd, "killed beside two others", offer_kill);
}
