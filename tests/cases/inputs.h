/* SPDX-License-Identifier: MIT */
/*
 * inputs: what is given to nvJitLink and libNVVM, by names: texts of the case, results of all three compilers, and
 * containers made of them (fat binaries, objects, libraries, as nvcc makes them)
 *
 * Calling sequence: inputs_begin() before each case; call_of_inputs() per command, 0 where the verb is none of its own.
 * Errors: printed. Ownership: what inputs_give() gives is the caller's. Threads: one command at a time.
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
/* A copy for one call; NULL for the name NULL, of no bytes, and for one that nobody kept, with a complaint. */
char *inputs_give(const char *name, enum ending ending, size_t *ret_size);
/* The host's buffer, once the call has returned. */
void inputs_scribble(char *bytes, size_t size);

#endif
