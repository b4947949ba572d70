/* SPDX-License-Identifier: MIT */
/*
 * slots: puts other functions into the import slots of a loaded library that is bound at load
 *
 * Errors: a sentence, or the name of an import that nobody knows. Threads: one.
 */
#ifndef FAULTS_SLOTS_H
#define FAULTS_SLOTS_H

#include <stdbool.h>

typedef void slots_function(void);

/* What is to be called instead of `name` (NULL: itself). False: not known, and nothing is put there. */
typedef bool slots_choice(const char *name, slots_function **ret_instead);

/* NULL, or what is wrong. *ret_redirected: how many slots have another function now. */
const char *slots_redirect(const char *library, slots_choice *choose, unsigned *ret_redirected);

#endif
