/* SPDX-License-Identifier: MIT */
/*
 * launch: runs the program that an agent is started for: `nvrtccache-agent ... -- program args...`
 *
 * The program runs as if it had been started without the agent: with the same directory, umask, signals and
 * descriptors, and two more variables. The agent forwards signals that a process sends to it, and signals of the kernel
 * that reach only the agent. A terminal sends its signals to the program too, so these are not forwarded. The agent
 * closes the descriptors that it inherited, except standard error, so that no process waits for the agent to close a
 * pipe or release a lock that the program has closed. The agent ends with the status or signal of the program. The
 * program can be held before exec() until its bundle is in the directory.
 *
 * Calling sequence: launch_remember() before anything is changed; launch_start() before there are threads;
 * launch_signal() for each signal, which also releases a held program; launch_finish() ends the process.
 * Errors: negative errno values. Threads: one.
 */
#ifndef AGENT_NODE_LAUNCH_H
#define AGENT_NODE_LAUNCH_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <sys/types.h>

struct launch {
	sigset_t mask; /* at the start of the agent */
	struct sigaction pipe, file_size;
	struct sigaction
	    child_ended; /* a parent may have ignored SIGCHLD, and then waitpid() cannot report how the child ended */
	int here;        /* working directory at the start of the agent */
	pid_t child;     /* 0: none */
	int status;      /* from waitpid(), if `ended` */
	bool ended;
	_Atomic int hold; /* closing it starts the program; -1: it has started */
};

#define LAUNCH_HELD_MS 10000

/* Exit statuses with the values of env(1) and timeout(1). */
enum { LAUNCH_NOT_STARTED = 125, LAUNCH_NOT_RUNNABLE = 126, LAUNCH_NOT_FOUND = 127 };

void launch_remember(struct launch *ret_launch);
/*
 * Ignores SIGPIPE and SIGXFSZ, which a write to a closed pipe or beyond RLIMIT_FSIZE raises. The write also fails with
 * an errno value, which is reported.
 */
void launch_ignore_writes(void);
/* Forks the program, which waits for launch_release(), but at most LAUNCH_HELD_MS, and not if the agent exits. */
int launch_start(struct launch *launch, char **program);
void launch_release(struct launch *launch); /* may be called by any thread, any number of times */
/* Executes the program in this process. Returns the exit status if that fails, and does not return otherwise. */
int launch_become(const struct launch *launch, char **program);
/* Handles a signal of the agent. Returns true if the agent has to end: there is no program, or it has ended. */
bool launch_signal(struct launch *launch, const struct signalfd_siginfo *signal);
/* Ends the agent as the program ended. `leave` is exit(), or _exit() if threads are still running. */
_Noreturn void launch_finish(const struct launch *launch, void (*leave)(int status));

#endif
