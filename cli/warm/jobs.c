/* SPDX-License-Identifier: MIT */
#include "cli/warm/jobs.h"

#include "cli/console/console.h"
#include "cli/console/progress.h"

#include <errno.h>
#include <fcntl.h>
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
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
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

/*
 * A worker that was killed, or that ended before it said something, has not stored anything that could be wrong: the
 * library stores a result only when the call has returned. The pipe has room for what it says.
 */
static void end_job(struct job *job, int status)
{
	bool told = read(job->output, &job->verdict, sizeof(job->verdict)) == sizeof(job->verdict);

	close(job->output);
	job->worker = 0;
	if (WIFSIGNALED(status)) {
		explain(job, "the compiler was killed by signal %d", WTERMSIG(status));
	} else if (!told) {
		explain(job, "the worker failed");
	}
}

/* Waits until a worker ends. Returns false after a signal: those that run go on. */
static bool wait_for_worker(struct jobs *jobs)
{
	int status = 0;
	pid_t pid = wait(&status);

	for (size_t i = 0; i < jobs->count && pid > 0; i++) {
		if (jobs->list[i].worker == pid) {
			end_job(&jobs->list[i], status);
			return true;
		}
	}
	return false;
}

/* Returns whether the next job may start: a link waits until all compilations have ended. */
static bool may_start(const struct jobs *jobs, size_t next, size_t running)
{
	const struct job *job = &jobs->list[next];

	return interrupt_seen() == 0 && next < jobs->count && running < jobs->parallel &&
	       (running == 0 || job->request->is_link == job[-1].request->is_link);
}

/*
 * Workers are started in the order of the list, most expensive first: the short ones then fill the gaps at the end.
 * After ^C none is started, and those that run are waited for, so nothing that they compiled is lost.
 */
int jobs_run(struct jobs *jobs)
{
	size_t next = 0, running = 0;
	int error = set_variables(jobs) ? 0 : -ENOMEM;

	progress_begin(jobs->mode == REPLAY_CHECK ? "checking" : "warming");
	for (;;) {
		while (error == 0 && may_start(jobs, next, running)) {
			error = start_worker(jobs, &jobs->list[next]);
			running += jobs->list[next++].worker > 0;
		}
		if (running == 0) {
			break;
		}
		progress_show(next - running, jobs->count);
		running -= wait_for_worker(jobs);
	}
	console_status("");
	return error;
}
