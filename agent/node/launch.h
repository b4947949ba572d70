/* SPDX-License-Identifier: MIT */
/*
 * launch: the agent's signals, and the program that it is started for: `nvrtccache-agent ... -- program args...`
 *
 * The program runs as if it had been started without the agent: with the same directory, umask, signals and
 * descriptors, and two more variables. The agent forwards SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH
 * and SIGXCPU that a process sends to it, and SIGALRM. A terminal sends its signals to the program too, so these are
 * not forwarded. The agent closes the descriptors that it inherited, except standard error, so that no process waits
 * for the agent to close a pipe or release a lock that the program has closed. The agent ends with the status or signal
 * of the program.
 *
 * Calling sequence: launch_remember() before anything is changed; launch_watch(); launch_start() before there are
 * threads; launch_signal() for each signal; launch_finish() ends the process. Errors: negative errno values.
 * Threads: one.
 */
#ifndef AGENT_NODE_LAUNCH_H
#define AGENT_NODE_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <sys/types.h>

struct launch {
	sigset_t mask; /* at the start of the agent */
	struct sigaction pipe, file_size;
	struct sigaction child_ended; /* a parent may have ignored SIGCHLD, which hides how the child ended */
	int here;                     /* working directory at the start of the agent */
	pid_t child;                  /* 0: none */
	int status;                   /* from waitpid(), if `has_ended` */
	bool has_ended;
};

/* Exit statuses with the values of env(1) and timeout(1). */
enum { LAUNCH_NOT_STARTED = 125, LAUNCH_NOT_RUNNABLE = 126, LAUNCH_NOT_FOUND = 127 };

void launch_remember(struct launch *ret_launch);
/* Returns a signalfd, so that signals are handled between messages, or -1. */
int launch_watch(bool has_program);
/* Forks the program. */
int launch_start(struct launch *launch, char **program);
/* Executes the program in this process. Returns the exit status if that fails, and does not return otherwise. */
int launch_become(const struct launch *launch, char **program);
/* Handles a signal of the agent. Returns true if the agent has to end: there is no program, or it has ended. */
bool launch_signal(struct launch *launch, const struct signalfd_siginfo *signal);
/* Ends the agent as the program ended. `leave` is exit(), or _exit() if threads are still running. */
_Noreturn void launch_finish(const struct launch *launch, void (*leave)(int status));

#endif
