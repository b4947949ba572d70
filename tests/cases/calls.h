/* SPDX-License-Identifier: MIT */
/*
 * calls: what a host can ask of NVRTC, each asked by one command of the player, with every answer printed
 *
 * Calling sequence: calls_open() with the library's path, calls_begin() before each case, call() per command. call()
 * returns 0 where the verb is none of its own. Errors: printed. Threads: one command at a time.
 */
#ifndef TESTS_CASES_CALLS_H
#define TESTS_CASES_CALLS_H

int calls_open(const char *path);
void calls_begin(void);
int call(int count, char **words);

/* Within: what concerns no program, and functions of the library, NULL where it lacks them. */
int call_of_library(const char *verb, int count, char **rest);
void *function(const char *symbol);
#define REAL(type, symbol) ((type)function(symbol))

#endif
