/* SPDX-License-Identifier: MIT */
/*
 * environment: the variables that a compiler reads, and their values (docs/DESIGN.md B1, B9)
 *
 * Purpose: gives the values of the variables that a compiler is known to read, in a fixed order, for the key; and tells
 * of a variable that was seen to be asked for whether it is on the compiler's list.
 *
 * Some are read when the library is loaded, which may be long before we hear of it. Their value in the key is the
 * present one, and the request is passed through when it differs from the one the process started with: then nobody
 * knows which of the two the library saw.
 *
 * Threads: like getenv: safe as long as the host does not change its environment meanwhile.
 * Errors: a variable list is always produced. Fork, signals: no state but the values read at the start.
 * Ownership: values point into the environment: use them before the host can change it.
 */
#ifndef INTERPOSE_WATCH_ENVIRONMENT_H
#define INTERPOSE_WATCH_ENVIRONMENT_H

#include "keygen/surroundings.h"

#include <stdatomic.h>
#include <stdbool.h>

enum variable_kind {
	VARIABLE_LOAD,  /* read when the library is loaded: these stand first */
	VARIABLE_CALL,  /* at each compile */
	VARIABLE_PLAIN, /* known to leave the output alone */
	VARIABLE_PLACE  /* part of the place */
};

struct variable {
	enum variable_kind kind;
	const char *name;
	size_t size;
};

#define ENVIRONMENT_MAX 32

struct initial;

/* One compiler's: made by ENVIRONMENT_OF() from its list X(kind, name). */
struct environment {
	const struct variable *variables;
	size_t count;
	/* A bit for each length, first letter and second letter of the names whose values are asked for: a look at
	 * these tells nearly all of the host's variables from the compiler's. */
	uint64_t lengths, first, second;
	_Atomic(const struct initial *) initial; /* what the process started with */
};

#define ENVIRONMENT_VARIABLE(kind, name) {VARIABLE_##kind, #name, sizeof(#name) - 1},
#define ENVIRONMENT_ASKS(kind)           (uint64_t)(VARIABLE_##kind == VARIABLE_LOAD || VARIABLE_##kind == VARIABLE_CALL)
#define ENVIRONMENT_LENGTH(kind, name)   | ENVIRONMENT_ASKS(kind) << (sizeof(#name) - 1)
#define ENVIRONMENT_FIRST(kind, name)    | ENVIRONMENT_ASKS(kind) << (#name[0] & 63)
#define ENVIRONMENT_SECOND(kind, name)   | ENVIRONMENT_ASKS(kind) << (#name[1] & 63)
#define ENVIRONMENT_OF(list, variables)              \
	{variables,                                  \
	 sizeof(variables) / sizeof((variables)[0]), \
	 0 list(ENVIRONMENT_LENGTH),                 \
	 0 list(ENVIRONMENT_FIRST),                  \
	 0 list(ENVIRONMENT_SECOND),                 \
	 NULL}

/* Fills `values` with the LOAD and CALL variables; returns how many. */
size_t environment_values(const struct environment *environment, struct environment_value values[ENVIRONMENT_MAX]);
/* Have the LOAD variables kept the values that they had when the process started? */
bool environment_unchanged(struct environment *environment, const struct environment_value *values, size_t count);
bool environment_known(const struct environment *environment, const char *name);
/* $PWD where it is the same directory as ".", as NVRTC checks it; else NULL. */
const char *environment_pwd(void);
/* Does the locale of this thread have letters beyond ASCII that are one byte (Latin-1, SJIS; not "C", not UTF-8)? */
bool environment_has_letters(void);

/*
 * How decimals are spelled for the compile: NULL where with a dot, else a text in `text` that tells one way from
 * another. ptxas reads the constants of inline assembly by the locale: with a decimal comma "1.5" is 1, in the CUBIN
 * alone (12.9 to 13.5). The thread's locale counts, and the process's, which the compiler's own threads have.
 */
#define ENVIRONMENT_DECIMALS_MAX 300
const char *environment_decimals(char text[ENVIRONMENT_DECIMALS_MAX]);

#endif
