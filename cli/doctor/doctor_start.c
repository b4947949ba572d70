/* SPDX-License-Identifier: MIT */
/*
 * doctor: runs a program with a library preloaded
 *
 * Works like system(), but distinguishes a failed execvp() from a program that ended with status 127: the child writes
 * errno to a pipe, which a successful execvp() closes.
 */
#include "cli/doctor/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs in the child. Returns an errno value if the program could not be started; otherwise does not return. */
static int become(const struct doctor_start *start)
{
	if ((start->preload[0] ? setenv("LD_PRELOAD", start->preload, 1) : unsetenv("LD_PRELOAD")) < 0) {
		return errno;
	}
	for (size_t i = 0; start->more && start->more[i][0]; i++) {
		if (setenv(start->more[i][0], start->more[i][1], 1) < 0) {
			return errno;
		}
	}
	if ((start->output >= 0 && dup2(start->output, STDOUT_FILENO) < 0) ||
	    (start->error >= 0 && dup2(start->error, STDERR_FILENO) < 0)) {
		return errno;
	}
	(void)execvp(start->argv[0], start->argv);
	return errno;
}

int doctor_start(const struct doctor_start *start)
{
	struct sigaction ignored = {.sa_handler = SIG_IGN}, interrupt, quit;
	int trouble[2], status = 0, error = 0;
	pid_t pid;

	if (pipe2(trouble, O_CLOEXEC) < 0) {
		return -errno;
	}
	pid = fork();
	if (pid == 0) {
		error = become(start);
		_exit(write(trouble[1], &error, sizeof(error)) == sizeof(error) ? 127 : 126);
	}
	close(trouble[1]);
	/* ignores ^C as system() does: the program gets the signal, and doctor then reports how the program ended */
	(void)sigaction(SIGINT, &ignored, &interrupt);
	(void)sigaction(SIGQUIT, &ignored, &quit);
	/* if execvp() succeeded, it closed the pipe: read() returns 0 bytes and leaves `error` at 0 */
	if (pid < 0 || TEMP_FAILURE_RETRY(read(trouble[0], &error, sizeof(error))) < 0) {
		error = errno;
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	(void)sigaction(SIGINT, &interrupt, NULL);
	(void)sigaction(SIGQUIT, &quit, NULL);
	close(trouble[0]);
	return error ? -error : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
