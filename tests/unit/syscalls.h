/* SPDX-License-Identifier: MIT */
/*
 * syscalls: counts the system calls of a piece of work, step by step
 *
 * Use: syscalls_count(body, context, steps, counts) runs body(context, i) for each step in a traced child; counts[i]
 * says how many system calls the step made. False: tracing is not allowed here, and the test should be skipped.
 */
#ifndef TESTS_SYSCALLS_H
#define TESTS_SYSCALLS_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ptrace.h>

struct syscalls {
	unsigned all;
	unsigned stats;   /* newfstatat */
	unsigned lists;   /* getdents64 */
	unsigned removed; /* unlinkat */
	unsigned timed;   /* utimensat */
	unsigned users;   /* geteuid, getresuid: whose the process is */
	unsigned slept;   /* clock_nanosleep, nanosleep */
};

static inline void syscalls_child(void (*body)(void *context, unsigned step), void *context, unsigned steps)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
		_exit(77);
	}
	(void)raise(SIGSTOP);
	for (unsigned i = 0; i < steps; i++) {
		(void)syscall(SYS_getppid); /* marks the border between steps; no other code here calls it */
		body(context, i);
	}
	(void)syscall(SYS_getppid);
	_exit(0);
}

static inline bool syscalls_count(void (*body)(void *context, unsigned step), void *context, unsigned steps,
                                  struct syscalls *counts)
{
	pid_t child = fork();
	int status;
	int step = -1;

	if (child == 0) {
		syscalls_child(body, context, steps);
	}
	memset(counts, 0, steps * sizeof(*counts));
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
		return false;
	}
	(void)ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
	while (ptrace(PTRACE_SYSCALL, child, NULL, NULL) == 0 && waitpid(child, &status, 0) == child) {
		struct ptrace_syscall_info info = {0};

		if (!WIFSTOPPED(status)) {
			break;
		}
		if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			continue;
		}
		if (ptrace(PTRACE_GET_SYSCALL_INFO, child, (void *)sizeof(info), &info) <= 0) {
			(void)kill(child, SIGKILL);
			(void)waitpid(child, &status, 0);
			return false;
		}
		if (info.op != PTRACE_SYSCALL_INFO_ENTRY) {
			continue;
		}
		if (info.entry.nr == SYS_getppid) {
			step++;
		} else if (step >= 0 && step < (int)steps) {
			counts[step].all++;
			counts[step].stats += info.entry.nr == SYS_newfstatat;
			counts[step].lists += info.entry.nr == SYS_getdents64;
			counts[step].removed += info.entry.nr == SYS_unlinkat;
			counts[step].timed += info.entry.nr == SYS_utimensat;
			counts[step].users += info.entry.nr == SYS_geteuid || info.entry.nr == SYS_getresuid;
			counts[step].slept += info.entry.nr == SYS_clock_nanosleep || info.entry.nr == SYS_nanosleep;
		}
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 && step == (int)steps;
}

#endif
