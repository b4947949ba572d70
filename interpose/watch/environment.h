/* SPDX-License-Identifier: MIT */
/*
 * environment: the environment variables that a compiler reads, and their values (docs/DESIGN.md)
 *
 * Purpose: returns, in a fixed order for the key, the values of the variables that a compiler is known to read. Also
 * tells whether a variable that the compiler was seen to read is on the compiler's list.
 *
 * Some variables are read when the library is loaded, which may be long before this code runs. Their present value goes
 * into the key. If it differs from the value with which the process started, the request is bypassed, because the
 * library may have read either of the two.
 *
 * Threads: the host must not change its environment meanwhile; if a thread does so by setenv(), glibc's getenv() may
 * crash in another one. A hit reads the environment far more often per second than a compilation does, so each reading
 * here is one fast pass over the array, and none is repeated for single names. Errors: the list of values is
 * always complete. Fork, signals: the values with which the process started are the only state. Ownership: values point
 * into the environment and are valid until the host changes it.
 */
#ifndef INTERPOSE_WATCH_ENVIRONMENT_H
#define INTERPOSE_WATCH_ENVIRONMENT_H

#include "keygen/surroundings.h"

#include <stdatomic.h>
#include <stdbool.h>

/* A compiler's variables are listed in the order of these kinds. */
enum variable_kind {
	VARIABLE_LOAD,  /* read when the library is loaded */
	VARIABLE_CALL,  /* read at each compilation */
	VARIABLE_PLAIN, /* known not to affect the output */
	VARIABLE_PLACE  /* $PWD, which is part of the place that the key describes (keygen/surroundings.h) */
};

struct variable {
	enum variable_kind kind;
	const char *name;
	size_t size;
};

#define ENVIRONMENT_MAX 32

struct initial;

/* The variables of one compiler, made by ENVIRONMENT_OF() from its list X(kind, name). */
struct environment {
	const struct variable *variables;
	size_t count;
	/*
	 * One bit for each length and first letter of the names that are read. These masks reject most other variables
	 * of the host without a comparison.
	 */
	uint64_t lengths, first;
	_Atomic(const struct initial *) initial; /* the values at the start of the process */
};

#define ENVIRONMENT_VARIABLE(kind, name) {VARIABLE_##kind, #name, sizeof(#name) - 1},
#define ENVIRONMENT_ASKS(kind)           (uint64_t)(VARIABLE_##kind <= VARIABLE_CALL)
#define ENVIRONMENT_LENGTH(kind, name)   | ENVIRONMENT_ASKS(kind) << (sizeof(#name) - 1)
#define ENVIRONMENT_FIRST(kind, name)    | ENVIRONMENT_ASKS(kind) << (#name[0] & 63)
#define ENVIRONMENT_OF(list, variables)                                                                                \
	{variables, sizeof(variables) / sizeof((variables)[0]), 0 list(ENVIRONMENT_LENGTH), 0 list(ENVIRONMENT_FIRST), \
	 NULL}

/* Fills `values` with the LOAD and CALL variables, and returns their number. */
size_t environment_values(const struct environment *environment, struct environment_value values[ENVIRONMENT_MAX]);
/* Returns the value of a variable; NULL if it is not set. */
const char *environment_get(const char *name);
/* Returns the first of the names that is set; NULL if none is. They end at `end`, each with a NUL. */
const char *environment_first_set(const char *names, const char *end);
/* Returns true if the LOAD variables have the values with which the process started. */
bool environment_unchanged(struct environment *environment, const struct environment_value *values, size_t count);
/* Returns true if the variable is on the compiler's list. */
bool environment_known(const struct environment *environment, const char *name);
/* Returns $PWD if it names the same directory as ".", which is how NVRTC checks it; otherwise NULL. */
const char *environment_pwd(void);
/*
 * Returns true if the locale of this thread has single-byte letters beyond ASCII (Latin-1, SJIS; but neither "C" nor
 * UTF-8).
 */
bool environment_has_letters(void);

/*
 * Returns NULL if the decimal separator is a dot. Otherwise writes a description of it to `text`, which differs between
 * separators, and returns `text`. ptxas parses the constants of inline assembly by the locale: with a decimal comma it
 * reads "1.5" as 1, in the CUBIN only (12.9 to 13.5). Both the thread's locale and the process's count, because the
 * compiler's own threads use the latter.
 */
#define ENVIRONMENT_DECIMALS_MAX 300
const char *environment_decimals(char text[ENVIRONMENT_DECIMALS_MAX]);

#endif
