/* SPDX-License-Identifier: MIT */
/* The kernel's view: every system call of a host, NVRTC's and the loader's too, as the place where it is killed. */
#include "tests/faults/scenarios.h"
#include "tests/faults/stage.h"
#include "tests/faults/sweep.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define SYSTEM_CALL_STOP (SIGTRAP | 0x80)

/* Kills at stop number `at` (each call has two: before and after); 0: never. Returns how many there were; -1: tracing
 * is not allowed here. */
static long run_traced(const struct process *host, struct seen *seen, long at, int *ret_status)
{
	int child = stage_start(host, seen);
	long stops = 0;
	int status;

	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
		return -1;
	}
	(void)ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
	while (ptrace(PTRACE_SYSCALL, child, NULL, NULL) == 0 && waitpid(child, &status, 0) == child &&
	       WIFSTOPPED(status)) {
		if (WSTOPSIG(status) == SYSTEM_CALL_STOP && ++stops == at) {
			(void)kill(child, SIGKILL);
			(void)waitpid(child, &status, 0);
			break;
		}
	}
	*ret_status = status;
	return stops;
}

static const char *kill_at(const struct scenario *scenario, const struct process *host, long at)
{
	int status;

	if (!scenario_restore(scenario)) {
		return "the directory cannot be made anew";
	}
	(void)run_traced(host, stage_seen(0), at, &status);
	return stage_examine(&scenario->after, EXAMINE_ALL);
}

void sweep_traced(const struct sweep *sweep)
{
	for (size_t i = sweep->part; i < scenario_count; i += sweep->parts) {
		struct scenario scenario;
		struct process host;
		unsigned long kills = 0, wrong_count = 0;
		const char *wrong = "its directory cannot be made";
		long stops = 0;
		int status = 0;

		if (scenarios[i].held || (sweep->only && !strstr(scenarios[i].name, sweep->only))) {
			continue;
		}
		if (scenario_begin(&scenarios[i], &scenario) && scenario_restore(&scenario)) {
			host = scenario.host;
			host.traced = true;
			stops = run_traced(&host, stage_seen(0), 0, &status);
			wrong = stops < 0 ? NULL : stage_judge(status, &host, stage_seen(0));
		}
		if (stops < 0) {
			stage_result(true, "%s, killed at every system call # SKIP tracing is not allowed here",
			             scenario.name);
			continue;
		}
		/* odd steps: stops before a call and behind one */
		for (long at = 1; !wrong && at <= stops; at += (long)(sweep->stride | 1), kills++) {
			const char *now = kill_at(&scenario, &host, at);

			if (now) {
				stage_note("%s: killed at stop %ld of %ld: %s", scenario.name, at, stops, now);
				wrong_count++;
			}
		}
		if (wrong) {
			stage_note("%s: %s", scenarios[i].name, wrong);
		}
		stage_result(!wrong && wrong_count == 0, "%s, killed at system calls: %lu of %ld places, %lu wrong",
		             scenarios[i].name, kills, stops, wrong_count);
	}
}
