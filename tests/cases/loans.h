/* SPDX-License-Identifier: MIT */
/*
 * loans: the memory that the player passes to a call, and what the host does with it after the call has returned
 *
 * By default a LOAN_ENDS argument is overwritten and freed, and a LOAN_LASTS argument stays valid and unchanged. With
 * PLAYER_MEMORY=ACTION:ARGUMENT only that argument is touched, and every argument has pages of its own:
 *
 *     overwrite    other text of the same length
 *     poison       the whole page, as freed memory that was used again; no NUL before its end
 *     unmap        the page can no longer be read
 *     tell         nothing; each argument's name is printed
 *
 * Every byte that is written over an argument is of LOANS_POISON, so that it can be searched for.
 *
 * Calling sequence: lend() for each argument, the call, loans_return(). Errors: the player ends. Threads: one call at a
 * time. Ownership: the memory belongs to this module.
 */
#ifndef TESTS_CASES_LOANS_H
#define TESTS_CASES_LOANS_H

#include <stddef.h>

#define LOANS_POISON "POISON"

enum loan { LOAN_ENDS, LOAN_LASTS };

/* A copy; NULL of NULL. `size` counts the NUL of a text. */
void *lend(const char *argument, const void *bytes, size_t size, enum loan loan);
char *lend_text(const char *argument, const char *text, enum loan loan);
/* An array of texts, and each text: two arguments. NULL of NULL. */
const char **lend_texts(const char *array, const char *texts, const char *const *from, size_t count, enum loan loan);
void loans_return(void);

#endif
