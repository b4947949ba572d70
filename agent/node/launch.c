/* SPDX-License-Identifier: MIT */
/*
 * The program is a child that is forked before the agent has threads. The agent blocks the signals that it forwards,
 * reads them from a signalfd, and ends with the status or the signal that ended the program.
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

/* The directory is opened with O_PATH, because it may not be readable. */
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

/* Restores directory, signal handling and mask, because the program must run as without the agent. */
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

/* Runs in the child. Signals are still blocked, so none that arrives before exec() is lost. */
static void wait_for_release(const int hold[2])
{
	struct pollfd ended = {.fd = hold[0]};

	close(hold[1]);
	(void)poll(&ended, 1, LAUNCH_HELD_MS);
	close(hold[0]);
}

/*
 * Closes the agent's copies of inherited descriptors, which belong to the program: a process that waits for the end of
 * a pipe or for a lock then waits only until the program closes it. Descriptors that the agent opens have O_CLOEXEC.
 * Standard error stays open for messages.
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

/* Forks before there are threads: a child of a process with threads may call only async-signal-safe functions. */
int launch_start(struct launch *launch, char **program)
{
	int hold[2];
	int error;

	if (pipe2(hold, O_CLOEXEC) != 0) {
		return -errno;
	}
	launch->child = fork();
	if (launch->child == 0) {
		wait_for_release(hold);
		_exit(launch_become(launch, program));
	}
	error = -errno;
	close(hold[0]);
	if (launch->child < 0) {
		launch->child = 0;
		close(hold[1]);
		return error;
	}
	if (launch->here >= 0) { /* closed, because it would prevent unmounting that file system */
		close(launch->here);
		launch->here = -1;
	}
	leave_files_to_program();
	atomic_store(&launch->hold, hold[1]);
	return 0;
}

/* Closes the pipe, whose end the held program waits for. */
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

	/* waits for any child, because the agent inherits orphans if it is the first process of a container */
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

/*
 * Returns whether a signal has to be forwarded: a process sent it to the agent (SI_USER and the like), or the kernel
 * did and it is not a terminal's signal, which the program gets too.
 */
static bool is_for_program(const struct signalfd_siginfo *signal)
{
	switch ((int)signal->ssi_signo) {
	case SIGALRM: /* timers survive exec(), so one may have been set for the program before the agent */
	case SIGVTALRM:
	case SIGPROF:
		return true;
	case SIGHUP: /* when a terminal disconnects, the kernel signals only the session leader */
		return signal->ssi_code <= 0 || getsid(0) == getpid();
	default: /* not the signals that this process raises itself, such as SIGPIPE and SIGXFSZ */
		return signal->ssi_code <= 0 && signal->ssi_pid != (uint32_t)getpid();
	}
}

/* Forwards a signal, and the value that sigqueue() sent with it. */
static void hand_on(const struct launch *launch, const struct signalfd_siginfo *signal)
{
	const union sigval value = {.sival_ptr = (void *)(uintptr_t)signal->ssi_ptr};

	if (signal->ssi_code != SI_QUEUE || sigqueue(launch->child, (int)signal->ssi_signo, value) != 0) {
		(void)kill(launch->child, (int)signal->ssi_signo);
	}
}

/* A held program is released by a signal. It gets the signal first, which may end it before it starts. */
bool launch_signal(struct launch *launch, const struct signalfd_siginfo *signal)
{
	if (launch->child == 0 || signal->ssi_signo == SIGCHLD) {
		return launch->child == 0 || has_ended(launch);
	}
	if (is_for_program(signal)) { /* before launch_release(), so that it is pending at exec() */
		hand_on(launch, signal);
	}
	launch_release(launch);
	return false;
}

/* Ends the agent by the signal that ended the program, so that a shell or batch system sees the same status. */
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
	(void)setrlimit(RLIMIT_CORE, &none); /* the program has written its own core file */
	(void)sigaction(number, &preset, NULL);
	sigemptyset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	(void)raise(number);
	leave(128 + number); /* the status of a shell */
	_exit(128 + number);
}
