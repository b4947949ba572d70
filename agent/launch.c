/* SPDX-License-Identifier: MIT */
#include "agent/launch.h"

#include "agent/service.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void launch_remember(struct launch *ret_launch)
{
	struct launch launch = {.child = 0};

	pthread_sigmask(SIG_SETMASK, NULL, &launch.mask);
	sigaction(SIGPIPE, NULL, &launch.pipe);
	sigaction(SIGCHLD, NULL, &launch.child_ended);
	launch.here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	*ret_launch = launch;
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

int launch_start(struct launch *launch, char **program)
{
	pid_t child = fork();

	if (child < 0) {
		return -errno;
	}
	if (child == 0) {
		_exit(launch_become(launch, program));
	}
	launch->child = child;
	return 0;
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
	/* SI_USER, SI_QUEUE and the like: some process has sent it to us alone */
	if (signal->ssi_code <= 0) {
		(void)kill(launch->child, number);
	}
	return false;
}

void launch_finish(const struct launch *launch)
{
	struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
	struct sigaction preset = {.sa_handler = SIG_DFL};
	sigset_t all;
	int number;

	if (WIFEXITED(launch->status)) {
		exit(WEXITSTATUS(launch->status));
	}
	number = WTERMSIG(launch->status);
	(void)setrlimit(RLIMIT_CORE, &none); /* the program's own is enough */
	(void)sigaction(number, &preset, NULL);
	sigemptyset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	(void)raise(number);
	exit(128 + number); /* as a shell has it */
}
