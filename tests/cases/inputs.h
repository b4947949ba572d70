/* SPDX-License-Identifier: MIT */
/*
 * inputs: what is given to nvJitLink and libNVVM, by names: texts of the case, results of all three compilers, and
 * containers made of them (fat binaries, objects, libraries, as nvcc makes them)
 *
 * Calling sequence: inputs_begin() before each case; call_of_inputs() per command, 0 where the verb is none of its own.
 * Errors: printed. Threads: one command at a time.
 */
#ifndef TESTS_CASES_INPUTS_H
#define TESTS_CASES_INPUTS_H

#include <stddef.h>

struct input {
	char *name;
	char *bytes; /* a NUL behind them */
	size_t size;
};

/* What lies behind the bytes, and whether it counts: all a host can do with the NUL of a text. */
enum ending { ENDING_BEHIND, ENDING_INSIDE, ENDING_NONE };

void inputs_begin(void);
int call_of_inputs(const char *verb, int count, char **rest);
/* Takes the bytes. NULL is no input, and nothing happens. */
void inputs_keep(const char *name, char *bytes, size_t size);
/* A copy lent to one call (loans.h); NULL for the name NULL, of no bytes, and for one that nobody kept, with a complaint. */
char *inputs_give(const char *name, const char *argument, enum ending ending, size_t *ret_size);

#endif
