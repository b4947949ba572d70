/* SPDX-License-Identifier: MIT */
/*
 * answers: what a getter gives, of any compiler: its size, its bytes, and whether it wrote where it should not
 *
 * All three compilers have getters of one form: a handle and where the answer goes. Errors: printed. Threads: any.
 */
#ifndef TESTS_CASES_ANSWERS_H
#define TESTS_CASES_ANSWERS_H

#include <stddef.h>

typedef int size_function(void *, size_t *);
typedef int bytes_function(void *, char *);

struct getter {
	const char *what; /* as it is printed */
	size_function *size;
	bytes_function *bytes;
};

/* The library that a variable names. Where there is none, it says so and ends the process. */
void *library_of(const char *variable, const char *what);

/* Of the functions HEAD<what>Size and HEAD<what>, as `find` finds them. */
struct getter getter_of(void *(*find)(const char *), const char *head, const char *what);

enum answer_form { ANSWER_SIZE, ANSWER_HASH, ANSWER_TEXT };

void answer_print(const struct getter *getter, void *handle, enum answer_form form);
/* The bytes as they are, for the caller to free; NULL, and the codes printed, where it gives none. */
char *answer_take(const struct getter *getter, void *handle, size_t *ret_size);

#endif
