/* SPDX-License-Identifier: MIT */
/*
 * doctor: checks the file that a program's name stands for, and runs a program with a library preloaded
 *
 * executable_find() makes the checks. This file has the text for each trouble.
 */
#include "cli/doctor/doctor.h"

#include "cli/doctor/executable.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool doctor_program(struct findings *findings, const char *name, char ret_path[PATH_MAX])
{
	struct executable program;

	executable_find(name, &program);
	if (program.trouble == EXECUTABLE_NOT_FOUND) {
		finding_add(findings, FINDING_FAIL, "program", "%s: program not found%s", name,
		            strchr(name, '/') ? "" : " in PATH");
	} else if (program.trouble == EXECUTABLE_NO_INTERPRETER) {
		finding_add(findings, FINDING_FAIL, "program", "%s cannot start: its interpreter '%s' is missing", name,
		            program.path);
	} else if (program.trouble != EXECUTABLE_FINE) {
		finding_add(findings, FINDING_FAIL, "program", "%s %s", program.path,
		            executable_words(program.trouble));
	} else if (strcmp(program.script, "") != 0) {
		finding_add(findings, FINDING_OK, "program", "%s is a script that %s runs", program.script,
		            program.path);
	} else {
		finding_add(findings, FINDING_OK, "program", "program: %s", program.path);
	}
	strcpy(ret_path, program.path);
	return program.trouble == EXECUTABLE_FINE;
}

/* Runs in the child. Returns an errno value if the program could not be started; otherwise does not return. */
static int become_program(const struct doctor_start *start)
{
	if ((start->preload[0] ? setenv("LD_PRELOAD", start->preload, 1) : unsetenv("LD_PRELOAD")) < 0) {
		return errno;
	}
	for (size_t i = 0; start->more && start->more[i][0]; i++) {
		if (setenv(start->more[i][0], start->more[i][1], 1) < 0) {
			return errno;
		}
	}
	if (start->output >= 0 && dup2(start->output, STDOUT_FILENO) < 0) {
		return errno;
	}
	(void)execvp(start->argv[0], start->argv);
	return errno;
}

/*
 * Works like system(), but distinguishes a failed execvp() from a program that ended with status 127: the child writes
 * errno to a pipe, which a successful execvp() closes.
 */
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
		error = become_program(start);
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
