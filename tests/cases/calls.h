/* SPDX-License-Identifier: MIT */
/*
 * calls: what a host can ask of the compilers, each asked by one command of the player, with every answer printed
 *
 * Calling sequence: calls_open() with the library's path, calls_begin() before each case, call() per command. call()
 * returns 0 where the verb is none of its own. Errors: printed. Threads: one command at a time.
 */
#ifndef TESTS_CASES_CALLS_H
#define TESTS_CASES_CALLS_H

#include <stddef.h>

int calls_open(const char *path);
void calls_begin(void);
int call(int count, char **words);

/* What the current program has, for the caller to free; NULL: nothing, and why is printed. */
char *call_product(const char *what, size_t *ret_size);

/* nvJitLink and libNVVM, of which the libraries are named by NVJITLINK_LIB and NVVM_LIB and opened when first asked. */
void linker_begin(void);
int call_of_linker(const char *verb, int count, char **rest);
void nvvm_begin(void);
int call_of_nvvm(const char *verb, int count, char **rest);

/* Within: what concerns no program, and functions of the library, NULL where it lacks them. */
int call_of_library(const char *verb, int count, char **rest);
void *function(const char *symbol);

#endif
