/* SPDX-License-Identifier: MIT */
/*
 * interrupt: ^C, SIGTERM and a hang-up during long work
 *
 * Purpose: whoever interrupts a command finds a clean terminal, nothing half done, and the exit status that a shell has
 * for that signal (130 for ^C). What can end anywhere ends at once, its line on the terminal wiped. What must first put
 * something in order holds the signal: it is noted, the work stops at its next step, and interrupt_release() ends the
 * process as the signal would have. A second signal ends it at once. A signal that is ignored (nohup) stays ignored.
 *
 * Calling sequence: interrupt_watch() before a line is drawn; or interrupt_hold(), interrupt_seen() at each step,
 * interrupt_release(). System calls that wait are interrupted (EINTR). Threads: one.
 */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

void interrupt_watch(void);
void interrupt_hold(void);
/* The number of the signal that has come since interrupt_hold(); 0: none. */
int interrupt_seen(void);
/* Does not return where one has come: what was printed is written out first. */
void interrupt_release(void);

#endif
