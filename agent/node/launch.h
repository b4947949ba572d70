/* SPDX-License-Identifier: MIT */
/*
 * launch: the program that an agent is started for: `nvrtccache-agent ... -- program args...`
 *
 * The program runs as if it had been started without the agent: the same directory, umask, signals and descriptors, and
 * two more variables. Signals that a process sends to the agent are forwarded, and those of the kernel that reach only
 * the agent; a terminal's signals reach the program anyway. The agent closes the descriptors that it inherited, except
 * standard error: nobody waits for the agent to close a pipe or release a lock that the program has closed. The agent
 * ends as the program ended. The program can be held before it begins, until its bundle is in the directory.
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
	sigset_t mask; /* as we found it */
	struct sigaction pipe, file_size;
	struct sigaction
	    child_ended; /* a parent may have ignored SIGCHLD, and then waitpid() cannot report how the child ended */
	int here;        /* the directory that we were started in */
	pid_t child;     /* 0: none */
	int status;      /* of waitpid(), once it has ended */
	bool ended;
	_Atomic int hold; /* closing it starts the program; -1: it has started */
};

#define LAUNCH_HELD_MS 10000
enum launch_when { LAUNCH_AT_ONCE, LAUNCH_HELD };

/* As env and timeout have them. */
enum { LAUNCH_NOT_STARTED = 125, LAUNCH_NOT_RUNNABLE = 126, LAUNCH_NOT_FOUND = 127 };

void launch_remember(struct launch *ret_launch);
/*
 * SIGPIPE and SIGXFSZ: a write to a closed pipe, or past RLIMIT_FSIZE, raises them, and the write also fails with an
 * errno.
 */
void launch_ignore_writes(void);
/* HELD: it waits to be released, though no longer than LAUNCH_HELD_MS, and not when we are gone. */
int launch_start(struct launch *launch, char **program, enum launch_when when);
void launch_release(struct launch *launch); /* any thread, any number of times */
/* In this process. Returns only if the program cannot be run, with the exit status for that. */
int launch_become(const struct launch *launch, char **program);
/* True: the program has ended. */
bool launch_signal(struct launch *launch, const struct signalfd_siginfo *signal);
/* `leave`: exit() or, where threads are left that it would disturb, _exit(). */
_Noreturn void launch_finish(const struct launch *launch, void (*leave)(int status));

#endif
