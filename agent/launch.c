/* SPDX-License-Identifier: MIT */
#include "agent/launch.h"

#include "agent/service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void launch_remember(struct launch *ret_launch)
{
	*ret_launch = (struct launch){.child = 0, .hold = -1};
	pthread_sigmask(SIG_SETMASK, NULL, &ret_launch->mask);
	sigaction(SIGPIPE, NULL, &ret_launch->pipe);
	sigaction(SIGCHLD, NULL, &ret_launch->child_ended);
	ret_launch->here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int launch_become(const struct launch *launch, char **program)
{
	int error;

	sigaction(SIGPIPE, &launch->pipe, NULL);
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
	atomic_store(&launch->hold, hold[1]);
	launch->child = child;
	return 0;
}

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

	/* others may be children of ours where we are the first process of a container */
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

bool launch_signal(struct launch *launch, const struct signalfd_siginfo *signal)
{
	int number = (int)signal->ssi_signo;

	if (number == SIGCHLD) {
		return has_ended(launch);
	}
	/* SI_USER, SI_QUEUE and the like: some process has sent it to us alone. A program that is held has it before it begins. */
	if (signal->ssi_code <= 0) {
		(void)kill(launch->child, number);
	}
	launch_release(launch);
	return false;
}

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
