/* SPDX-License-Identifier: MIT */
#include "cli/warm/jobs.h"

#include "cli/console/console.h"
#include "cli/console/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- one worker ---- */

__attribute__((format(printf, 2, 3))) static void explain(struct job *job, const char *format, ...)
{
	va_list arguments;

	job->verdict.outcome = JOB_FAILED;
	va_start(arguments, format);
	(void)vsnprintf(job->verdict.why, sizeof(job->verdict.why), format, arguments);
	va_end(arguments);
}

/*
 * Sets what the loader and the library in workers read. A worker enters the directory of its request, so the loader
 * must search only directories that are absolute.
 */
static bool set_variables(const struct jobs *jobs)
{
	static const char *const unset[] = {"NVRTCCACHE_DISABLE", "NVRTCCACHE_VERIFY", "NVRTCCACHE_RECACHE",
	                                    "NVRTCCACHE_STATS",   "NVRTCCACHE_TRACE",  "NVRTCCACHE_RECORD"};
	const char *list = getenv("LD_LIBRARY_PATH");
	char *words = strdup(list ? list : ""), *kept = calloc(1, strlen(list ? list : "") + 1), *rest = NULL;
	bool done = words && kept;

	for (char *word = done ? strtok_r(words, ":;", &rest) : NULL; word; word = strtok_r(NULL, ":;", &rest)) {
		if (*word == '/') {
			strcat(strcat(kept, kept[0] ? ":" : ""), word);
		}
	}
	for (size_t i = 0; i < sizeof(unset) / sizeof(unset[0]); i++) {
		(void)unsetenv(unset[i]);
	}
	done = done && (kept[0] ? setenv("LD_LIBRARY_PATH", kept, 1) : unsetenv("LD_LIBRARY_PATH")) == 0 &&
	       setenv("NVRTCCACHE_DIR", jobs->directory.path, 1) == 0 &&
	       (jobs->mode == REPLAY_CHECK || setenv("NVRTCCACHE_RECORD", "1", 1) == 0);
	free(words);
	free(kept);
	return done;
}

/* The child: its own process group, so that ^C on the terminal does not end what it compiles. */
__attribute__((noreturn)) static void become_worker(const struct jobs *jobs, const struct job *job, int request,
                                                    int output, pid_t parent)
{
	char *words[] = {WORKER_NAME, (char *)(uintptr_t)job->compiler, (char *)(uintptr_t)job->arch,
	                 jobs->mode == REPLAY_COMPILE ? "1" : "2", NULL};
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)setpgid(0, 0);
	(void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* a core would lie in the request's directory */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && dup2(request, STDIN_FILENO) >= 0 &&
	    dup2(output, STDOUT_FILENO) >= 0 && dup2(nothing, STDERR_FILENO) >= 0) {
		(void)execv("/proc/self/exe", words);
	}
	_exit(EXIT_TROUBLE);
}

/*
 * A request that cannot be opened is a failure of that request alone; without a pipe or a process no other worker can
 * start either, so that ends the run.
 */
static int start_worker(const struct jobs *jobs, struct job *job)
{
	int ends[2], request = -1;
	int error = jobs->open(jobs, job, &request);
	pid_t parent = getpid();

	if (error < 0) {
		explain(job, "%s",
		        error != -ECANCELED          ? console_reason(error)
		        : jobs->mode == REPLAY_CHECK ? "an input is not in the cache"
		                                     : "the compilation of an input failed");
		return 0;
	}
	if (pipe2(ends, O_CLOEXEC) < 0) {
		error = -errno;
		close(request);
		return error;
	}
	job->worker = fork();
	if (job->worker == 0) {
		become_worker(jobs, job, request, ends[1], parent);
	}
	error = job->worker < 0 ? -errno : 0;
	job->output = ends[0];
	close(ends[1]);
	close(request);
	return error;
}

/* ---- all workers ---- */

static void show_progress(const struct jobs *jobs, int64_t began_ns)
{
	static char doing[80];
	char left[CONSOLE_NUMBER_BYTES], failed[CONSOLE_NUMBER_BYTES];
	uint64_t whole_ns = 0, done_ns = 0, took_ns = (uint64_t)(progress_clock() - began_ns);
	size_t done = 0, failures = 0;

	for (const struct job *job = jobs->list; job < jobs->list + jobs->count; job++) {
		bool ended = job->verdict.outcome != JOB_WAITS;

		whole_ns += job->request->cost_ns;
		done_ns += ended ? job->request->cost_ns : 0;
		failures += job->verdict.outcome == JOB_FAILED;
		done += ended;
	}
	(void)snprintf(
	    doing, sizeof(doing), "%s, %s failed, %s left", jobs->mode == REPLAY_CHECK ? "checking" : "warming",
	    console_count(failures, failed),
	    done_ns ? console_time((uint64_t)((double)took_ns * (double)(whole_ns - done_ns) / (double)done_ns), left)
	            : "?");
	progress_show(done, jobs->count, PROGRESS_KNOWN);
	if (done == 0) {
		progress_begin(doing);
	}
}

/*
 * Waits until a worker ends, at most 200 ms, so that the progress line moves and ^C is seen while long compilations
 * run. Returns the number of one that has ended, or `count`.
 */
static size_t wait_for_worker(struct job **running, size_t count)
{
	struct pollfd polled[JOBS_MAX];
	size_t ended = 0;

	for (size_t i = 0; i < count; i++) {
		polled[i] = (struct pollfd){.fd = running[i]->output}; /* the end of a pipe needs no event */
	}
	if (poll(polled, count, 200) <= 0) {
		return count;
	}
	while (ended < count && !polled[ended].revents) {
		ended++;
	}
	return ended;
}

/*
 * A worker that was killed, or that ended before it said something, has not stored anything that could be wrong: the
 * library stores a result only when the call has returned.
 */
static void end_job(struct job *job)
{
	bool told = read(job->output, &job->verdict, sizeof(job->verdict)) == sizeof(job->verdict);
	int status = 0;

	close(job->output);
	while (waitpid(job->worker, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status)) {
		explain(job, "the compiler was killed by signal %d", WTERMSIG(status));
	} else if (!told) {
		explain(job, "the worker failed");
	}
}

/*
 * Workers are started in the order of the list, most expensive first: the short ones then fill the gaps at the end.
 * After ^C none is started, and those that run are waited for, so nothing that they compiled is lost.
 */
int jobs_run(struct jobs *jobs)
{
	struct job *running[JOBS_MAX];
	size_t next = 0, count = 0, ended;
	int64_t began_ns = progress_clock();
	int error = set_variables(jobs) ? 0 : -ENOMEM;

	for (;;) {
		while (error == 0 && interrupt_seen() == 0 && count < jobs->parallel && next < jobs->count &&
		       (count == 0 || running[0]->request->is_link == jobs->list[next].request->is_link)) {
			running[count] = &jobs->list[next++];
			error = start_worker(jobs, running[count]);
			count += error == 0 && running[count]->verdict.outcome == JOB_WAITS;
		}
		if (count == 0) {
			break;
		}
		show_progress(jobs, began_ns);
		ended = wait_for_worker(running, count);
		if (ended < count) {
			end_job(running[ended]);
			running[ended] = running[--count];
		}
	}
	progress_end();
	return error;
}
