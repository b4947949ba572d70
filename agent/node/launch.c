/* SPDX-License-Identifier: MIT */
/*
 * The program is a child that is forked before the agent has threads. The agent blocks the signals that it handles,
 * reads them from a signalfd, and ends with the status or the signal that ended the program.
 */
#include "agent/node/launch.h"

#include "agent/node/service.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const int ending[] = {SIGTERM, SIGINT, SIGHUP};
static const int forwarded[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGXCPU, SIGALRM};

/* The directory is opened with O_PATH, because it may not be readable. */
void launch_remember(struct launch *ret_launch)
{
	*ret_launch = (struct launch){.child = 0};
	pthread_sigmask(SIG_SETMASK, NULL, &ret_launch->mask);
	sigaction(SIGPIPE, NULL, &ret_launch->pipe);
	sigaction(SIGXFSZ, NULL, &ret_launch->file_size);
	sigaction(SIGCHLD, NULL, &ret_launch->child_ended);
	ret_launch->here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Adds signals to the set, except those that are ignored since the start; these stay ignored. */
static void add_signals(sigset_t *set, const int *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct sigaction found;

		if (sigaction(numbers[i], NULL, &found) == 0 && found.sa_handler != SIG_IGN) {
			sigaddset(set, numbers[i]);
		}
	}
}

/* Writes to closed pipes or beyond RLIMIT_FSIZE fail with an errno value, which is reported, and not with a signal. */
int launch_watch(bool has_program)
{
	const struct sigaction preset = {.sa_handler = SIG_DFL};
	sigset_t set;

	sigemptyset(&set);
	add_signals(&set, ending, sizeof(ending) / sizeof(ending[0]));
	if (has_program) {
		add_signals(&set, forwarded, sizeof(forwarded) / sizeof(forwarded[0]));
		(void)sigaction(SIGCHLD, &preset, NULL);
		sigaddset(&set, SIGCHLD);
	}
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Restores directory, signal handling and mask, because the program must run as without the agent. */
int launch_become(const struct launch *launch, char **program)
{
	int error;

	sigaction(SIGPIPE, &launch->pipe, NULL);
	sigaction(SIGXFSZ, &launch->file_size, NULL);
	sigaction(SIGCHLD, &launch->child_ended, NULL);
	if (launch->here >= 0 && fchdir(launch->here) != 0) {
		service_say("the present directory: %s", strerror(errno));
		return LAUNCH_NOT_STARTED;
	}
	pthread_sigmask(SIG_SETMASK, &launch->mask, NULL);
	execvp(program[0], program);
	error = errno;
	service_say("%s: %s", program[0], strerror(error));
	return error == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_RUNNABLE;
}

/*
 * Closes the agent's copies of inherited descriptors, which belong to the program: a process that waits for the end of
 * a pipe or for a lock then waits only until the program closes it. Descriptors that the agent opens have O_CLOEXEC.
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
	launch->child = fork();
	if (launch->child == 0) {
		_exit(launch_become(launch, program));
	}
	if (launch->child < 0) {
		launch->child = 0;
		return -errno;
	}
	if (launch->here >= 0) { /* closed, because it would prevent unmounting that file system */
		close(launch->here);
		launch->here = -1;
	}
	leave_files_to_program();
	return 0;
}

static bool has_ended(struct launch *launch)
{
	int status;

	/* waits for any child, because the agent inherits orphans if it is the first process of a container */
	while (!launch->has_ended) {
		pid_t gone = waitpid(-1, &status, WNOHANG);

		if (gone <= 0) {
			return false;
		}
		launch->has_ended = gone == launch->child;
	}
	launch->status = status;
	return true;
}

/* When a terminal disconnects, the kernel signals only the session leader. */
bool launch_signal(struct launch *launch, const struct signalfd_siginfo *signal)
{
	bool is_from_process = signal->ssi_code <= 0;
	bool is_hangup = signal->ssi_signo == SIGHUP && getsid(0) == getpid();

	if (launch->child == 0 || signal->ssi_signo == SIGCHLD) {
		return launch->child == 0 || has_ended(launch);
	}
	/* timers survive exec(), so SIGALRM may have been set for the program before the agent */
	if (is_from_process || is_hangup || signal->ssi_signo == SIGALRM) {
		(void)kill(launch->child, (int)signal->ssi_signo);
	}
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
