/* SPDX-License-Identifier: MIT */
/*
 * The program is a child that was forked before the agent had threads. The agent keeps blocked what it forwards,
 * reads signals from a descriptor, and ends by the status or the signal that ended the program.
 */
#include "agent/node/launch.h"

#include "agent/node/service.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* O_PATH: the directory may be one that cannot be read. */
void launch_remember(struct launch *ret_launch)
{
	*ret_launch = (struct launch){.child = 0, .hold = -1};
	pthread_sigmask(SIG_SETMASK, NULL, &ret_launch->mask);
	sigaction(SIGPIPE, NULL, &ret_launch->pipe);
	sigaction(SIGXFSZ, NULL, &ret_launch->file_size);
	sigaction(SIGCHLD, NULL, &ret_launch->child_ended);
	ret_launch->here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void launch_ignore_writes(void)
{
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
}

/* Restores the state that the agent was started with, because the program must not notice the agent. */
int launch_become(const struct launch *launch, char **program)
{
	int error;

	sigaction(SIGPIPE, &launch->pipe, NULL);
	sigaction(SIGXFSZ, &launch->file_size, NULL);
	sigaction(SIGCHLD, &launch->child_ended, NULL);
	if (launch->here >= 0 && fchdir(launch->here) != 0) {
		error = errno;
		service_say("the present directory: %s", strerror(error));
		return LAUNCH_NOT_STARTED;
	}
	pthread_sigmask(SIG_SETMASK, &launch->mask, NULL);
	execvp(program[0], program);
	error = errno;
	service_say("%s: %s", program[0], strerror(error));
	return error == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_RUNNABLE;
}

/* Signals are blocked here as they are in us, so none is lost. */
static void wait_for_release(const int hold[2])
{
	struct pollfd ended = {.fd = hold[0]};

	close(hold[1]);
	(void)poll(&ended, 1, LAUNCH_HELD_MS);
	close(hold[0]);
}

/*
 * Descriptors that the agent opened close at exec. Inherited descriptors belong to the program, and the agent closes
 * its copies: a process that waits for the end of a pipe or for a lock waits only until the program closes it. Messages
 * still go to standard error.
 */
static void leave_files_to_program(void)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	DIR *files = opendir("/proc/self/fd");
	const struct dirent *file;

	if (nothing >= 0) {
		(void)dup3(nothing, STDIN_FILENO, O_CLOEXEC);
		(void)dup3(nothing, STDOUT_FILENO, O_CLOEXEC);
		close(nothing);
	}
	while (files != NULL && (file = readdir(files)) != NULL) {
		int number = atoi(file->d_name);

		if (number > STDERR_FILENO && fcntl(number, F_GETFD) == 0) {
			close(number);
		}
	}
	if (files != NULL) {
		closedir(files);
	}
}

/* Forked before there are threads: a child of a process with threads may only call what is safe in signal handlers. */
int launch_start(struct launch *launch, char **program, enum launch_when when)
{
	int hold[2] = {-1, -1};
	pid_t child;

	if (when == LAUNCH_HELD && pipe2(hold, O_CLOEXEC) != 0) {
		return -errno;
	}
	child = fork();
	if (child == 0) {
		if (when == LAUNCH_HELD) {
			wait_for_release(hold);
		}
		_exit(launch_become(launch, program));
	}
	if (hold[0] >= 0) {
		close(hold[0]);
	}
	if (child < 0) {
		int error = errno;

		if (hold[1] >= 0) {
			close(hold[1]);
		}
		return -error;
	}
	if (launch->here >= 0) { /* or its file system could not be unmounted */
		close(launch->here);
		launch->here = -1;
	}
	leave_files_to_program();
	atomic_store(&launch->hold, hold[1]);
	launch->child = child;
	return 0;
}

/* The program waits for the end of this pipe. */
void launch_release(struct launch *launch)
{
	int hold = atomic_exchange(&launch->hold, -1);

	if (hold >= 0) {
		close(hold);
	}
}

static bool has_ended(struct launch *launch)
{
	int status;

	/* as the first process of a container the agent also inherits orphans */
	while (!launch->ended) {
		pid_t gone = waitpid(-1, &status, WNOHANG);

		if (gone <= 0) {
			return false;
		}
		launch->ended = gone == launch->child;
	}
	launch->status = status;
	return true;
}

/* Some process has sent it to us alone (SI_USER and the like), or the kernel has, and no signal of a terminal. */
static bool is_for_program(const struct signalfd_siginfo *signal)
{
	switch ((int)signal->ssi_signo) {
	case SIGALRM: /* timers survive exec(): alarm() may have been set before */
	case SIGVTALRM:
	case SIGPROF:
		return true;
	case SIGHUP: /* when a terminal disconnects, the kernel signals only the session leader */
		return signal->ssi_code <= 0 || getsid(0) == getpid();
	default: /* sent by this process to itself, as SIGPIPE and SIGXFSZ are */
		return signal->ssi_code <= 0 && signal->ssi_pid != (uint32_t)getpid();
	}
}

/* With what came with it. */
static void hand_on(const struct launch *launch, const struct signalfd_siginfo *signal)
{
	const union sigval value = {.sival_ptr = (void *)(uintptr_t)signal->ssi_ptr};

	if (signal->ssi_code != SI_QUEUE || sigqueue(launch->child, (int)signal->ssi_signo, value) != 0) {
		(void)kill(launch->child, (int)signal->ssi_signo);
	}
}

/* A signal may mean that the program is not to begin at all, so one that is held gets it first. */
bool launch_signal(struct launch *launch, const struct signalfd_siginfo *signal)
{
	if (signal->ssi_signo == SIGCHLD) {
		return has_ended(launch);
	}
	if (is_for_program(signal)) { /* one that is held has it before it begins */
		hand_on(launch, signal);
	}
	launch_release(launch);
	return false;
}

/* By the same signal, so that a shell or a batch system sees what it would have seen. */
void launch_finish(const struct launch *launch, void (*leave)(int status))
{
	struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
	struct sigaction preset = {.sa_handler = SIG_DFL};
	sigset_t all;
	int number;

	if (WIFEXITED(launch->status)) {
		leave(WEXITSTATUS(launch->status));
	}
	number = WTERMSIG(launch->status);
	(void)setrlimit(RLIMIT_CORE, &none); /* the program's own is enough */
	(void)sigaction(number, &preset, NULL);
	sigemptyset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	(void)raise(number);
	leave(128 + number); /* as a shell has it */
	_exit(128 + number);
}
